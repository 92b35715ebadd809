# SPDX-License-Identifier: MIT
"""Jobs that are suspended: they cannot answer, so nobody asks them or waits for them.

Slurm gives the nodes of a suspended job to others, so nothing has to be agreed for
that; what was in flight is over at once, and after the resumption all is as before.
"""

import pytest
from elastic_live import wait_until


def suspend(cluster, job):
    cluster.run("scontrol", "suspend", job)
    cluster.wait_journal(job, "end", state="SUSPENDED")


def resume(cluster, job):
    starts = len(cluster.journal(job, "start"))
    cluster.run("scontrol", "resume", job)
    wait_until(lambda: len(cluster.journal(job, "start")) > starts, f"job {job} is resumed")


def in_flight(cluster, job):
    return cluster.selastic("show", job)["job"].get("agreement")


def takes_part(cluster, app):
    """It shrinks when asked."""
    size = len(cluster.nodes_of(app.job))
    cluster.run("selastic", "shrink", app.job, size - 1)
    assert app.take_shrink()["size"] == size - 1


STATES = ["offered shrink", "accepted shrink", "offered expand", "applied expand",
          "queued request"]


@pytest.mark.parametrize("state", STATES)
def test_what_was_in_flight_is_over(cluster, adaptive, state):
    adaptive(GraceTime=600, ExpandTrigger="never")
    app = cluster.actor("malleable+evolving,min=1,max=8", "-N4")
    step, kind = state.split()
    if kind == "request":
        blocker = cluster.sbatch("-N4", wrap="sleep 600")
        cluster.wait_state(blocker, "RUNNING")
        app.do("request", 2, 2, 600.0)
        op = app.event("queued")["op"]
    else:
        cluster.run("selastic", kind, app.job, 2 if kind == "shrink" else 6)
        op = app.event(f"offer_{kind}")["op"]
    if step in ("accepted", "applied"):
        app.do("accept", op)
        app.event("accepted")
    if step == "applied":
        app.event("resized")
    suspend(cluster, app.job)
    assert not in_flight(cluster, app.job)
    assert cluster.selastic("show", app.job)["job"]["state"] == "SUSPENDED"
    assert cluster.run("selastic", "shrink", app.job, 2, check=False).code != 0
    resume(cluster, app.job)
    if step != "applied":
        ended = app.event("ended")
        assert (ended["op"], ended["outcome"]) == (op, "cancelled")
        assert "suspended" in ended["reason"]
    takes_part(cluster, app)


@pytest.mark.smoke
def test_one_of_two_victims(cluster, adaptive):
    """Its share of the nodes is free now: the waiting job starts on them."""
    adaptive(GraceTime=600, ExpandTrigger="never")
    victims = [cluster.actor("malleable,min=2,max=4", "-N4") for _ in range(2)]
    waiting = cluster.actor("malleable,min=4,max=4", "-N4", wait=False)
    offers = [app.event("offer_shrink") for app in victims]
    victims[0].do("accept", offers[0]["op"])
    victims[0].event("accepted")
    victims[0].do("done", offers[0]["op"])
    cluster.wait_journal(victims[0].job, "release")
    suspend(cluster, victims[0].job)
    waiting.wait_connected()
    ended = victims[1].event("ended")
    assert (ended["op"], ended["outcome"]) == (offers[1]["op"], "cancelled")
    waiting.exit()
    cluster.wait_state(waiting.job, "COMPLETED")
    resume(cluster, victims[0].job)
    assert victims[0].event("ended")["outcome"] == "cancelled"
    takes_part(cluster, victims[0])


def test_a_beneficiary_that_runs(cluster, adaptive):
    """Its victims are let go."""
    adaptive(GraceTime=600, ExpandTrigger="never")
    victim = cluster.actor("malleable,min=2,max=6", "-N6")
    app = cluster.actor("evolving,min=1,max=4", "-N2")
    app.do("request", 2, 2, 600.0)
    op = app.event("queued")["op"]
    victim.event("offer_shrink")
    suspend(cluster, app.job)
    assert victim.event("ended")["outcome"] == "cancelled"
    resume(cluster, app.job)
    assert app.event("ended")["op"] == op
    assert len(cluster.nodes_of(victim.job)) == 6


def test_nobody_asks_a_suspended_job(cluster, adaptive):
    """Neither to shrink for another nor to grow on idle nodes."""
    adaptive(GraceTime=600, BackOff=1)
    app = cluster.actor("malleable,min=1,max=8", "-N6")
    app.do("decline", app.event("offer_expand")["op"], "not now")
    app.event("ended")
    suspend(cluster, app.job)
    for _ in range(2):
        other = cluster.sbatch("-N8", wrap="sleep 600")
        cluster.wait_state(other, "RUNNING")
        cluster.run("scancel", other)
        cluster.wait_state(other, "CANCELLED")
    assert len(cluster.journal(app.job, "offer")) == 1
    resume(cluster, app.job)
    assert app.take_expand()["size"] == 8


def test_a_suspended_job_ends(cluster, expect_errors):
    expect_errors.append("select_g_job_fini")  # stock select/linear
    app = cluster.actor("malleable,min=1,max=8", "-N4")
    suspend(cluster, app.job)
    cluster.run("scancel", app.job)
    cluster.wait_journal(app.job, "end", state="CANCELLED", count=0)


def test_controller_dies_meanwhile(cluster, adaptive):
    adaptive(GraceTime=600, ExpandTrigger="never")
    app = cluster.actor("malleable,min=1,max=8", "-N4")
    suspend(cluster, app.job)
    cluster.restart_controller()
    resume(cluster, app.job)
    wait_until(lambda: app.state()["connected"], "the application has reconnected")
    takes_part(cluster, app)
