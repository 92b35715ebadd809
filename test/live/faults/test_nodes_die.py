# SPDX-License-Identifier: MIT
"""slurmds that die by SIGKILL while a node of theirs is part of an agreement.

A dead slurmd is nothing that slurmctld knows at once: it goes on giving out the
node until SlurmdTimeout has passed, then the node is down and its jobs are
ended.  The jobs' processes live on all the while, so an application may answer
from a node that is not there any more.

What has to hold: the agreement comes to an end as if nothing was wrong or is
cancelled, the others' nodes are theirs, and once the slurmds are back nothing is
left behind (conftest.py asks that).
"""

import pytest
from elastic_live import SLURM_VERSION, wait_until

# As short as the other slurmds of a busy machine can meet it.
TIMEOUT = 8


@pytest.fixture
def slurmds(cluster, adaptive, expect_errors):
    """kill(NODE): it is dead until the test ends."""
    expect_errors += ["[Nn]odes? \\S+ not responding", "Removing failed node", "in state NODE_FAIL",
                      "slurm_receive_msg",
                      # select/linear, when it reads slurm.conf while a job is completing
                      "select_g_job_fini"]
    if SLURM_VERSION >= (23, 11):  # a slurmd that is back ends what it has left of a job
        expect_errors += ["is non-running slurmctld and slurmd out of sync", 'Unable to (send|receive) "ok']
    cluster.set_slurm(SlurmdTimeout=TIMEOUT)
    killed = []

    def kill(node):
        cluster.kill_slurmd(node)
        killed.append(node)

    yield kill
    for node in killed:
        if not cluster.slurmd_lives(node):
            cluster.start_slurmd(node)
    cluster.set_slurm(SlurmdTimeout=60)
    wait_until(lambda: not any("down" in state or "*" in state
                               for state in cluster.node_states().values()),
               lambda: f"all nodes are back: {cluster.node_states()}")


def wait_down(cluster, node):
    wait_until(lambda: cluster.node_states()[node].startswith("down"),
               lambda: f"{node} is down: {cluster.node_states()}", 4 * TIMEOUT)


def bring_to(cluster, state, app, offer):
    if state == "offered":
        return
    app.do("accept", offer["op"])
    app.event("accepted")
    if state == "released":
        app.do("done", offer["op"])
        cluster.wait_journal(app.job, "release")


def two_victims(cluster):
    """The machine is full, and a job of four nodes waits for two of each."""
    victims = [cluster.actor("malleable,min=2,max=4", "-N4", "--no-requeue") for _ in range(2)]
    waiting = cluster.actor("malleable,min=4,max=4", "-N4", "--no-requeue", wait=False)
    return victims, [app.event("offer_shrink") for app in victims], waiting


@pytest.mark.modes("ms")
@pytest.mark.parametrize("state", ["offered", "released"])
def test_released_node_dies(cluster, slurmds, adaptive, state):
    """The victim's job ends with its node; the other keeps what nobody waits for."""
    adaptive(GraceTime=120)
    victims, offers, waiting = two_victims(cluster)
    bring_to(cluster, state, victims[0], offers[0])
    node = cluster.expand(offers[0]["node_list"])[-1]
    slurmds(node)
    wait_down(cluster, node)
    cluster.wait_journal(victims[0].job, "end", state="NODE_FAIL")
    cluster.wait_journal(victims[0].job, "cancel", op=offers[0]["op"])
    # Three nodes of the victim are left, so one of the other's has to do.
    cluster.run("scancel", victims[1].job)
    waiting.wait_connected()
    assert node not in cluster.nodes_of(waiting.job)


@pytest.mark.modes("ms")
def test_released_node_is_dead_at_the_hand_over(cluster, slurmds, adaptive):
    """Slurm does not know yet and starts the waiting job there: it ends with the node."""
    adaptive(GraceTime=120)
    victims, offers, waiting = two_victims(cluster)
    node = cluster.expand(offers[1]["node_list"])[-1]
    slurmds(node)
    for app, offer in zip(victims, offers):
        bring_to(cluster, "released", app, offer)
    for app in victims:
        assert app.event("resized")["size"] == 2
    cluster.wait_journal(waiting.job, "start")
    wait_down(cluster, node)
    cluster.wait_journal(waiting.job, "end", state="NODE_FAIL")
    # The victims are not touched by it, and can grow on what is left.
    for app in victims:
        assert cluster.state(app.job) == "RUNNING"
    grown = victims[0].take_expand()
    assert grown["size"] >= 3 and node not in cluster.expand(grown["node_list"])


@pytest.mark.modes("ms")
def test_batch_host_of_the_victim_dies(cluster, slurmds, adaptive):
    """Its script runs on, unseen, and is told that its job is over."""
    adaptive(GraceTime=120)
    victims, offers, waiting = two_victims(cluster)
    bring_to(cluster, "accepted", victims[0], offers[0])
    node = victims[0].opened["batch_host"]
    slurmds(node)
    wait_down(cluster, node)
    cluster.wait_journal(victims[0].job, "end", state="NODE_FAIL")
    cluster.wait_journal(victims[0].job, "cancel", op=offers[0]["op"])
    assert victims[0].event("ended")["outcome"] == "cancelled"
    cluster.run("scancel", victims[1].job)
    waiting.wait_connected()
    assert node not in cluster.nodes_of(waiting.job)


@pytest.mark.modes("ms")
@pytest.mark.parametrize("state", ["offered", "applied", "applied, --no-kill"])
def test_node_of_an_expansion_dies(cluster, slurmds, adaptive, state):
    adaptive(GraceTime=120, ExpandTrigger="never")
    survives = "--no-kill" in state
    app = cluster.actor("malleable,min=1,max=8", "-N4", "--no-requeue",
                        *(["--no-kill"] if survives else []))
    cluster.run("selastic", "expand", app.job, 6)
    offer = app.event("offer_expand")
    assert offer["nodes"] == 2
    if state != "offered":
        app.do("accept", offer["op"])
        app.event("accepted")
        new = cluster.expand(app.event("resized")["node_list"])[-1]
    else:  # the first that are idle will be taken
        new = [node for node in cluster.all_nodes if node not in cluster.nodes_of(app.job)][0]
    slurmds(new)
    wait_down(cluster, new)
    if state == "offered":  # others are idle
        app.do("accept", offer["op"])
        app.event("accepted")
        resized = app.event("resized")
        assert resized["size"] == 6
        assert new not in cluster.expand(resized["node_list"])
        app.do("done", offer["op"])
    elif survives:
        resized = app.event("resized")
        assert (resized["kind"], cluster.expand(resized["node_list"])) == ("shrink", [new])
        app.do("done", offer["op"])
        cluster.wait_journal(app.job, "ready", op=offer["op"])
        cluster.wait_size(app.job, 5)
    else:
        cluster.wait_journal(app.job, "end", state="NODE_FAIL")


@pytest.mark.parametrize("dead_from", ["offered", "accepted", "released"])
def test_slurmd_dies_and_returns(cluster, adaptive, dead_from):
    """Before anybody has noticed: the agreement is seen through."""
    adaptive(GraceTime=120)
    app = cluster.actor("malleable,min=4,max=8", "-N8")
    waiting = cluster.actor("malleable,min=4,max=4", "-N4", wait=False)
    offer = app.event("offer_shrink")
    node = "frontend" if cluster.mode == "fe" else cluster.expand(offer["node_list"])[0]

    def slurmd(state):
        if state == dead_from:
            cluster.kill_slurmd(node)
        elif not cluster.slurmd_lives(node):
            cluster.start_slurmd(node)

    slurmd("offered")
    app.do("accept", offer["op"])
    app.event("accepted")
    slurmd("accepted")
    app.do("done", offer["op"])
    cluster.wait_journal(app.job, "release")
    slurmd("released")
    assert app.event("resized")["size"] == 4
    slurmd("resized")
    waiting.wait_connected()
    assert len(cluster.nodes_of(waiting.job)) == 4


@pytest.mark.parametrize("options", [["--elastic=malleable,min=1,max=4"], ["--exclusive"]],
                         ids=["elastic", "exclusive"])
def test_a_node_that_a_job_lost_serves_again(cluster, expect_errors, options):
    """Slurm goes on counting the job among those that keep others away from the node, which shows as soon as the next
    such job has ended there."""
    expect_errors += ["Removing failed node"]
    job = cluster.sbatch(*options, "-N4", "--no-kill", wrap="sleep 600")
    cluster.wait_state(job, "RUNNING")
    lost = cluster.nodes_of(job)[-1]
    cluster.run("scontrol", "update", f"NodeName={lost}", "State=DOWN", "Reason=test")
    wait_until(lambda: lost not in cluster.nodes_of(job), f"{lost} is lost to job {job}")
    assert cluster.state(job) == "RUNNING"
    cluster.run("scontrol", "update", f"NodeName={lost}", "State=RESUME")
    for request in ("--exclusive", "--exclusive", "--elastic=malleable,min=1,max=1"):
        guest = cluster.sbatch(request, "-N1", "-w", lost, wrap="true")
        cluster.wait_state(guest, "COMPLETED")
