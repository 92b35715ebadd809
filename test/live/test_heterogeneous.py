# SPDX-License-Identifier: MIT
"""Heterogeneous jobs: their components start together, or not at all.

That none of them is elastic is in test_companion.py, where Slurm's own backfill starts them.
"""

import datetime
import re

import pytest
from elastic_live import Cluster, minicluster, wait_until

pytestmark = [pytest.mark.starts_itself("it is Slurm's backfill that starts them"),
              pytest.mark.modes("ms")]  # of 22.05, a front end does not survive the end of such a batch job

STOCK = ["SchedulerType=sched/backfill", "SchedulerParameters=bf_interval=1,sched_interval=1"]
OURS = ["SchedulerType=sched/elastic", "SchedulerParameters=sched_interval=-1,defer"]
WHOLE = ["--exclusive", "--time=2"]
BOTH = "srun --het-group=0,1 hostname; echo size=$SLURM_HET_SIZE"


def submit(cluster, first, second, *options, wrap=BOTH):
    """A job of two components; its leader."""
    return cluster.sbatch(*options, *first.split(), *WHOLE, ":", *second.split(), *WHOLE, wrap=wrap)


def components(job):
    return [f"{job}+{number}" for number in (0, 1)]


def states(cluster, job):
    return [cluster.state(component) for component in components(job)]


def reasons(cluster, job):
    return [cluster.job(component).get("Reason") for component in components(job)]


def start_times(cluster, job):
    return [cluster.job(component)["StartTime"] for component in components(job)]


def wait_states(cluster, job, state, within=20):
    wait_until(lambda: states(cluster, job) == [state] * 2, lambda: f"both are {state}: {states(cluster, job)}", within)


def check_output(cluster, job, nodes):
    *hosts, size = cluster.output(job).split()
    assert len(hosts) == nodes and size == "size=2", cluster.output(job)


def fill(cluster, *options, limit=3):
    job = cluster.sbatch("--exclusive", f"--time={limit}", *options, wrap="sleep 600")
    cluster.wait_state(job, "RUNNING")
    return job


def test_components_start_together(cluster):
    job = submit(cluster, "-N1", "-N2")
    wait_states(cluster, job, "COMPLETED")
    check_output(cluster, job, 3)
    first, second = start_times(cluster, job)
    assert first == second
    assert len(re.findall(rf"elastic: job {job}: started on .* \(1 nodes", cluster.log)) == 1


@pytest.mark.parametrize("command", [["salloc", "-N1", *WHOLE, ":", "-N2", *WHOLE, "srun", "--het-group=0,1",
                                      "hostname"],
                                     ["srun", "-N1", *WHOLE, ":", "-N2", *WHOLE, "hostname"]], ids=["salloc", "srun"])
def test_who_waits_for_an_allocation_gets_it(cluster, command):
    assert len(cluster.run(*command).out.split()) == 3


def test_a_component_waits_for_another(cluster):
    """Its own partition has room, that of the other has none."""
    filler = fill(cluster, "-N4", "-p", "left")
    job = submit(cluster, "-N2", "-N2 -p left")
    cluster.wait_two_passes()
    assert states(cluster, job) == ["PENDING"] * 2
    first, second = start_times(cluster, job)
    assert first == second
    until_end = datetime.datetime.fromisoformat(first) - datetime.datetime.fromisoformat(cluster.job(filler)["EndTime"])
    assert abs(until_end.total_seconds()) <= 2
    cluster.run("scancel", filler)
    wait_states(cluster, job, "COMPLETED")
    check_output(cluster, job, 4)


def test_they_compete_for_the_same_nodes(cluster):
    filler = fill(cluster, "-N3")
    job = submit(cluster, "-N3", "-N4")  # five are idle
    cluster.wait_two_passes()
    assert states(cluster, job) == ["PENDING"] * 2
    cluster.run("scancel", filler)
    wait_states(cluster, job, "COMPLETED")
    check_output(cluster, job, 7)


def test_their_reservation_holds(cluster):
    """Nobody overtakes who would delay one of them, and others do."""
    filler = fill(cluster, "-N4", "-p", "left", limit=2)
    job = submit(cluster, "-N2", "-N4 -p left")
    cluster.wait_two_passes()
    long = cluster.sbatch("-N4", "--exclusive", "--time=30", wrap="sleep 600")
    beside = cluster.sbatch("-N2", "--exclusive", "--time=30", wrap="sleep 600")
    before = cluster.sbatch("-N2", "--exclusive", "--time=1", wrap="sleep 600")
    for other in (beside, before):
        cluster.wait_state(other, "RUNNING")
    assert cluster.state(long) == "PENDING" and states(cluster, job) == ["PENDING"] * 2
    cluster.run("scancel", filler, before)
    wait_states(cluster, job, "COMPLETED")


def test_a_job_that_waits_is_cancelled_as_a_whole(cluster):
    filler = fill(cluster, "-N8")
    job = submit(cluster, "-N1", "-N2")
    cluster.wait_two_passes()
    assert set(reasons(cluster, job)) <= {"Resources", "Priority"}
    cluster.run("scancel", job)
    wait_states(cluster, job, "CANCELLED")
    cluster.run("scancel", filler)


def test_a_component_without_a_licence_keeps_the_other(cluster):
    beer = fill(cluster, "-N1", "-L", "beer:2")
    job = submit(cluster, "-N1 -L beer:1", "-N2")  # since 24.11 licences are the leader's
    wait_until(lambda: reasons(cluster, job) == ["Licenses", "Waits_for_other_components_that_cannot_start"],
               lambda: f"they say why: {reasons(cluster, job)}")
    later = fill(cluster, "-N7")  # nobody waits for them
    cluster.run("scancel", beer, later)
    wait_states(cluster, job, "COMPLETED")
    check_output(cluster, job, 3)


def test_a_component_that_can_never_run_is_held(cluster):
    filler = fill(cluster, "-N8")
    job = submit(cluster, "-N1", "-N2", "--hold")
    cluster.run("scontrol", "update", f"JobId={job}+1", "MinTmpDiskNode=1")
    cluster.run("scontrol", "release", job)
    wait_until(lambda: reasons(cluster, job) == ["Waits_for_other_components_that_cannot_start", "BadConstraints"],
               lambda: f"they say why: {reasons(cluster, job)}")
    cluster.run("scontrol", "update", f"JobId={job}+1", "MinTmpDiskNode=0")
    cluster.run("scancel", filler)
    wait_states(cluster, job, "COMPLETED")


def test_a_controller_begins_again_while_one_waits(cluster):
    filler = fill(cluster, "-N7")
    job = submit(cluster, "-N1", "-N2")
    cluster.wait_two_passes()
    cluster.restart_controller()
    cluster.wait_two_passes()
    assert states(cluster, job) == ["PENDING"] * 2
    cluster.run("scancel", filler)
    wait_states(cluster, job, "COMPLETED")
    check_output(cluster, job, 3)
    assert len(cluster.run("srun", "-N1", *WHOLE, ":", "-N1", *WHOLE, "hostname").out.split()) == 2


def test_components_share_nodes(cluster):
    """Every node has a job, and processors left."""
    fillers = [cluster.sbatch("-n1", "-p", "shared", "-w", node, wrap="sleep 600") for node in cluster.all_nodes]
    for filler in fillers:
        cluster.wait_state(filler, "RUNNING")
    job = cluster.sbatch("-n1", "-p", "shared", ":", "-n2", "-p", "shared", wrap=BOTH)
    wait_states(cluster, job, "COMPLETED")
    check_output(cluster, job, 3)


def test_a_malleable_job_shrinks_for_components(cluster, elastic):
    elastic(Policy="lina-default", ResizeGap=0)
    app = cluster.actor("malleable,min=2,max=8", "-N8")
    job = submit(cluster, "-N1", "-N2")
    assert app.take_shrink()["size"] == 5
    wait_states(cluster, job, "COMPLETED")
    check_output(cluster, job, 3)


def test_a_component_takes_the_partition_that_has_room(cluster):
    filler = fill(cluster, "-N4", "-p", "left")
    job = submit(cluster, "-N1", "-N2 -p left,debug")
    wait_states(cluster, job, "COMPLETED")
    assert cluster.job(f"{job}+1")["Partition"] != "left"
    cluster.run("scancel", filler)


# ---- beside another scheduler


def change_scheduler(cluster, lines):
    text = (cluster.dir / "slurm.conf").read_text()
    cluster.write_conf("slurm.conf", minicluster.with_lines(text.splitlines(), lines))
    cluster.restart_controller()


@pytest.fixture
def backfill(request):
    """A cluster with Slurm's own scheduler, where our plugins are installed and slurm.conf may name them."""
    modes = request.config.getoption("--mode")
    if modes and "ms" not in modes:
        pytest.skip("for the mode ms")
    with Cluster("ms", nodes=4, build=request.config.getoption("--build"), conf=STOCK) as cluster:
        # Where another scheduler is configured, nobody has the option --elastic.
        plugstack = (cluster.dir / "plugstack.conf").read_text()
        cluster.write_conf("plugstack.conf", "")
        cluster.install = lambda: cluster.write_conf("plugstack.conf", plugstack)
        yield cluster


def test_jobs_that_waited_under_another_scheduler(backfill):
    cluster = backfill
    filling = fill(cluster, "-N4")
    first, second = submit(cluster, "-N1", "-N2"), submit(cluster, "-N2", "-N2")
    cluster.install()
    change_scheduler(cluster, OURS)
    cluster.run("scancel", filling)
    wait_states(cluster, first, "COMPLETED")
    wait_states(cluster, second, "COMPLETED")

    # And back.
    other = fill(cluster, "-N4")
    third = submit(cluster, "-N1", "-N2")
    change_scheduler(cluster, STOCK)
    cluster.run("scancel", other)
    wait_states(cluster, third, "COMPLETED", within=60)
    cluster.wait_quiet_queue()
    cluster.check_as_before()
