# SPDX-License-Identifier: MIT
"""Heterogeneous jobs that another scheduler has left pending: they are named, and wait for it.

New ones are refused, see test_submission.py.
"""

import re

import pytest
from elastic_live import Cluster, minicluster, wait_until

STOCK = ["SchedulerType=sched/backfill", "SchedulerParameters=bf_interval=1,sched_interval=1"]
OURS = ["SchedulerType=sched/elastic", "SchedulerParameters=sched_interval=-1,defer"]


def change_scheduler(cluster, lines):
    text = (cluster.dir / "slurm.conf").read_text()
    cluster.write_conf("slurm.conf", minicluster.with_lines(text.splitlines(), lines))
    cluster.restart_controller()


def components(cluster, job):
    """(state, reason) of each, as squeue shows them."""
    lines = cluster.run("squeue", "--noheader", f"--jobs={job}", "--format=%T %r").out.splitlines()
    return [tuple(line.split(" ", 1)) for line in lines]


@pytest.fixture
def backfill(request):
    """A cluster with Slurm's own scheduler, where our plugins are installed and slurm.conf may name them. With a front
    end Slurm 22.05 does not survive the end of a batch job there."""
    modes = request.config.getoption("--mode")
    if modes and "ms" not in modes:
        pytest.skip("for the mode ms")
    with Cluster("ms", nodes=4, build=request.config.getoption("--build"), conf=STOCK) as cluster:
        # Where another scheduler is configured, nobody has the option --elastic.
        plugstack = (cluster.dir / "plugstack.conf").read_text()
        cluster.write_conf("plugstack.conf", "")
        cluster.install = lambda: cluster.write_conf("plugstack.conf", plugstack)
        yield cluster


def submit(cluster, *options):
    return int(re.search("[0-9]+", cluster.run(
        "sbatch", "--parsable", *options, "-N1", "--exclusive", ":", "-N2", "--exclusive", "--wrap",
        f"echo $SLURM_HET_SIZE >>{cluster.base}/out/ran").out).group())


def test_a_heterogeneous_job_that_waited_under_another_scheduler(backfill):
    cluster = backfill
    filling = cluster.sbatch("-N4", "--exclusive", wrap="sleep 600")
    cluster.wait_state(filling, "RUNNING")
    waiting = submit(cluster)
    later = submit(cluster, "--hold")
    cluster.install()
    change_scheduler(cluster, OURS)
    cluster.run("scancel", filling)
    wait_until(lambda: all("Heterogeneous jobs do not start under sched/elastic" in reason
                           for _, reason in components(cluster, waiting)),
               lambda: f"squeue says why: {components(cluster, waiting)}")
    other = cluster.sbatch("-N4", "--exclusive", wrap="sleep 600")
    cluster.wait_state(other, "RUNNING")  # they keep nobody from it
    cluster.wait_two_passes()
    assert [state for state, _ in components(cluster, waiting)] == ["PENDING", "PENDING"]
    named = re.findall(rf"elastic: job {waiting}: is heterogeneous .*", cluster.log)
    assert len(named) == 1 and f"`scancel {waiting}`" in named[0], named
    assert f"job {later}: is heterogeneous" not in cluster.log
    cluster.run("scontrol", "release", later)
    wait_until(lambda: cluster.log.count(f"job {later}: is heterogeneous") == 1, "the released one is named, too")
    cluster.run("scancel", later)
    cluster.wait_two_passes()
    assert len(re.findall(rf"elastic: job {waiting}: is heterogeneous", cluster.log)) == 1

    # And back: nothing is lost.
    cluster.run("scancel", other)
    change_scheduler(cluster, STOCK)
    ran = cluster.base / "out" / "ran"
    wait_until(lambda: ran.exists() and ran.read_text() == "2\n",
               lambda: f"both components run: {components(cluster, waiting)}", 60)
    cluster.wait_quiet_queue()
    cluster.check_as_before()
