# SPDX-License-Identifier: MIT
"""However a job ends, and in whatever state its agreement is: nothing is left behind.

That the nodes are idle, the queue empty, slurmctld alive and the journal whole
is checked after every test (conftest.py); here each end is brought about.
"""

import os
import signal

import pytest

from elastic_live import wait_until

STATES = ["offered shrink", "accepted shrink", "offered expand", "applied expand", "queued request"]
ENDS = ["done", "failed", "killed", "scancel", "requeue"]


def bring_to(cluster, app, state):
    """The agreement of the job in that state."""
    if state == "queued request":
        rest = cluster.sbatch("-N4", "--exclusive", wrap="sleep 60")
        cluster.wait_state(rest, "RUNNING")
        app.do("request", 2, 2, 30.0)
        app.event("queued")
        return
    step, kind = state.split()
    cluster.run("selastic", kind, app.job, 2 if kind == "shrink" else 6)
    offer = app.event(f"offer_{kind}")
    if step != "offered":
        app.do("accept", offer["op"])
        app.event("accepted")
    if step == "applied":
        app.event("resized")


@pytest.mark.parametrize("end", ENDS)
@pytest.mark.parametrize("state", STATES)
def test_every_end_in_every_state(cluster, state, end):
    app = cluster.actor("malleable+evolving,min=1,max=8", "-N4", "--requeue")
    bring_to(cluster, app, state)
    if end in ("done", "failed"):
        app.exit(0 if end == "done" else 3)
    elif end == "killed":
        app.tell("die")
    elif end == "scancel":
        cluster.run("scancel", app.job)
    else:
        cluster.run("scontrol", "requeuehold", app.job)
    expected = {"done": "COMPLETED", "scancel": "CANCELLED", "requeue": "REQUEUED"}
    cluster.wait_journal(app.job, "end", state=expected.get(end, "FAILED"))
    jobs = cluster.selastic("jobs")["jobs"]
    assert not [job for job in jobs if "agreement" in job]


@pytest.mark.modes("ms")
@pytest.mark.parametrize("state", ["offered shrink", "applied expand"])
def test_a_node_fails(cluster, expect_errors, state):
    expect_errors.append("Removing failed node")
    app = cluster.actor("malleable,min=1,max=8", "-N4", "--no-kill")
    bring_to(cluster, app, state)
    lost = cluster.nodes_of(app.job)[-1]
    assert lost != app.opened["batch_host"]
    try:
        cluster.run("scontrol", "update", f"NodeName={lost}", "State=DOWN", "Reason=test")
        resized = app.event()
        while resized["event"] != "resized":
            resized = app.event()
        assert cluster.expand(resized["node_list"]) == [lost]
        assert lost not in cluster.nodes_of(app.job)
    finally:
        cluster.run("scontrol", "update", f"NodeName={lost}", "State=IDLE")
    app.exit()
    cluster.wait_state(app.job, "COMPLETED")


def test_state_that_cannot_be_saved(cluster, expect_errors):
    """It is said once, and once that it can be again; resizes go on."""
    expect_errors.extend(["job_state", "Can't save state"])
    in_the_way = cluster.dir / "state" / "job_state.new"
    app = cluster.actor("malleable,min=1,max=3", "-N1")
    in_the_way.mkdir()
    try:
        cluster.run("selastic", "expand", app.job, 2)
        assert app.take_expand()["size"] == 2
        wait_until(lambda: "resizes would not survive a crash" in cluster.log,
                   lambda: "what cannot be saved is said")
    finally:
        in_the_way.rmdir()
    cluster.run("selastic", "expand", app.job, 3)
    assert app.take_expand()["size"] == 3
    wait_until(lambda: "state is saved again" in cluster.log, lambda: "that it is saved again")


@pytest.mark.modes("ms")  # in the other, nobody waits for one node
def test_a_requeued_job_that_leaves_slowly_asks_for_its_first_size(cluster):
    """One of its nodes takes a while: the job waits again, and Slurm counts what it had."""
    app = cluster.actor("malleable,min=1,max=8", "-N4")
    cluster.run("selastic", "shrink", app.job, 2)
    app.take_shrink()
    slow = cluster.minicluster.daemon(cluster.nodes_of(app.job)[-1]).pid()
    os.kill(slow, signal.SIGSTOP)
    try:
        cluster.run("scontrol", "requeuehold", app.job)
        cluster.wait_journal(app.job, "end", state="REQUEUED")
        cluster.wait_two_passes()
    finally:
        os.kill(slow, signal.SIGCONT)
    wait_until(lambda: cluster.job(app.job)["NumNodes"].split("-")[0] == "4",
               lambda: f"job {app.job} asks for 4 nodes: {cluster.job(app.job)}")


@pytest.mark.parametrize("size", [2, 6])
def test_a_requeued_job_asks_for_its_first_size(cluster, size):
    """Whatever size it had in its last run."""
    app = cluster.actor("malleable,min=1,max=8", "-N4")
    cluster.run("selastic", "shrink" if size < 4 else "expand", app.job, size)
    (app.take_shrink if size < 4 else app.take_expand)()
    cluster.run("scontrol", "requeuehold", app.job)
    wait_until(lambda: cluster.job(app.job)["NumNodes"].split("-")[0] == "4",
               lambda: f"job {app.job} asks for 4 nodes: {cluster.job(app.job)}")
