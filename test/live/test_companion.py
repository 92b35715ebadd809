# SPDX-License-Identifier: MIT
"""Starts=slurm: Slurm's own loops start jobs, and preempt them; sched/elastic resizes beside them."""

import re
import time

import pytest
from elastic_live import ELASTIC, Cluster, wait_until

pytestmark = [pytest.mark.modes("ms")]
PATIENCE_WITH_SLURM = 12  # two rounds of the slower of its loops, and a pass
CONF = ["SchedulerParameters=bf_interval=2,sched_interval=5,batch_sched_delay=0",
        "PreemptType=preempt/partition_prio", "PreemptMode=REQUEUE", "Licenses=beer:2",
        "PartitionName=urgent Nodes=n[1-8] PriorityTier=10 DefaultTime=1 State=UP"]
COMPANION = {**ELASTIC, "Policy": "elastic", "Starts": "slurm"}


@pytest.fixture(scope="session")
def cluster(request):
    mode, select = request.param
    with Cluster(mode, select, build=request.config.getoption("--build"), conf=CONF,
                 elastic=[f"{key}={value}" for key, value in COMPANION.items()]) as started:
        yield started


def backfilled(cluster):
    return int(re.search(r"Total backfilled jobs \(since last slurm start\): (\d+)", cluster.run("sdiag").out)[1])


def test_slurm_starts_jobs(cluster):
    """Some of them by the backfill that is hosted, which sees to the order as ever."""
    before = backfilled(cluster)
    cluster.wait_state(cluster.sbatch("-N6", "--exclusive", "--time=2", wrap="sleep 600"), "RUNNING")
    large = cluster.sbatch("-N8", "--exclusive", "--time=1", wrap="true")
    cluster.wait_state(cluster.sbatch("-N2", "--exclusive", "--time=1", wrap="sleep 600"), "RUNNING")
    assert backfilled(cluster) > before
    wait_until(lambda: cluster.job(large)["StartTime"] != "Unknown", "the large job has an expected start")
    assert not cluster.journal(large, event="start")


def test_a_job_that_waits_gets_nodes_by_a_shrink(cluster):
    app = cluster.actor("malleable,min=2,max=8", "-N8")
    waiting = cluster.sbatch("-N4", "--exclusive", "--time=1", wrap="sleep 600")
    assert app.take_shrink()["size"] == 4
    cluster.wait_state(waiting, "RUNNING")
    cluster.run("scancel", waiting)
    assert app.take_expand()["size"] > 4


def test_slurms_preemption_goes_on(cluster):
    low = cluster.sbatch("-N8", "--exclusive", "--time=1", wrap="sleep 600")
    cluster.wait_state(low, "RUNNING")
    high = cluster.sbatch("-p", "urgent", "-N8", "--exclusive", "--time=1", wrap="sleep 600")
    cluster.wait_state(high, "RUNNING")
    assert cluster.job(low)["JobState"] in ("PENDING", "COMPLETING")


def test_a_job_that_slurm_does_not_start_keeps_nodes_for_a_time_only(cluster):
    """Why it does not is nothing that a plan knows."""
    odd, even = (cluster.sbatch("-N2", "-w", ",".join(map(cluster.node_name, nodes)), "--exclusive", wrap="sleep 600")
                 for nodes in ((5, 7), (6, 8)))
    for job in (odd, even):
        cluster.wait_state(job, "RUNNING")
    app = cluster.actor("malleable,min=4,max=8,sizes=4:6:8", "-N4")  # not by the node that is left first
    cluster.sbatch("-N2", "--contiguous", "--exclusive", "--time=1", wrap="true")
    begin = time.monotonic()
    cluster.run("scancel", odd)
    assert app.take_expand(within=PATIENCE_WITH_SLURM + 10)["size"] > 4
    assert time.monotonic() - begin > PATIENCE_WITH_SLURM / 2


def test_a_main_loop_that_is_off_is_named(cluster):
    before = re.search("^SchedulerParameters=(.*)$", (cluster.dir / "slurm.conf").read_text(), re.M)[1]
    since = len(cluster.log)
    cluster.set_slurm(SchedulerParameters="bf_interval=2,sched_interval=-1")
    try:
        assert "with Starts=slurm only backfill starts jobs" in cluster.log[since:]
    finally:
        cluster.set_slurm(SchedulerParameters=before)


def test_who_starts_jobs_is_not_changed_under_the_wrong_slurm_conf(cluster):
    cluster.allowed_errors += ["lacks sched_interval=-1", "lacks defer", "PreemptMode=REQUEUE is not OFF",
                               "Starts=elastic is not taken, with 3 wrong settings", "3 wrong settings: the scheduler"]
    cluster.set_elastic(**ELASTIC)
    try:
        cluster.wait_state(cluster.sbatch("-N1", wrap="true"), "COMPLETED")
    finally:
        cluster.set_elastic(**COMPANION)
