# SPDX-License-Identifier: MIT
"""Two clusters that are a federation: what is submitted to both runs on one of them.

They share a slurmdbd and its MUNGE key; each has its own controller, which starts jobs of its own accord.
"""

import os
import signal

import pytest
from conftest import skip_without_what_it_needs
from elastic_live import ELASTIC, Cluster, wait_until

pytestmark = pytest.mark.modes("ms")

FIRST, SECOND = "minicluster", "second"
NODES = 4
POLICY = {**ELASTIC, "Policy": "lina-default", "ExpandTrigger": "never"}
# What Slurm's controllers say of each other while the federation is made.
EXPECTED = ["fed_mgr: Unable to open connection to cluster", "no fed_mgr_fed_rec on cluster .* yet"]


class Federation:
    """Both clusters; a job's number is the same in both."""

    def __init__(self, first, second):
        self.first, self.second = first, second
        self.both = (first, second)
        self.out = first.new_folder("federation")
        self.out.chmod(0o777)

    def counting(self, seconds=0):
        """What a job does that says each time it runs, and where."""
        return f"echo $SLURM_CLUSTER_NAME >>{self.out}/$SLURM_JOB_ID; sleep {seconds}"

    def runs(self, job):
        """Where it has run, for each time."""
        path = self.out / str(job)
        return path.read_text().split() if path.exists() else []

    def wait_over(self, jobs):
        """Until neither controller has any of them in its queue."""
        for cluster in self.both:
            wait_until(lambda cluster=cluster: not {str(job) for job in jobs} & {
                line.split()[0] for line in cluster.queue()}, lambda: f"the jobs are over: {self.queues()}", 120)

    def queues(self):
        return [cluster.run("squeue").out for cluster in self.both]


def conf_of_second(first):
    settings = first.minicluster.settings
    socket = first.dir / "munge" / "socket"
    return [f"ClusterName={SECOND}", f"AuthInfo=socket={socket}", "AccountingStorageType=accounting_storage/slurmdbd",
            "AccountingStorageHost=localhost", f"AccountingStoragePort={settings.accounting_port}",
            f"AccountingStoragePass={socket}", "AccountingStorageEnforce=associations,limits,qos", "MessageTimeout=5"]


def are_siblings(cluster):
    text = cluster.run("scontrol", "show", "federation").out
    return "FedState:ACTIVE" in text and "Synced:Yes" in text and "PersistConnSend/Recv:Yes/Yes" in text


@pytest.fixture(scope="module")
def clusters(request):
    modes = request.config.getoption("--mode")
    if modes and "ms" not in modes:
        pytest.skip("for the mode ms")
    skip_without_what_it_needs()
    build = request.config.getoption("--build")
    elastic = [f"{key}={value}" for key, value in POLICY.items()]
    with Cluster("ms", nodes=NODES, build=build, elastic=elastic, options=["--accounting"]) as first:
        first.run("sacctmgr", "--immediate", "add", "cluster", SECOND)
        with Cluster("ms", nodes=NODES, build=build, elastic=elastic, conf=conf_of_second(first)) as second:
            second.env["MUNGE_SOCKET"] = str(first.dir / "munge" / "socket")
            first.run("sacctmgr", "--immediate", "add", "federation", "fed", f"clusters={FIRST},{SECOND}")
            for cluster in (first, second):
                cluster.env |= {"SCONTROL_LOCAL": "1", "SQUEUE_LOCAL": "1"}
                wait_until(lambda cluster=cluster: are_siblings(cluster), "the clusters are a federation", 60)
            yield first, second


@pytest.fixture
def federation(clusters):
    for cluster in clusters:
        cluster.allowed_errors = list(EXPECTED)
    yield Federation(*clusters)
    for cluster in clusters:
        cluster.end_jobs()
    for cluster in clusters:
        cluster.check_as_before()


@pytest.mark.parametrize("option", [[], ["--elastic=malleable,min=1,max=4"]], ids=["rigid", "elastic"])
def test_a_job_of_a_federation_runs_once(federation, option):
    jobs = [cluster.sbatch("-N2", *option, wrap=federation.counting(1))
            for _ in range(6) for cluster in federation.both]
    federation.wait_over(jobs)
    ran = {job: federation.runs(job) for job in jobs}
    assert all(len(where) == 1 for where in ran.values()), ran
    assert {where for [where] in ran.values()} == {FIRST, SECOND}, ran


@pytest.mark.parametrize("name", [FIRST, SECOND])
def test_a_job_for_one_cluster_runs_there(federation, name):
    jobs = [cluster.sbatch("-N1", f"--clusters={name}", wrap=federation.counting()) for cluster in federation.both]
    federation.wait_over(jobs)
    assert [federation.runs(job) for job in jobs] == [[name], [name]]


def test_a_job_that_was_held_runs_once(federation):
    """Its siblings are submitted when it is released, by the controller."""
    jobs = [federation.first.sbatch("-N2", "--hold", *option, wrap=federation.counting(1))
            for option in ([], ["--elastic=malleable,min=1,max=4"], ["--comment=elastic:malleable,min=1,max=3"])]
    for job in jobs:
        federation.first.run("scontrol", "release", job)
    federation.wait_over(jobs)
    ran = {job: federation.runs(job) for job in jobs}
    assert all(len(where) == 1 for where in ran.values()), ran


def fill(federation, name):
    """All nodes of a cluster, by a job that stays."""
    cluster = federation.first if name == FIRST else federation.second
    job = cluster.sbatch("--exclusive", f"-N{NODES}", f"--clusters={name}", wrap="sleep 600")
    cluster.wait_state(job, "RUNNING")
    return job


@pytest.mark.parametrize("submitted_to", [FIRST, SECOND])
def test_an_elastic_job_shrinks_for_a_job_of_the_federation(federation, submitted_to):
    """The waiting job starts there, once, and is not waited for elsewhere any more."""
    first, second = federation.both
    fill(federation, SECOND)
    app = first.actor("malleable,min=1,max=4", f"-N{NODES}", f"--clusters={FIRST}")
    origin = first if submitted_to == FIRST else second
    waiting = origin.sbatch("--exclusive", "-N2", wrap=federation.counting(600))
    assert app.take_shrink()["size"] == 2
    first.wait_state(waiting, "RUNNING")
    wait_until(lambda: second.state(waiting) in ("", "REVOKED"), lambda: f"it is revoked: {federation.queues()}")
    wait_until(lambda: federation.runs(waiting), "it runs")
    for cluster in federation.both:
        cluster.wait_two_passes()
    assert federation.runs(waiting) == [FIRST]
    app.exit()
    first.wait_state(app.job, "COMPLETED")


def test_nodes_are_kept_if_another_cluster_takes_the_job(federation):
    """Nobody needs them any more."""
    first, second = federation.both
    filling = fill(federation, SECOND)
    app = first.actor("malleable,min=1,max=4", f"-N{NODES}", f"--clusters={FIRST}")
    waiting = first.sbatch("--exclusive", "-N2", wrap=federation.counting(600))
    offer = app.event("offer_shrink")
    second.run("scancel", filling)
    second.wait_state(waiting, "RUNNING")
    wait_until(lambda: first.state(waiting) in ("", "REVOKED"), lambda: f"it is revoked: {federation.queues()}")
    ended = app.event("ended")
    assert (ended["op"], ended["outcome"]) == (offer["op"], "cancelled")
    assert len(first.nodes_of(app.job)) == NODES
    assert federation.runs(waiting) == [SECOND]
    app.exit()
    first.wait_state(app.job, "COMPLETED")


def test_an_elastic_job_is_served_where_it_runs(federation):
    """By the controller of that cluster, wherever it was submitted."""
    first, second = federation.both
    fill(federation, FIRST)
    app = first.actor("malleable,min=1,max=4", "-N2")
    assert second.state(app.job) == "RUNNING"
    second.run("selastic", "expand", app.job, 4)
    assert app.take_expand()["size"] == 4
    second.run("selastic", "shrink", app.job, 1)
    assert app.take_shrink()["size"] == 1
    app.exit()
    second.wait_state(app.job, "COMPLETED")


@pytest.mark.starts_itself("its loops keep nodes for a job that is first and cannot be locked")
def test_a_stuck_controller_holds_up_others_for_a_while_only(federation):
    """Its federated jobs wait, since nobody else may say that they may start."""
    first, second = federation.both
    for cluster in federation.both:
        cluster.allowed_errors.append(
            "No response to persist_init|slurm_persist_send_msg: .* No error|Socket timed out")
    fill(federation, FIRST)
    filling = fill(federation, SECOND)
    waiting = [first.sbatch("--exclusive", "-N1", wrap=federation.counting()) for _ in range(4)]
    wait_until(lambda: all(second.state(job) == "PENDING" for job in waiting), "they wait")
    stuck = first.minicluster.daemon("slurmctld").pid()
    os.kill(stuck, signal.SIGSTOP)
    try:
        second.run("scancel", filling)
        own = second.sbatch("--exclusive", "-N1", f"--clusters={SECOND}", wrap=federation.counting(600))
        second.wait_state(own, "RUNNING", within=40)
        assert not any(federation.runs(job) for job in waiting)
    finally:
        os.kill(stuck, signal.SIGCONT)
    # Slurm opens its closed connections again when it has something to say to the other cluster.
    later = second.sbatch("-N1", wrap=federation.counting())
    federation.wait_over([*waiting, later])
    assert [federation.runs(job) for job in [*waiting, later]] == [[SECOND]] * 5
