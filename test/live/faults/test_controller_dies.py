# SPDX-License-Identifier: MIT
"""slurmctld dies by SIGKILL in every state of an agreement, and comes back.

Each test brings an agreement into one state, kills the controller, starts it
again and sees the agreement through: the same processes go on, they have
reconnected by themselves, and the nodes are where they should be.  That
nothing is lost or double-booked in between is what conftest.py asks after every
test: no job, all nodes idle, and a journal without a violation.
"""

import json
import uuid

import pytest
from elastic_live import wait_until


def wait_saved(cluster, *apps):
    """Until Slurm has saved that these jobs run; it does so every five seconds.

    A job that is not yet known to run when slurmctld comes back is started anew
    by Slurm, with or without us.
    """
    for app in apps:
        mark = str(uuid.uuid4())
        cluster.run("scontrol", "update", f"JobId={app.job}", f"Comment={mark}")
        wait_until(lambda mark=mark: mark.encode() in cluster.slurm_state("job_state"),
                   f"Slurm has saved the state of job {app.job}")


def kill_when_saved(cluster, *apps):
    wait_saved(cluster, *apps)
    cluster.kill_controller()


def kill_and_restart(cluster, *apps):
    """SIGKILL; afterwards all apps are connected again and all nodes have reported."""
    pids = {app.job: app.shell("echo $PPID")["out"] for app in apps}
    kill_when_saved(cluster, *apps)
    cluster.start_controller()
    wait_until(lambda: "unk" not in " ".join(cluster.node_states().values()),
               lambda: f"all nodes have reported: {cluster.node_states()}")
    for app in apps:
        wait_until(lambda app=app: app.state()["connected"],
                   f"the application of job {app.job} has reconnected")
        assert app.shell("echo $PPID")["out"] == pids[app.job]


def victim_and_beneficiary(cluster, victims=1):
    """All eight nodes are taken; job B of four nodes waits for them to shrink."""
    size = 8 // victims
    apps = [cluster.actor(f"malleable,min={size // 2},max={size}", f"-N{size}")
            for _ in range(victims)]
    waiting = cluster.actor("malleable,min=4,max=4", "-N4", wait=False)
    offers = [app.event("offer_shrink") for app in apps]
    return apps, offers, waiting


def finish(cluster, apps):
    for app in apps:
        app.exit()
    for app in apps:
        cluster.wait_state(app.job, "COMPLETED")


def assert_started(cluster, waiting, app):
    waiting.wait_connected()
    nodes = cluster.nodes_of(waiting.job)
    assert len(nodes) == 4
    assert not set(nodes) & set(cluster.nodes_of(app.job))


def test_shrink_offered(cluster):
    [app], [offer], waiting = victim_and_beneficiary(cluster)
    kill_and_restart(cluster, app)
    app.do("accept", offer["op"])
    app.event("accepted")
    app.do("done", offer["op"])
    assert app.event("resized")["op"] == offer["op"]
    assert_started(cluster, waiting, app)
    finish(cluster, [app, waiting])


def test_shrink_answered_while_away(cluster):
    [app], [offer], waiting = victim_and_beneficiary(cluster)
    kill_when_saved(cluster, app)
    app.do("accept", offer["op"])
    app.do("done", offer["op"])
    cluster.start_controller()
    app.event("accepted")
    assert app.event("resized")["op"] == offer["op"]
    assert_started(cluster, waiting, app)
    finish(cluster, [app, waiting])


def test_shrink_accepted(cluster):
    [app], [offer], waiting = victim_and_beneficiary(cluster)
    app.do("accept", offer["op"])
    app.event("accepted")
    kill_and_restart(cluster, app)
    app.do("done", offer["op"])
    assert app.event("resized")["op"] == offer["op"]
    assert_started(cluster, waiting, app)
    finish(cluster, [app, waiting])


def test_shrink_released_and_waiting_for_another_victim(cluster):
    apps, offers, waiting = victim_and_beneficiary(cluster, victims=2)
    first, second = apps
    first.do("accept", offers[0]["op"])
    first.event("accepted")
    first.do("done", offers[0]["op"])
    cluster.wait_journal(first.job, "release")
    kill_and_restart(cluster, first, second)
    first.no_event()
    assert len(cluster.nodes_of(first.job)) == 4, "released nodes stay until the others are there"
    second.do("accept", offers[1]["op"])
    second.event("accepted")
    second.do("done", offers[1]["op"])
    assert first.event("resized")["op"] == offers[0]["op"]
    assert second.event("resized")["op"] == offers[1]["op"]
    assert_started(cluster, waiting, first)
    finish(cluster, [first, second, waiting])


def test_shrink_taken_at_its_deadline_and_waiting_for_another_victim(cluster, adaptive):
    adaptive(ShrinkTimeout="kill", ExpandTrigger="never")
    late = cluster.actor("malleable,min=2,max=4,grace=1", "-N4")
    slow = cluster.actor("malleable,min=2,max=4,grace=300", "-N4")
    waiting = cluster.actor("malleable,min=4,max=4", "-N4", wait=False)
    offers = [app.event("offer_shrink") for app in (late, slow)]
    late.do("accept", offers[0]["op"])
    late.event("accepted")

    def taken():
        agreement = cluster.selastic("show", late.job)["job"].get("agreement", {})
        return agreement.get("state") == "released"
    wait_until(taken, "the nodes are taken, but have not left yet", within=10)
    kill_when_saved(cluster, late, slow)
    state = json.loads(cluster.slurm_state("elastic_state"))
    saved = {entry["op"]: entry["state"] for entry in state["agreements"]}
    assert saved == {offers[0]["op"]: "released", offers[1]["op"]: "offered"}
    cluster.start_controller()
    slow.do("accept", offers[1]["op"])
    slow.event("accepted")
    slow.do("done", offers[1]["op"])
    assert_started(cluster, waiting, slow)
    finish(cluster, [late, slow, waiting])


@pytest.mark.smoke
def test_shrink_done_while_away(cluster):
    """The beneficiary starts as soon as the nodes have reported, and on them."""
    [app], [offer], waiting = victim_and_beneficiary(cluster)
    app.do("accept", offer["op"])
    app.event("accepted")
    kill_when_saved(cluster, app)
    app.do("done", offer["op"])
    cluster.start_controller()
    assert app.event("resized")["op"] == offer["op"]
    assert_started(cluster, waiting, app)
    handed = cluster.wait_journal(app.job, "resize", op=offer["op"])
    start = cluster.wait_journal(waiting.job, "start")
    assert handed["time"] == pytest.approx(start["time"], abs=0.5)
    finish(cluster, [app, waiting])


def test_expand_offered(cluster):
    app = cluster.actor("malleable,min=1,max=4", "-N2")
    offer = app.event("offer_expand")
    kill_and_restart(cluster, app)
    app.do("accept", offer["op"])
    app.event("accepted")
    assert app.event("resized")["op"] == offer["op"]
    app.do("done", offer["op"])
    cluster.wait_size(app.job, 4)
    finish(cluster, [app])


def test_expand_accepted_while_away(cluster):
    """No node is known to be idle when the application says it again."""
    app = cluster.actor("malleable,min=1,max=4", "-N2")
    offer = app.event("offer_expand")
    kill_when_saved(cluster, app)
    app.do("accept", offer["op"])
    cluster.start_controller()
    app.event("accepted")
    resized = app.event("resized")
    assert (resized["op"], resized["size"]) == (offer["op"], 4)
    app.do("done", offer["op"])
    cluster.wait_journal(app.job, "ready", op=offer["op"])
    finish(cluster, [app])


@pytest.mark.smoke
def test_expand_applied(cluster):
    app = cluster.actor("malleable,min=1,max=4", "-N2")
    offer = app.event("offer_expand")
    app.do("accept", offer["op"])
    app.event("accepted")
    app.event("resized")
    kill_and_restart(cluster, app)
    wait_until(lambda: len(cluster.nodes_of(app.job)) == 4, "the job has the nodes it was told of")
    app.do("done", offer["op"])
    cluster.wait_journal(app.job, "ready", op=offer["op"])
    finish(cluster, [app])


def test_request_queued(cluster):
    blocker = cluster.sbatch("-N6", wrap="sleep 600")
    app = cluster.actor("evolving,min=1,max=4", "-N2")
    cluster.wait_state(blocker, "RUNNING")
    app.do("request", 2, 2, 60.0)
    op = app.event("queued")["op"]
    kill_and_restart(cluster, app)
    app.no_event()
    cluster.run("scancel", blocker)
    resized = app.event("resized")
    assert (resized["op"], resized["size"]) == (op, 4)
    app.do("done", op)
    finish(cluster, [app])


def test_request_waiting_for_victims(cluster):
    victim = cluster.actor("malleable,min=2,max=6", "-N6")
    app = cluster.actor("evolving,min=1,max=4", "-N2")
    app.do("request", 2, 2, 60.0)
    op = app.event("queued")["op"]
    offer = victim.event("offer_shrink")
    kill_and_restart(cluster, app, victim)
    victim.do("accept", offer["op"])
    victim.event("accepted")
    victim.do("done", offer["op"])
    victim.event("resized")
    resized = app.event("resized")
    assert (resized["op"], resized["size"]) == (op, 4)
    app.do("done", op)
    finish(cluster, [app, victim])


def test_deadline_that_passed_in_the_outage(cluster, adaptive):
    """The application could not answer: it has its grace time again."""
    adaptive(GraceTime=8)
    [app], [offer], waiting = victim_and_beneficiary(cluster)
    kill_when_saved(cluster, app)
    # The deadline is wall-clock time: this is a wait for it, not for something else.
    deadline = offer["deadline"]
    app.shell(f"sleep {deadline + 0.5}")
    cluster.start_controller()
    wait_until(lambda: app.state()["connected"], "the application has reconnected")
    app.do("accept", offer["op"])
    app.event("accepted")
    app.do("done", offer["op"])
    app.event("resized")
    assert_started(cluster, waiting, app)
    finish(cluster, [app, waiting])


@pytest.mark.modes("ms")
@pytest.mark.starts_itself("a job starts with what it asks for")
def test_a_job_does_not_start_on_the_few_nodes_that_have_reported(cluster, adaptive, expect_errors):
    """After a start of slurmctld, which newer releases of Slurm make of each reconfiguration."""
    expect_errors += ["[Nn]odes? \\S+ not responding"]
    adaptive(InitialSize="flexible")
    early, late = (sorted(cluster.node_states())[part] for part in (slice(3), slice(3, None)))
    for node in late:
        cluster.kill_slurmd(node)
    cluster.restart_controller()
    wait_until(lambda: {cluster.node_states()[node] for node in early} == {"idle"},
               lambda: f"{early} have reported: {cluster.node_states()}")
    job = cluster.sbatch("--elastic=malleable,min=2,max=8", "-N8", wrap="sleep 60")
    for node in late:
        cluster.start_slurmd(node)
    cluster.wait_state(job, "RUNNING")
    assert len(cluster.nodes_of(job)) == 8


def test_again_and_again_while_jobs_change_size(cluster):
    """Kills at moments nobody has chosen."""
    app = cluster.actor("malleable+evolving,min=1,max=8", "-N4")
    wait_saved(cluster, app)
    for round_ in range(6):
        app.tell("elastic", function="release" if round_ % 2 else "request",
                 arguments=[1, None] if round_ % 2 else [1, 1, 30.0])
        cluster.kill_controller()
        cluster.start_controller()
        app._next_reply()
        wait_until(lambda: app.state()["connected"], "the application has reconnected")
        settle(cluster, app)
    finish(cluster, [app])


def settle(cluster, app):
    """Answer everything until nothing is in flight and both sides have the same size."""
    def agreed():
        while app.events:
            event = app.event()
            if event["event"] in ("offer_shrink", "offer_expand"):
                app.call("accept", event["op"])
            elif event["event"] == "accepted" and event["kind"] == "shrink":
                app.call("done", event["op"])
            elif event["event"] == "resized" and event["kind"] == "expand":
                app.call("done", event["op"])
        state = app.state()
        shown = cluster.selastic("show", app.job)["job"]
        return "agreement" not in shown and not app.events \
            and sorted(cluster.expand(state["nodelist"])) == sorted(cluster.nodes_of(app.job))
    wait_until(agreed, lambda: f"nothing is in flight: {cluster.journal(app.job)[-8:]}")
