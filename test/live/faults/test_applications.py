# SPDX-License-Identifier: MIT
"""Applications that answer late, never, twice or for another, and jobs that go away.

The deadline holds for them, and a neighbour is resized all the while.
"""

import time

import pytest
from elastic_live import wait_until

GRACE = 3


@pytest.fixture
def pair(cluster, adaptive):
    """An application that fails in some way and one that does not; nobody resizes them unasked."""
    adaptive(GraceTime=GRACE, ExpandTrigger="never")
    bad = cluster.actor("malleable+evolving,min=1,max=4", "-N3")
    good = cluster.actor("malleable+evolving,min=1,max=4", "-N2")
    yield bad, good
    cluster.run("selastic", "shrink", good.job, 1)
    assert good.take_shrink()["size"] == 1


def offer_shrink(cluster, app):
    cluster.run("selastic", "shrink", app.job, len(cluster.nodes_of(app.job)) - 1)
    return app.event("offer_shrink")


def assert_expires(cluster, app, op, since):
    assert app.event("ended")["outcome"] == "expired"
    assert GRACE - 0.5 < time.monotonic() - since < GRACE + 3
    cluster.wait_journal(app.job, "expire", op=op)
    assert len(cluster.nodes_of(app.job)) == 3


def test_never_answers(cluster, pair):
    bad, _ = pair
    since = time.monotonic()
    offer = offer_shrink(cluster, bad)
    assert_expires(cluster, bad, offer["op"], since)


def test_never_does_what_it_accepted(cluster, pair):
    bad, _ = pair
    offer = offer_shrink(cluster, bad)
    since = time.monotonic()
    bad.do("accept", offer["op"])
    bad.event("accepted")
    assert_expires(cluster, bad, offer["op"], since)


def test_answers_late(cluster, pair):
    bad, _ = pair
    offer = offer_shrink(cluster, bad)
    bad.ask("listen", on=False)
    cluster.wait_journal(bad.job, "expire", op=offer["op"])
    bad.call("accept", offer["op"])
    bad.ask("listen", on=True)
    assert bad.event("ended")["outcome"] == "expired"
    assert not cluster.journal(bad.job, "accept")


def test_answers_twice_and_for_another(cluster, pair):
    """The library refuses what makes no sense, and what the wire says wrongly is harmless."""
    bad, good = pair
    offer = offer_shrink(cluster, bad)
    assert bad.call("accept", offer["op"] + 1) == -3
    assert good.call("accept", offer["op"]) == -3
    bad.do("accept", offer["op"])
    assert bad.call("accept", offer["op"]) == -3
    bad.event("accepted")
    bad.do("done", offer["op"])
    bad.call("done", offer["op"])
    assert bad.event("resized")["size"] == 2
    assert [len(cluster.journal(bad.job, event)) for event in ("accept", "release", "resize")] \
        == [1, 1, 1]


def test_dies_in_the_middle(cluster, pair):
    bad, _ = pair
    offer = offer_shrink(cluster, bad)
    bad.do("accept", offer["op"])
    bad.event("accepted")
    bad.tell("die")
    cluster.wait_state(bad.job, "FAILED", "COMPLETED")
    cluster.wait_journal(bad.job, "cancel", op=offer["op"])


def test_closes_its_connection(cluster, pair):
    bad, _ = pair
    since = time.monotonic()
    offer = offer_shrink(cluster, bad)
    bad.ask("close")
    cluster.wait_journal(bad.job, "expire", op=offer["op"])
    assert time.monotonic() - since > GRACE - 0.5
    assert len(cluster.nodes_of(bad.job)) == 3


def test_shrink_timeout_kill(cluster, pair, adaptive):
    adaptive(GraceTime=GRACE, ExpandTrigger="never", ShrinkTimeout="kill")
    bad, _ = pair
    offer = offer_shrink(cluster, bad)
    bad.do("accept", offer["op"])
    bad.event("accepted")
    assert bad.event("resized")["op"] == offer["op"]
    cluster.wait_size(bad.job, 2)
    assert not cluster.journal(bad.job, "release")


# ---- jobs that go away

STATES = ["offered", "accepted", "released"]


def bring_to(state, app, offer):
    if state == "offered":
        return
    app.do("accept", offer["op"])
    app.event("accepted")
    if state == "released":
        app.do("done", offer["op"])


@pytest.mark.parametrize("state", STATES)
@pytest.mark.parametrize("gone", ["victim", "beneficiary"])
def test_scancel(cluster, state, gone):
    victims = [cluster.actor("malleable,min=2,max=4", "-N4") for _ in range(2)]
    waiting = cluster.sbatch("-N4", wrap="sleep 600")
    offers = [app.event("offer_shrink") for app in victims]
    bring_to(state, victims[0], offers[0])
    if state == "released":
        cluster.wait_journal(victims[0].job, "release")
    cluster.run("scancel", victims[0].job if gone == "victim" else waiting)
    if gone == "victim":
        cluster.wait_journal(victims[0].job, "end")
        cluster.wait_state(waiting, "RUNNING")
    else:
        wait_until(lambda: not any("agreement" in job and job["agreement"]["state"] == "offered"
                                   for job in cluster.selastic("jobs")["jobs"]),
                   "no offer is left")
        if state == "released":
            victims[0].event("resized")


def came_back(cluster, node):
    """Real slurmds report by themselves (ReturnToService), a front end's node is resumed."""
    return "down" not in cluster.node_states()[node] or cluster.run(
        "scontrol", "update", f"NodeName={node}", "State=RESUME", check=False).code == 0


@pytest.mark.parametrize("state", STATES)
def test_node_goes_down(cluster, state, expect_errors):
    """One that is to be given up.  Slurm ends or requeues the job; nothing of it is left."""
    # Stock Slurm with a front end does so with sched/builtin and a plain job, too: the node that
    # is resumed while the job is ending was not counted when it was down.
    expect_errors.append("comp_job_cnt underflow")
    victims = [cluster.actor("malleable,min=2,max=4", "-N4", "--no-requeue") for _ in range(2)]
    cluster.sbatch("-N4", "--no-requeue", wrap="sleep 600")
    offers = [app.event("offer_shrink") for app in victims]
    bring_to(state, victims[0], offers[0])
    node = cluster.expand(offers[0]["node_list"])[0]
    try:
        cluster.run("scontrol", "update", f"NodeName={node}", "State=DOWN", "Reason=test")
        cluster.wait_journal(victims[0].job, "end", state="NODE_FAIL")
        cluster.wait_journal(victims[0].job, "cancel", op=offers[0]["op"])
    finally:
        wait_until(lambda: came_back(cluster, node), f"{node} is back")


def test_reconfigure_with_a_bad_file(cluster, expect_errors):
    expect_errors.append("elastic.conf")
    path = cluster.dir / "elastic.conf"
    good = path.read_text()
    app = cluster.actor("malleable,min=1,max=4", "-N4")
    try:
        cluster.write_elastic_conf(good + "GraceTime=never\n")
        cluster.reconfigure(f"elastic.conf:{len(good.splitlines()) + 1}")
        assert "stays in force" in cluster.log
        cluster.run("selastic", "shrink", app.job, 2)
        assert app.take_shrink()["size"] == 2
    finally:
        cluster.write_elastic_conf(good)
        cluster.reconfigure("configuration read")


def test_reconfigure_in_the_middle(cluster, adaptive):
    """Another port: who is connected stays so, and the agreement goes on."""
    adaptive(ExpandTrigger="never")
    app = cluster.actor("malleable,min=1,max=4", "-N4")
    offer = offer_shrink(cluster, app)
    adaptive(ExpandTrigger="never", MaxConnections=500)
    app.do("accept", offer["op"])
    app.event("accepted")
    app.do("done", offer["op"])
    assert app.event("resized")["size"] == 3


def asked(app, nodes):
    """What becomes of a request, now or never."""
    app.do("request", nodes, nodes, 0.0)
    event = app.event()
    return app.event() if event["event"] == "queued" else event


def test_asks_in_vain_again_and_again(cluster, adaptive):
    """Journal and log do not grow at its will, and what can be granted is granted in the end."""
    adaptive(ExpandTrigger="never")
    app = cluster.actor("evolving,min=1,max=2", "-N1")
    since, begin = len(cluster.log), time.monotonic()
    ends = [asked(app, 7) for _ in range(60)]
    took = time.monotonic() - begin
    assert all(end["outcome"] == "denied" for end in ends)
    assert "ask again in" in ends[-1]["reason"]
    most = 20 + took + 1
    assert len(cluster.journal(app.job, "request")) <= most
    assert cluster.log[since:].count("is denied") <= most
    granted = wait_until(lambda: next((end for end in [asked(app, 1)]
                                       if end["event"] == "resized"), None), "it is granted")
    app.do("done", granted["op"])
