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


@pytest.fixture(scope="module")
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
    cluster.wait_state(cluster.sbatch("-N6", "--exclusive", "--time=5", wrap="sleep 600"), "RUNNING")
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


def cycles(cluster):
    """Of Slurm's main loop, and of its backfill."""
    shown = cluster.run("sdiag").out
    return [int(re.search(rf"{title}.*?Total cycles: +(\d+)", shown, re.S)[1])
            for title in ("Main schedule statistics", "Backfilling stats")]


def wait_for_slurms_loops(cluster):
    """Each of them has had two turns, so one as of now."""
    begin = cycles(cluster)
    wait_until(lambda: all(now >= before + 2 for now, before in zip(cycles(cluster), begin)),
               "Slurm's loops have their turns")


class HandOver:
    """A job that waits for two nodes of a victim, and is to have two idle ones besides; shorter ones wait behind it."""

    def __init__(self, cluster):
        self.cluster = cluster
        cluster.wait_state(cluster.sbatch("-N2", "--exclusive", "--time=5", wrap="sleep 600"), "RUNNING")
        self.app = cluster.actor("malleable,min=2,max=4,grace=120", "-N4", "--time=2")
        self.waiting = cluster.sbatch("-N4", "--exclusive", "--time=1", wrap="sleep 600")
        self.offer = self.app.event("offer_shrink")
        assert self.offer["nodes"] == 2
        self.app.do("accept", self.offer["op"])
        self.app.event("accepted")
        self.short = [cluster.sbatch("-N1", *how, "--time=1", wrap="true")
                      for how in [("--exclusive",), ("-n1",)] * 2]

    def wait(self):
        """Slurm's loops have their turns, and start none of the short ones."""
        wait_for_slurms_loops(self.cluster)
        assert [self.cluster.state(job) for job in self.short] == ["PENDING"] * 4

    def end(self):
        self.app.do("done", self.offer["op"])
        self.cluster.wait_state(self.waiting, "RUNNING")
        said = [line for line in self.cluster.log.splitlines() if f"job {self.waiting}: started" in line]
        assert "handed over" in said[-1]
        self.cluster.run("scancel", self.waiting)
        for job in self.short:
            self.cluster.wait_state(job, "COMPLETED")


def test_slurm_gives_nobody_the_idle_nodes_of_who_waits_for_victims(cluster):
    """Short jobs that would fit there wait, behind it, until it has got what it was promised."""
    hand_over = HandOver(cluster)
    hand_over.wait()
    assert {cluster.job(job)["Reason"] for job in hand_over.short} <= {"Resources", "Priority"}
    assert set(cluster.node_states().values()) <= {"allocated", "idle", "planned"}
    hand_over.end()


def test_nor_does_a_slurmctld_that_begins_anew(cluster):
    """After it has read slurm.conf, and after it was killed: in both cases it looks at nodes and jobs afresh."""
    hand_over = HandOver(cluster)
    cluster.reconfigure("configuration read")
    hand_over.wait()
    cluster.run("scontrol", "update", f"JobId={hand_over.app.job}", f"Comment={cluster.base}/{hand_over.app.job}/")
    wait_until(lambda: f"{cluster.base}/{hand_over.app.job}/".encode() in cluster.slurm_state("job_state"),
               "Slurm has saved the jobs")
    cluster.kill_controller()
    cluster.start_controller()
    wait_until(lambda: hand_over.app.state()["connected"], "the application has reconnected")
    hand_over.wait()
    hand_over.end()


def test_idle_nodes_are_slurms_again_when_who_waits_is_gone(cluster):
    cluster.wait_state(cluster.sbatch("-N2", "--exclusive", "--time=5", wrap="sleep 600"), "RUNNING")
    app = cluster.actor("malleable,min=2,max=4", "-N4", "--time=1")
    waiting = cluster.sbatch("-N4", "--exclusive", "--time=1", wrap="sleep 600")
    offer = app.event("offer_shrink")
    app.do("accept", offer["op"])
    cluster.run("scancel", waiting)
    cluster.wait_state(cluster.sbatch("-N2", "--exclusive", "--time=1", wrap="true"), "COMPLETED")


def planned_starts(cluster, jobs):
    return {job: cluster.job(job)["StartTime"] for job in jobs}


def test_no_start_that_slurm_has_planned_is_moved(cluster):
    """EASY would let the job grow by one node, which the second of those that wait is to have."""
    cluster.wait_state(cluster.sbatch("-N4", "--exclusive", "--time=2", wrap="sleep 600"), "RUNNING")
    app = cluster.actor("malleable,min=2,max=8", "-N2", "--time=10")
    waiting = [cluster.sbatch(f"-N{nodes}", "--exclusive", "--time=2", wrap="sleep 600") for nodes in (5, 6)]
    wait_until(lambda: "Unknown" not in planned_starts(cluster, waiting).values(), "both have an expected start")
    before = planned_starts(cluster, waiting)
    cluster.wait_two_passes()
    since = time.time()
    wait_for_slurms_loops(cluster)
    cluster.wait_two_passes()
    app.state()
    in_vain = {kind: [event["op"] for event in app.events if event["event"] == kind]
               for kind in ("offer_expand", "ended")}
    assert in_vain["offer_expand"] == in_vain["ended"]  # those of before Slurm had a plan
    app.events.clear()
    assert not [offer for offer in cluster.journal(app.job, "offer") if offer["time"] > since]
    assert planned_starts(cluster, waiting) == before
    cluster.run("scancel", waiting[1])
    assert app.take_expand()["size"] == 3
    wait_for_slurms_loops(cluster)
    assert planned_starts(cluster, waiting[:1]) == {waiting[0]: before[waiting[0]]}


def test_an_application_that_says_hello_before_its_start_is_seen(cluster):
    cluster.set_elastic(**COMPANION, Interval=20)
    try:
        app = cluster.actor("malleable,min=2,max=8", "-N2")
        cluster.wait_connected(app.job)
    finally:
        cluster.set_elastic(**COMPANION)


def test_a_command_that_asks_for_its_job_at_once_is_answered(cluster):
    """Slurm starts salloc's job within its submission, so nothing of it has been read then."""
    cluster.set_elastic(**COMPANION, Interval=20)
    try:
        for _ in range(3):
            said = cluster.run("salloc", "--elastic=malleable,min=1,max=4", "-N2", "--quiet", "selastic", "env").out
            assert "export SLURM_JOB_NODELIST=" in said
    finally:
        cluster.set_elastic(**COMPANION)


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


def test_heterogeneous_jobs_are_slurms(cluster):
    """Its backfill starts all components together; none of them may be elastic."""
    filling = cluster.sbatch("-N7", "--exclusive", "--time=1", wrap="sleep 600")
    cluster.wait_state(filling, "RUNNING")
    leader = cluster.sbatch("-N1", "--exclusive", "--time=1", ":", "-N2", "--exclusive", "--time=1",
                            wrap="srun --het-group=0,1 hostname")
    wait_for_slurms_loops(cluster)
    assert [cluster.state(f"{leader}+{number}") for number in (0, 1)] == ["PENDING"] * 2
    assert "sched/elastic" not in cluster.run("squeue", f"--jobs={leader}").out
    cluster.run("scancel", filling)
    for number in (0, 1):
        cluster.wait_state(f"{leader}+{number}", "COMPLETED")
    assert len(cluster.output(leader).split()) == 3
    for where in (["--elastic=malleable", "-N1", ":", "-N1"], ["-N1", ":", "-N1", "--elastic=malleable"]):
        refused = cluster.run("sbatch", *where, "--wrap=true", check=False)
        assert "a heterogeneous job cannot be elastic" in refused.err
    refused = cluster.run("sbatch", "-N1", ":", "-N1", "--comment=elastic:malleable", "--wrap=true", check=False)
    assert "component 0 of a heterogeneous job cannot be elastic" in refused.err


def test_slurm_shows_the_hosted_scheduler(cluster):
    """After slurm.conf is read anew, too, which names sched/elastic."""
    for _ in range(2):
        assert re.search(r"SchedulerType += sched/backfill\n", cluster.run("scontrol", "show", "config").out)
        cluster.set_elastic(**COMPANION)


def test_a_main_loop_that_is_off_is_named(cluster):
    before = re.search("^SchedulerParameters=(.*)$", (cluster.dir / "slurm.conf").read_text(), re.M)[1]
    since = len(cluster.log)
    cluster.set_slurm(SchedulerParameters="bf_interval=2,sched_interval=-1")
    try:
        assert "with Starts=slurm only backfill starts jobs" in cluster.log[since:]
    finally:
        cluster.set_slurm(SchedulerParameters=before)


def test_who_starts_jobs_is_not_changed_under_the_wrong_slurm_conf(cluster):
    cluster.allowed_errors += ["lacks sched_interval=-1", "lacks defer",
                               "PreemptMode=REQUEUE with PreemptType=preempt/partition_prio",
                               "Starts=elastic is not taken, with 3 wrong settings", "3 wrong settings: the scheduler"]
    cluster.set_elastic(**ELASTIC)
    try:
        cluster.wait_state(cluster.sbatch("-N1", wrap="true"), "COMPLETED")
    finally:
        cluster.set_elastic(**COMPANION)
