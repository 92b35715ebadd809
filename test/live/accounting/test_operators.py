# SPDX-License-Identifier: MIT
"""What an operator may do who is no administrator: what concerns jobs, but nothing that changes nodes."""

import pytest

pytestmark = pytest.mark.modes("ms")
OPERATOR = "games"


@pytest.fixture
def operator(cluster, account):
    """A user whose AdminLevel is Operator."""
    account.sacctmgr("add", "user", OPERATOR, f"account={account.name}", "adminlevel=Operator")
    account.wait_shown(lambda: cluster.run("scontrol", "show", "assoc_mgr", "flags=users", f"users={OPERATOR}").out,
                       "AdminLevel=Operator")
    yield OPERATOR
    account.sacctmgr("delete", "user", OPERATOR)


def test_an_operator_empties_only_what_is_drained(cluster, account, operator):
    app = account.actor("malleable,min=1,max=3", "-N3")  # of the size at which it gets no node in place of another
    node = cluster.nodes_of(app.job)[-1]
    refused = cluster.run("selastic", "evacuate", node, user=operator, check=False)
    assert refused.code == 1 and "administrators drain nodes" in refused.err, str(refused)
    assert cluster.node_states()[node] == "allocated"
    app.no_event()
    cluster.run("scontrol", "update", f"NodeName={node}", "State=DRAIN", "Reason=broken fan")
    try:
        asked = cluster.run("selastic", "evacuate", node, "--timeout", "0", user=operator, check=False)
        assert asked.code == 1 and "1 job is left" in asked.err, str(asked)
        assert cluster.expand(app.take_shrink()["node_list"]) == [node]
        cluster.run("selastic", "evacuate", node, user=operator)
    finally:
        cluster.run("scontrol", "update", f"NodeName={node}", "State=RESUME")


def test_an_operator_steers_jobs_of_others(cluster, account, operator):
    app = account.actor("malleable,min=1,max=4", "-N2")
    cluster.run("selastic", "expand", app.job, 4, user=operator)
    assert app.take_expand()["size"] == 4
