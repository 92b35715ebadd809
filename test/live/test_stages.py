# SPDX-License-Identifier: MIT
"""The four stages of [lina] algorithm 1 on live jobs, and the choices within them."""

import pytest

from elastic_live import wait_until

LINA = {"Policy": "lina-default", "ResizeGap": 0}
of_sizes = pytest.mark.starts_itself("a job starts with what it asks for")
of_loans = pytest.mark.starts_itself("its loops take nodes that are lent for nodes in use")
of_promises = pytest.mark.starts_itself("backfill's own plan binds, and only that")


@pytest.mark.smoke
def test_a_malleable_job_shrinks_for_a_pending_one(cluster, elastic):
    elastic(**LINA)
    app = cluster.actor("malleable,min=2,max=8", "-N8")
    waiting = cluster.sbatch("-N3", "--exclusive", wrap="sleep 60")
    offer = app.event("offer_shrink")
    assert (offer["nodes"], offer["size"]) == (3, 5), "as much as is needed, no more"
    assert str(waiting) in offer["reason"]
    leaving = cluster.expand(offer["node_list"])
    app.do("accept", offer["op"])
    app.event("accepted")
    assert cluster.state(waiting) == "PENDING"
    app.do("done", offer["op"])
    app.event("resized")
    cluster.wait_state(waiting, "RUNNING")
    assert cluster.nodes_of(waiting) == leaving
    # Handed over: no moment between the two in which the nodes were anybody's.
    resize = cluster.wait_journal(app.job, "resize")
    assert cluster.wait_journal(waiting, "start")["time"] == resize["time"]


@of_sizes
def test_a_short_job_starts_with_more_nodes_of_a_long_one(cluster, elastic):
    elastic(**LINA, InitialSize="beneficial")
    long = cluster.actor("malleable,min=2,max=8", "-N8", "--time=50")
    short = cluster.sbatch("--elastic=malleable,min=1,pref=2,max=5", "-N2", "--exclusive",
                           "--time=5", wrap="sleep 60")
    assert long.take_shrink()["size"] == 3
    cluster.wait_state(short, "RUNNING")
    assert len(cluster.nodes_of(short)) == 5


def test_a_long_job_starts_with_what_it_asks_for(cluster, elastic):
    elastic(**LINA, InitialSize="beneficial")
    running = cluster.actor("malleable,min=1,max=4", "-N4", "--time=50")
    cluster.sbatch("-N4", "--exclusive", "--time=50", wrap="sleep 600")
    asking = cluster.sbatch("--elastic=malleable,min=2,pref=2,max=5,rho=0.9", "-N2", "--exclusive",
                            "--time=50", wrap="sleep 60")
    assert running.take_shrink()["size"] == 2
    cluster.wait_state(asking, "RUNNING")
    assert len(cluster.nodes_of(asking)) == 2


@of_sizes
def test_a_job_that_ends_sooner_by_waiting_waits(cluster, elastic):
    elastic(**LINA, InitialSize="beneficial")
    app = cluster.actor("malleable,min=4,max=8", "-N8", "--time=10")
    asking = cluster.sbatch("--elastic=malleable,min=2,pref=8,max=8", "-N8", "--exclusive",
                            "--time=50", wrap="sleep 60")
    cluster.wait_two_passes()
    assert not cluster.journal(app.job, "offer")
    assert cluster.state(asking) == "PENDING"
    elastic(**LINA, InitialSize="flexible")
    assert app.take_shrink()["size"] == 6
    cluster.wait_state(asking, "RUNNING")


def test_idle_nodes_wait_for_victims_nodes(cluster, elastic):
    elastic(**LINA, InitialSize="flexible")
    app = cluster.actor("malleable,min=2,max=7", "-N7")
    claimed = cluster.sbatch("--elastic=malleable,min=3,pref=4,max=4", "-N4", "--exclusive",
                             wrap="sleep 60")
    offer = app.event("offer_shrink")
    assert offer["nodes"] == 3, "one is idle"
    later = cluster.sbatch("-N1", "--exclusive", "--time=1", wrap="sleep 60")
    cluster.wait_two_passes()
    assert cluster.state(later) == "PENDING"
    app.do("accept", offer["op"])
    app.event("accepted")
    app.do("done", offer["op"])
    cluster.wait_state(claimed, "RUNNING")
    assert len(cluster.nodes_of(claimed)) == 4


def test_a_malleable_job_expands_over_nodes_nobody_can_use(cluster, elastic):
    app = cluster.actor("malleable,min=2,max=6", "-N2")
    elastic(**LINA)
    offer = app.event("offer_expand")
    assert offer["nodes"] == 4
    app.do("accept", offer["op"])
    app.event("accepted")
    assert app.event("resized")["size"] == 6


def test_the_longest_remaining_time_expands_first(cluster, elastic):
    short = cluster.actor("malleable,min=2,max=6", "-N2", "--time=10")
    long = cluster.actor("malleable,min=2,max=6", "-N2", "--time=50")
    elastic(**LINA)
    assert long.event("offer_expand")["nodes"] == 4
    short.no_event()


def test_nothing_is_expanded_that_a_pending_job_could_use(cluster, elastic):
    app = cluster.actor("malleable,min=2,max=6", "-N2")
    rigid = cluster.sbatch("-N6", "--exclusive", "--time=10", "--hold", wrap="sleep 60")
    cluster.run("scontrol", "release", rigid)
    elastic(**LINA)
    cluster.wait_state(rigid, "RUNNING")
    app.no_event()


def reserved_nodes(cluster):
    """Two nodes are idle, one of them reserved for a job that waits for four others; and an
    application that could use both, but none of these others."""
    others = cluster.sbatch("-N4", "--exclusive", "--time=10", wrap="sleep 600")
    app = cluster.actor("malleable,min=2,max=4", "-N2", "--time=50")
    waiting = cluster.sbatch("-N5", "--exclusive", "--time=10", wrap="sleep 600")
    wait_until(lambda: cluster.job(waiting)["Reason"] == "Resources", "the job waits")
    return app, others, waiting


def test_reserved_nodes_are_kept(cluster, elastic):
    app, _, _ = reserved_nodes(cluster)
    elastic(**LINA)
    assert app.event("offer_expand")["nodes"] == 1


@of_loans
def test_reserved_nodes_are_lent_and_come_back(cluster, elastic):
    app, others, waiting = reserved_nodes(cluster)
    elastic(**LINA, ReservedNodes="lent")
    offer = app.event("offer_expand")
    assert (offer["nodes"], offer["reason"]) == (2, "lent until a reserved job can start")
    app.do("accept", offer["op"])
    app.event("accepted")
    assert app.event("resized")["size"] == 4
    app.do("done", offer["op"])
    cluster.run("scancel", others)
    assert app.take_shrink()["size"] in (2, 3), "the others' nodes come free one by one"
    cluster.wait_state(waiting, "RUNNING")


@of_loans
def test_who_has_declined_is_lent_nothing(cluster, elastic):
    app, _, _ = reserved_nodes(cluster)
    elastic(**LINA, ReservedNodes="lent")
    offer = app.event("offer_expand")
    assert offer["nodes"] == 2
    app.do("decline", offer["op"], "not now")
    assert app.event("ended")["outcome"] == "declined"
    assert app.event("offer_expand")["nodes"] == 1


@of_sizes
def test_a_job_that_is_expanded_from_its_start_makes_room(cluster, elastic):
    elastic(**LINA, ExpandFrom="start")
    app = cluster.actor("malleable,min=1,max=6", "-N2", "--time=10")
    assert cluster.wait_journal(app.job, "start")["count"] == 6
    assert cluster.job(app.job)["TimeLimit"] == "00:10:00", "that which it asked for"
    waiting = cluster.sbatch("-N5", "--exclusive", wrap="sleep 60")
    assert app.take_shrink()["size"] == 3
    cluster.wait_state(waiting, "RUNNING")
    assert [resize["kind"] for resize in cluster.journal(app.job, "resize")] == ["shrink"]


@of_sizes
def test_a_job_is_expanded_from_its_start_as_far_as_its_partition_allows(cluster, elastic):
    elastic(**LINA, ExpandFrom="start")
    app = cluster.actor("malleable,min=1,max=6", "-N2", "--hold", wait=False)
    cluster.run("scontrol", "update", "PartitionName=debug", "MaxNodes=4")
    try:
        cluster.run("scontrol", "release", app.job)
        app.wait_connected()
        assert len(cluster.nodes_of(app.job)) == 4
    finally:
        cluster.run("scontrol", "update", "PartitionName=debug", "MaxNodes=UNLIMITED")


@of_loans
def test_no_job_is_expanded_from_its_start_over_reserved_nodes(cluster, elastic):
    """Whether it would give them back is not known before it runs; then it is lent them."""
    cluster.sbatch("-N4", "--exclusive", "--time=10", wrap="sleep 600")
    waiting = cluster.sbatch("-N6", "--exclusive", "--time=10", wrap="sleep 600")
    wait_until(lambda: cluster.job(waiting)["Reason"] == "Resources", "the job waits")
    elastic(Policy="lina-default", ExpandFrom="start", ReservedNodes="lent", ResizeGap=2)
    app = cluster.actor("malleable,min=1,max=8", "-N1", "--time=50")
    assert cluster.wait_journal(app.job, "start")["count"] == 2
    offer = app.event("offer_expand")
    assert (offer["nodes"], offer["reason"]) == (2, "lent until a reserved job can start")


def test_expansion_yields_to_a_submission(cluster, elastic):
    """An offer not accepted yet is withdrawn when somebody else needs the nodes."""
    app = cluster.actor("malleable,min=2,max=8", "-N2")
    elastic(**LINA)
    offer = app.event("offer_expand")
    rigid = cluster.sbatch("-N6", "--exclusive", "--time=10", wrap="sleep 60")
    ended = app.event("ended")
    assert (ended["op"], ended["outcome"]) == (offer["op"], "cancelled")
    cluster.wait_state(rigid, "RUNNING")


@pytest.mark.parametrize("order", ["shrinkable", "gain"])
def test_victim_order(cluster, elastic, order):
    # `small` will have gained most, `large` has most above its minimum.
    large = cluster.actor("malleable,min=1,max=5", "-N5")
    small = cluster.actor("malleable,min=1,max=3", "-N1")
    cluster.run("selastic", "expand", small.job, 3)
    small.take_expand()
    elastic(**LINA, VictimOrder=order)
    cluster.sbatch("-N1", "--exclusive", wrap="sleep 60")
    victim, spared = (large, small) if order == "shrinkable" else (small, large)
    assert victim.event("offer_shrink")["nodes"] == 1
    spared.no_event()


def test_several_victims(cluster, elastic):
    apps = [cluster.actor("malleable,min=1,max=4", "-N4") for _ in range(2)]
    elastic(**LINA)
    waiting = cluster.sbatch("-N5", "--exclusive", wrap="sleep 60")
    offers = [app.event("offer_shrink") for app in apps]
    assert sum(offer["nodes"] for offer in offers) == 5
    for app, offer in zip(apps, offers):
        assert cluster.state(waiting) == "PENDING"
        app.do("accept", offer["op"])
        app.event("accepted")
        app.do("done", offer["op"])
    for app in apps:
        app.event("resized")
    cluster.wait_state(waiting, "RUNNING")


def test_a_guard_that_says_never(cluster, elastic):
    elastic(**LINA, ShrinkGuard="never")
    app = cluster.actor("malleable,min=2,max=8", "-N8")
    waiting = cluster.sbatch("-N3", "--exclusive", wrap="true")
    wait_until(lambda: cluster.job(waiting)["Reason"] == "Resources", "the job waits")
    app.no_event()


def test_a_busy_system_shrinks_nobody_by_the_text(cluster, elastic):
    """[lina] algorithm 7, whose listing does, as no job ends soon."""
    elastic(**LINA, ShrinkGuard="system-text")
    app = cluster.actor("malleable,min=2,max=8", "-N8")
    waiting = cluster.sbatch("-N3", "--exclusive", wrap="true")
    wait_until(lambda: cluster.job(waiting)["Reason"] == "Resources", "the job waits")
    app.no_event()
    elastic(**LINA, ShrinkGuard="system")
    assert app.event("offer_shrink")["nodes"] == 3


def test_a_job_is_shrunk_again_or_never(cluster, elastic):
    elastic(**LINA, ShrinkAgain="never")
    app = cluster.actor("malleable,min=2,max=8", "-N8")
    cluster.sbatch("-N2", "--exclusive", wrap="sleep 60")
    app.take_shrink()
    waiting = cluster.sbatch("-N2", "--exclusive", wrap="sleep 60")
    wait_until(lambda: cluster.job(waiting)["Reason"] == "Resources", "the job waits")
    app.no_event()
    elastic(**LINA)
    assert app.event("offer_shrink")["nodes"] == 2


def test_jobs_are_shrunk_for_anybody(cluster, elastic):
    """Each gives its share, and who waits finds the nodes idle."""
    apps = [cluster.actor("malleable,min=1,max=4", "-N4") for _ in range(2)]
    elastic(**LINA, ShrinkFor="anybody", ShrinkAmount="share")
    waiting = cluster.sbatch("-N2", "--exclusive", wrap="sleep 60")
    for app in apps:
        assert app.take_shrink()["size"] == 3
        assert "beneficiary" not in cluster.wait_journal(app.job, "offer")
    cluster.wait_state(waiting, "RUNNING")


def test_nobody_is_shrunk_in_vain(cluster, elastic):
    """The job could not start even if all shrank."""
    elastic(**LINA)
    app = cluster.actor("malleable,min=4,max=8", "-N8")
    waiting = cluster.sbatch("-N6", "--exclusive", wrap="true")
    wait_until(lambda: cluster.job(waiting)["Reason"] == "Resources", "the job waits")
    app.no_event()


def test_the_resize_gap(cluster, elastic):
    elastic(Policy="lina-default", ResizeGap=2)
    app = cluster.actor("malleable,min=1,max=8", "-N8")
    cluster.sbatch("-N1", "--exclusive", wrap="sleep 60")
    app.take_shrink()
    first = cluster.wait_journal(app.job, "resize")["time"]
    cluster.sbatch("-N1", "--exclusive", wrap="sleep 60")
    app.event("offer_shrink")
    assert cluster.journal(app.job, "offer")[-1]["time"] >= first + 2


def test_back_off_after_a_refusal(cluster, elastic):
    elastic(**{**LINA, "BackOff": 2})
    app = cluster.actor("malleable,min=1,max=8", "-N8")
    cluster.sbatch("-N1", "--exclusive", wrap="sleep 60")
    offer = app.event("offer_shrink")
    app.do("decline", offer["op"], "not now")
    assert app.event("ended")["outcome"] == "declined"
    declined = cluster.wait_journal(app.job, "decline")["time"]
    app.event("offer_shrink")
    assert cluster.journal(app.job, "offer")[-1]["time"] >= declined + 2


def test_a_request_is_granted_by_a_victim(cluster, elastic):
    elastic(**LINA)
    victim = cluster.actor("malleable,min=2,max=6", "-N6")
    evolving = cluster.actor("evolving,min=1,max=4", "-N2")
    evolving.do("request", 2, 2, 30.0)
    evolving.event("queued")
    offer = victim.event("offer_shrink")
    assert offer["nodes"] == 2
    victim.do("accept", offer["op"])
    victim.event("accepted")
    victim.do("done", offer["op"])
    victim.event("resized")
    resized = evolving.event("resized")
    assert resized["size"] == 4
    assert cluster.expand(resized["node_list"]) == cluster.expand(offer["node_list"])


@pytest.mark.parametrize("delay, granted", [("0", False), pytest.param("unlimited", True, marks=of_promises)])
def test_a_request_leaves_a_promised_start(cluster, elastic, delay, granted):
    """The idle nodes that it asks for are those that the head of the queue counts on at the end of another job."""
    elastic(**LINA, HeadDelay=delay)
    evolving = cluster.actor("evolving,min=1,max=4", "-N2", "--time=60")
    other = cluster.sbatch("-N4", "--exclusive", "--time=5", wrap="sleep 600")
    cluster.wait_state(other, "RUNNING")
    head = cluster.sbatch("-N6", "--exclusive", "--time=5", wrap="sleep 600")
    wait_until(lambda: cluster.job(head)["StartTime"] != "Unknown", "it has been promised a start")
    promised = cluster.job(head)["StartTime"]
    evolving.do("request", 2, 2, 1.0)
    evolving.event("queued")
    if granted:
        assert evolving.event("resized")["size"] == 4
    else:
        assert evolving.event("ended")["outcome"] == "denied"
        assert cluster.job(head)["StartTime"] == promised


@of_promises
@pytest.mark.parametrize("binds, overtakes", [("all", False), ("requests", True)])
def test_nobody_is_backfilled_past_a_promised_start(cluster, elastic, binds, overtakes):
    """A job gives nodes back and so runs longer, which leaves time for others before the head of the queue."""
    elastic(**LINA, HeadDelay=0, HeadDelayBinds=binds)
    evolving = cluster.actor("evolving,min=1,max=4", "-N4", "--time=20")
    head = cluster.sbatch("-N8", "--exclusive", "--time=5", wrap="sleep 600")
    wait_until(lambda: cluster.job(head)["StartTime"] != "Unknown", "it has been promised a start")
    promised = cluster.job(head)["StartTime"]
    evolving.do("release", 3, None)
    evolving.event("queued")
    evolving.event("resized")
    wait_until(lambda: cluster.job(head)["StartTime"] > promised, "its start is pushed back")
    beyond = cluster.sbatch("-N4", "--exclusive", "--time=30", wrap="sleep 600")
    within = cluster.sbatch("-N2", "--exclusive", "--time=10", wrap="sleep 600")
    cluster.wait_state(within, "RUNNING")
    cluster.wait_two_passes()
    assert cluster.state(beyond) == ("RUNNING" if overtakes else "PENDING")


def test_a_release_lets_others_start(cluster, elastic):
    elastic(**LINA)
    app = cluster.actor("evolving,min=1,max=8", "-N8")
    waiting = cluster.sbatch("-N3", "--exclusive", wrap="sleep 60")
    app.do("release", 3, None)
    app.event("queued")
    app.event("resized")
    cluster.wait_state(waiting, "RUNNING")


@of_sizes
def test_a_job_that_starts_with_fewer_nodes_than_it_asked_for(cluster, elastic):
    """Also where its tasks, one a node, are more than the processors it gets; and it is given the
    time that it then takes."""
    elastic(Policy="elastic")
    cluster.sbatch("-N7", "--exclusive", "--time=60", wrap="sleep 60")
    small = cluster.sbatch("--elastic=malleable,min=1,max=8", "-N8", "--time=5", wrap="sleep 60")
    cluster.wait_state(small, "RUNNING")
    assert len(cluster.nodes_of(small)) == 1
    assert cluster.job(small)["TimeLimit"] == "00:40:00"
