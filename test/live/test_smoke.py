# SPDX-License-Identifier: MIT
"""An agreement in each direction, from the offer to the last record, in every configuration."""

import pytest

pytestmark = pytest.mark.smoke


def test_shrink_by_hand_and_grow_again(cluster):
    app = cluster.actor("malleable,min=1,max=8", "-N4")
    assert app.opened["result"] == 0
    assert app.opened["nodes"] == 4
    batch_host = app.opened["batch_host"]

    cluster.run("selastic", "shrink", app.job, 2)
    resized = app.take_shrink()
    assert (resized["kind"], resized["nodes"], resized["size"]) == ("shrink", 2, 2)
    assert len(cluster.nodes_of(app.job)) == 2
    assert batch_host in cluster.nodes_of(app.job)

    cluster.run("selastic", "expand", app.job, 5)
    resized = app.take_expand()
    assert (resized["kind"], resized["nodes"], resized["size"]) == ("expand", 3, 5)
    assert len(cluster.nodes_of(app.job)) == 5

    app.exit()
    cluster.wait_state(app.job, "COMPLETED")
    assert [entry["event"] for entry in cluster.journal(app.job)][-1] == "end" or \
        cluster.wait_journal(app.job, "end", state="COMPLETED")
