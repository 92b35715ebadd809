# SPDX-License-Identifier: MIT
"""scancel of an evolving job at every moment of what it has asked for, and inside an expansion.

The others must go on as if it had never asked: offers for it are withdrawn, nodes
that were released for it are free, and the next job gets them.
"""

import pytest
from elastic_live import wait_until


def answer(cluster, app, offer, state):
    """The victim's part up to that state."""
    if state == "offered":
        return
    app.do("accept", offer["op"])
    app.event("accepted")
    if state == "released":
        app.do("done", offer["op"])
        cluster.wait_journal(app.job, "release")


@pytest.mark.parametrize("second", ["offered", "accepted"])
@pytest.mark.parametrize("first", ["offered", "accepted", "released"])
def test_beneficiary_while_its_victims_shrink(cluster, adaptive, first, second):
    adaptive(GraceTime=600, ExpandTrigger="never", BackOff=0)
    victims = [cluster.actor("malleable,min=1,max=3", "-N3") for _ in range(2)]
    app = cluster.actor("evolving,min=1,max=6", "-N2")
    app.do("request", 4, 4, 600.0)
    app.event("queued")
    offers = [victim.event("offer_shrink") for victim in victims]
    answer(cluster, victims[0], offers[0], first)
    answer(cluster, victims[1], offers[1], second)
    cluster.run("scancel", app.job)
    cluster.wait_journal(app.job, "end")
    for victim, offer, state in zip(victims, offers, (first, second)):
        if state == "offered":
            ended = victim.event("ended")
            assert (ended["op"], ended["outcome"]) == (offer["op"], "cancelled")
            assert len(cluster.nodes_of(victim.job)) == 3
            continue
        if state == "accepted":  # it is on its way out, which is not to be in vain
            victim.do("done", offer["op"])
        resized = victim.event("resized")
        assert (resized["op"], resized["size"]) == (offer["op"], 1)
    free = cluster.nodes - sum(len(cluster.nodes_of(victim.job)) for victim in victims)
    other = cluster.sbatch(f"-N{free}", wrap="sleep 600")
    cluster.wait_state(other, "RUNNING")
    assert not cluster.selastic("show", victims[0].job)["job"].get("agreement")


def test_beneficiary_that_withdraws(cluster, adaptive):
    """The same by the application itself: elastic_cancel."""
    adaptive(GraceTime=600, ExpandTrigger="never")
    victim = cluster.actor("malleable,min=2,max=6", "-N6")
    app = cluster.actor("evolving,min=1,max=4", "-N2")
    app.do("request", 2, 2, 600.0)
    op = app.event("queued")["op"]
    victim.event("offer_shrink")
    app.do("cancel", op)
    assert app.event("ended")["outcome"] == "cancelled"
    assert victim.event("ended")["outcome"] == "cancelled"


@pytest.mark.parametrize("state", ["granted", "ready"])
def test_beneficiary_that_has_grown(cluster, adaptive, state):
    adaptive(GraceTime=600, ExpandTrigger="never")
    victim = cluster.actor("malleable,min=2,max=6", "-N6")
    app = cluster.actor("evolving,min=1,max=6", "-N2")
    app.do("request", 4, 4, 600.0)
    app.event("queued")
    offer = victim.event("offer_shrink")
    answer(cluster, victim, offer, "released")
    victim.event("resized")
    resized = app.event("resized")
    assert resized["size"] == 6
    if state == "ready":
        app.do("done", resized["op"])
        cluster.wait_journal(app.job, "ready")
    cluster.run("scancel", app.job)
    cluster.wait_journal(app.job, "end", count=6)
    other = cluster.sbatch("-N6", wrap="sleep 600")
    cluster.wait_state(other, "RUNNING")


@pytest.mark.parametrize("state", ["offered", "accepted", "applied", "done"])
def test_inside_an_expansion(cluster, adaptive, state):
    """accepted: the answer and the cancellation come together, and either may be first."""
    adaptive(GraceTime=600)
    app = cluster.actor("malleable,min=1,max=8", "-N2")
    offer = app.event("offer_expand")
    if state != "offered":
        app.do("accept", offer["op"])
    if state in ("applied", "done"):
        app.event("accepted")
        app.event("resized")
    if state == "done":
        app.do("done", offer["op"])
        cluster.wait_journal(app.job, "ready")
    cluster.run("scancel", app.job)
    cluster.wait_journal(app.job, "end")
    if state == "offered":
        cluster.wait_journal(app.job, "cancel", op=offer["op"])
    other = cluster.sbatch("-N8", wrap="sleep 600")
    cluster.wait_state(other, "RUNNING")
    wait_until(lambda: not any("agreement" in job for job in cluster.selastic("jobs")["jobs"]),
               "nothing is in flight")
