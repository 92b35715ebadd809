# SPDX-License-Identifier: MIT
"""Observe=yes: what would be resized is planned and told, and nobody is asked for anything."""

import pytest
from elastic_live import ELASTIC, Cluster, wait_until

pytestmark = [pytest.mark.modes("ms")]
OBSERVING = {**ELASTIC, "Policy": "elastic", "Observe": "yes"}


@pytest.fixture(scope="module")
def cluster(request):
    mode, select = request.param
    with Cluster(mode, select, build=request.config.getoption("--build"),
                 elastic=[f"{key}={value}" for key, value in OBSERVING.items()]) as started:
        yield started


def would(cluster, job):
    """[(what, count, beneficiary, is over)...] that the journal says of it."""
    return [(entry["what"], entry["count"], entry.get("beneficiary", 0), "lasted" in entry)
            for entry in cluster.journal(job, "would")]


def test_a_growth_over_idle_nodes(cluster):
    app = cluster.actor("malleable,min=2,max=8", "-N2")
    wait_until(lambda: would(cluster, app.job) == [("expand", 6, 0, False)], "it would grow over all nodes")
    assert "would grow by 6 nodes" in cluster.run("selastic", "jobs").out
    cluster.wait_state(cluster.sbatch("-N6", "--exclusive", "--time=5", wrap="sleep 600"), "RUNNING")
    wait_until(lambda: would(cluster, app.job)[1:] == [("expand", 6, 0, True)], "and would not any more")
    assert "would" not in cluster.run("selastic", "jobs").out
    app.no_event()
    app.exit()


def test_a_shrink_for_a_job_that_waits(cluster):
    app = cluster.actor("malleable,min=2,max=8", "-N8", "--time=10")
    waiting = cluster.sbatch("-N4", "--exclusive", "--time=1", wrap="true")
    wait_until(lambda: would(cluster, waiting) == [("start", 4, 0, False)], "it would start")
    assert would(cluster, app.job) == [("shrink", 4, waiting, False)]
    cluster.wait_two_passes()
    app.no_event()
    assert cluster.state(waiting) == "PENDING"
    app.exit()
    cluster.wait_state(waiting, "COMPLETED")
    wait_until(lambda: would(cluster, waiting)[1:] == [("start", 4, 0, True)], "that is over")
    said = cluster.run("selastic", "observed", cluster.journal_path()).out
    assert "jobs would have started earlier" in said
    assert not cluster.journal(event="offer") and not cluster.journal(event="resize")


def test_a_request_is_denied_with_the_reason(cluster):
    app = cluster.actor("evolving,min=1,max=8", "-N2")
    app.do("request", 2, 1, 5.0)
    while (event := app.event())["event"] != "ended":
        pass
    assert event["outcome"] == "denied" and "Observe=yes" in event["reason"]


def test_jobs_are_resized_once_it_is_taken_away(cluster):
    app = cluster.actor("malleable,min=2,max=8", "-N2")
    wait_until(lambda: would(cluster, app.job), "it would grow")
    cluster.set_elastic(**{**OBSERVING, "Observe": "no"})
    try:
        assert app.take_expand()["size"] == 8
        assert would(cluster, app.job)[-1][-1], "what was observed is over"
    finally:
        cluster.set_elastic(**OBSERVING)
