# SPDX-License-Identifier: MIT
"""What a job's time limit becomes when the job gives up nodes, and whose word counts."""

import datetime

from elastic_live import wait_until


def end_of(cluster, job):
    return datetime.datetime.fromisoformat(cluster.job(job)["EndTime"])


def shrink(cluster, app, nodes):
    cluster.run("selastic", "shrink", app.job, nodes)
    app.take_shrink()


def test_a_limit_that_an_administrator_has_set_is_kept(cluster):
    app = cluster.actor("malleable,min=1,max=4", "-N4", "--time=120")
    shrink(cluster, app, 3)
    assert cluster.job(app.job)["TimeLimit"] > "02:00:00"
    cluster.run("scontrol", "update", f"JobId={app.job}", "TimeLimit=5")
    shrink(cluster, app, 1)
    assert cluster.job(app.job)["TimeLimit"] == "00:05:00"


def test_a_limit_that_is_set_while_a_job_gives_up_nodes_is_kept(cluster):
    app = cluster.actor("malleable,min=1,max=4", "-N4", "--time=120")
    cluster.run("selastic", "shrink", app.job, 1)
    offer = app.event("offer_shrink")
    app.do("accept", offer["op"])
    app.event("accepted")
    cluster.run("scontrol", "update", f"JobId={app.job}", "TimeLimit=5")
    app.do("done", offer["op"])
    app.event("resized")
    assert cluster.job(app.job)["TimeLimit"] == "00:05:00"


def test_nobody_is_asked_to_shrink_who_may_have_no_more_time(cluster, elastic):
    elastic(Policy="lina-default", ResizeGap=0)
    kept = cluster.actor("malleable,min=1,max=4", "-N4", "--time=120")
    cluster.run("scontrol", "update", f"JobId={kept.job}", "TimeLimit=60")
    other = cluster.actor("malleable,min=1,max=4", "-N4", "--time=120")
    waiting = cluster.sbatch("-N3", "--exclusive", wrap="sleep 600")
    assert other.take_shrink()["size"] == 1
    cluster.wait_state(waiting, "RUNNING")
    assert not cluster.journal(kept.job, "offer")


def test_an_extension_ends_where_a_reservation_of_its_nodes_begins(cluster):
    app = cluster.actor("malleable,min=1,max=4", "-N4", "--time=2")
    begin = end_of(cluster, app.job) + datetime.timedelta(seconds=20)
    cluster.run("scontrol", "create", "reservation", "ReservationName=maintenance", "Users=root",
                f"Nodes={','.join(cluster.nodes_of(app.job))}", f"StartTime={begin.isoformat()}", "Duration=1")
    try:
        shrink(cluster, app, 1)
        assert end_of(cluster, app.job) == begin
    finally:
        cluster.run("scancel", app.job)
        wait_until(lambda: cluster.state(app.job) != "RUNNING", "the job has ended")
        cluster.run("scontrol", "delete", "ReservationName=maintenance")


def test_an_extension_ends_at_the_deadline(cluster):
    app = cluster.actor("malleable,min=1,max=4", "-N4", "--time=2", "--deadline=now+150seconds")
    deadline = datetime.datetime.fromisoformat(cluster.job(app.job)["Deadline"])
    shrink(cluster, app, 1)
    assert end_of(cluster, app.job) == deadline


def test_a_raised_limit_counts_for_those_who_wait(cluster, elastic):
    elastic(Policy="lina-default", ResizeGap=0, ExpandTrigger="never", ShrinkGuard="never")
    app = cluster.actor("malleable,min=1,max=8", "-N2", "--time=1")
    cluster.run("selastic", "expand", app.job, 4)
    app.take_expand()  # by its first limit it is done in half a minute
    cluster.run("scontrol", "update", f"JobId={app.job}", "TimeLimit=180")
    head = cluster.sbatch("-N8", "--exclusive", "--time=10", wrap="sleep 600")
    backfilled = cluster.sbatch("-N4", "--exclusive", "--time=30", wrap="sleep 600")
    cluster.wait_state(backfilled, "RUNNING")
    assert cluster.state(head) == "PENDING"


def test_a_pass_with_a_limit_that_is_kept_can_be_made_again(cluster, elastic):
    """The job keeps the nodes it has, which are more than it prefers."""
    elastic(Policy="lina-default", ResizeGap=0, ExpandTrigger="never")
    app = cluster.actor("malleable,min=1,max=8", "-N2", "--time=120")
    cluster.run("selastic", "expand", app.job, 4)
    app.take_expand()
    cluster.run("scontrol", "update", f"JobId={app.job}", "TimeLimit=60")
    wait_until(lambda: f"job {app.job}: its time limit was changed by others" in cluster.log, "the new limit is seen")
    cluster.sbatch("-N6", "--exclusive", wrap="sleep 600")
    cluster.wait_two_passes()
    recording = cluster.run("selastic", "snapshot").out
    replayed = cluster.run("selastic-sim", "replay-snapshot", "-", stdin=recording, check=False)
    assert replayed.code == 0, str(replayed)
