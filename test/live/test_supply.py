# SPDX-License-Identifier: MIT
"""[gupta] section VII: nodes that fail are left, prices and caps are followed, without anybody asking."""

import contextlib
import json

import pytest
from elastic_live import wait_until
from test_run import Workers


@pytest.fixture
def supply(cluster, elastic):
    """supply(text, Key=value...): what nodes cost and how many may be used, from now on, for this test. The file is
    left, since it is looked at until elastic.conf is as before."""
    path = cluster.dir / "supply"

    def say(text, **settings):
        path.write_text(text)
        elastic(SupplyFile=str(path), SupplyInterval=1, **settings)

    return say


@pytest.fixture
def mark(cluster):
    """mark(node, state): sets it, until the end of the test."""
    marked = []

    def set_state(node, state):
        marked.append(node)
        cluster.run("scontrol", "update", f"NodeName={node}", f"State={state}", "Reason=a fan")

    yield set_state
    cluster.end_jobs()
    for node in marked:
        resume(cluster, node)


def resume(cluster, node):
    if not cluster.node_states()[node].startswith(("idle", "alloc")):
        cluster.run("scontrol", "update", f"NodeName={node}", "State=RESUME")


def say(cluster, text):
    """Another supply, which nobody is told of."""
    path = cluster.dir / "supply"
    path.with_suffix(".new").write_text(text)
    path.with_suffix(".new").replace(path)


# ---- nodes that fail

@pytest.mark.smoke
@pytest.mark.parametrize("state", ["DRAIN", "FAIL"])
def test_a_marked_node_is_left_and_the_job_comes_back_to_its_size(cluster, elastic, mark, state):
    """[gupta] figure 8: 16 nodes, 15, and 16 again."""
    app = cluster.actor("malleable,min=2,max=4", "-N4")
    elastic(Policy="lina-default")
    others = cluster.sbatch("-N", len(cluster.all_nodes) - 4, "--exclusive", wrap="sleep 120")
    cluster.wait_state(others, "RUNNING")
    last = cluster.nodes_of(app.job)[-1]
    mark(last, state)
    offer = app.event("offer_shrink")
    assert offer["node_list"] == last
    app.do("accept", offer["op"])
    app.event("accepted")
    app.do("done", offer["op"])
    app.event("resized")
    assert last not in cluster.nodes_of(app.job) and len(cluster.nodes_of(app.job)) == 3
    cluster.wait_journal(app.job, "resize", reason="the nodes are drained or failing")
    resume(cluster, last)
    app.take_expand()
    assert last in cluster.nodes_of(app.job) and len(cluster.nodes_of(app.job)) == 4


def test_a_node_is_replaced_where_there_is_another(cluster, mark):
    app = cluster.actor("malleable,min=3,max=6", "-N3")
    last = cluster.nodes_of(app.job)[-1]
    mark(last, "DRAIN")
    app.take_expand()
    app.take_shrink()
    assert last not in cluster.nodes_of(app.job) and len(cluster.nodes_of(app.job)) == 3
    cluster.wait_two_passes()
    app.no_event()


def test_a_node_is_kept_where_the_site_says_so(cluster, elastic, mark):
    app = cluster.actor("malleable,min=1,max=3", "-N3")
    _, middle, last = cluster.nodes_of(app.job)
    elastic(LeaveNodes="failing")
    mark(last, "DRAIN")
    cluster.wait_two_passes()
    app.no_event()
    mark(middle, "FAIL")
    assert app.event("offer_shrink")["node_list"] == middle


def test_the_batch_host_cannot_be_left(cluster, mark):
    app = cluster.actor("malleable,min=1,max=2", "-N2")
    batch, other = cluster.nodes_of(app.job)
    mark(batch, "DRAIN")
    wait_until(lambda: f"job {app.job}: cannot leave {batch}" in cluster.log, "the log says so")
    shown = cluster.run("selastic", "show", app.job).out
    assert f"cannot leave {batch}" in shown, shown
    mark(other, "DRAIN")
    app.take_shrink()
    assert cluster.nodes_of(app.job) == [batch]


def test_selastic_run_takes_workers_off_a_marked_node(cluster, mark):
    """The batch script's launcher answers; the program knows of nothing."""
    app = Workers(cluster, 3, annotation="malleable,min=1,max=3")
    last = cluster.nodes_of(app.job)[-1]
    mark(last, "DRAIN")
    assert app.told("leave")[1] == {last}
    cluster.wait_size(app.job, 2)
    assert last not in cluster.nodes_of(app.job)
    assert "status 0" in app.finish()


# ---- nodes that are to be maintained

@contextlib.contextmanager
def maintenance(cluster, nodes, **settings):
    settings = {"StartTime": "now+60", "Duration": 60, "Users": "daemon", "Flags": "MAINT,IGNORE_JOBS", **settings}
    cluster.run("scontrol", "create", "reservation", "ReservationName=fans", f"Nodes={nodes}",
                *(f"{key}={value}" for key, value in settings.items()))
    try:
        yield
    finally:
        cluster.end_jobs()
        cluster.run("scontrol", "delete", "ReservationName=fans", check=False)


@pytest.mark.parametrize("flags", ["MAINT,IGNORE_JOBS", "MAINT,IGNORE_JOBS,DAILY"])
def test_nodes_are_left_before_they_are_maintained(cluster, elastic, flags):
    elastic(LeaveNodes="maintenance", GraceTime=30)
    app = cluster.actor("malleable,min=2,max=3", "-N3")
    batch, _, last = cluster.nodes_of(app.job)
    rest = [node for node in cluster.all_nodes if node not in cluster.nodes_of(app.job)]
    with maintenance(cluster, f"{batch},{last}", StartTime="now+3600", Flags=flags):
        others = cluster.sbatch(f"-N{len(rest)}", "--exclusive", "-t2", wrap="sleep 100")
        cluster.wait_state(others, "RUNNING")
        cluster.wait_two_passes()
        app.no_event()
        cluster.run("scontrol", "update", "ReservationName=fans", "StartTime=now+60")
        offer = app.event("offer_shrink")
        assert offer["node_list"] == last
        app.do("accept", offer["op"])
        app.event("accepted")
        app.do("done", offer["op"])
        app.event("resized")
        cluster.wait_journal(app.job, "resize", reason="the nodes are reserved for maintenance")
        wait_until(lambda: f"job {app.job}: cannot leave {batch}, which is reserved for maintenance" in cluster.log,
                   "the log names the batch host")
        assert f"cannot leave {batch}" in cluster.run("selastic", "show", app.job).out
        cluster.wait_two_passes()
        app.no_event()


def test_a_maintained_node_is_replaced_where_there_is_another(cluster, elastic):
    elastic(LeaveNodes="maintenance", GraceTime=30)
    app = cluster.actor("malleable,min=3,max=4", "-N3")
    last = cluster.nodes_of(app.job)[-1]
    with maintenance(cluster, last):
        app.take_expand()
        app.take_shrink()
        assert last not in cluster.nodes_of(app.job) and len(cluster.nodes_of(app.job)) == 3


@pytest.mark.parametrize("why", ["not asked to", "no maintenance", "floats", "over by then", "its own"])
def test_nodes_are_kept(cluster, elastic, why):
    elastic(LeaveNodes="drained" if why == "not asked to" else "maintenance", GraceTime=30)
    options = {"over by then": ["-t1"], "its own": ["--reservation=fans"]}.get(why, [])
    settings = {"no maintenance": {"Flags": "IGNORE_JOBS"}, "floats": {"Flags": "MAINT,IGNORE_JOBS,TIME_FLOAT"},
                "over by then": {"StartTime": "now+90"},
                "its own": {"StartTime": "now", "Users": "root"}}.get(why, {})
    if why == "its own":
        with maintenance(cluster, f"{','.join(cluster.all_nodes[:3])}", **settings):
            app = cluster.actor("malleable,min=1,max=3", "-N3", *options)
            cluster.wait_two_passes()
            app.no_event()
        return
    app = cluster.actor("malleable,min=1,max=3", "-N3", *options)
    with maintenance(cluster, cluster.nodes_of(app.job)[-1], **settings):
        cluster.wait_two_passes()
        app.no_event()


# ---- prices

@pytest.mark.smoke
def test_a_job_shrinks_above_its_price_and_grows_below_it(cluster, supply):
    spot = f"{cluster.all_nodes[4]},{','.join(cluster.all_nodes[5:])}"
    supply(f"{spot} price=0.9\n", Policy="lina-default")
    app = cluster.actor("malleable,min=2,max=6,price=0.5", "-N2")
    static = cluster.all_nodes[:4]
    assert set(cluster.nodes_of(app.job)) <= set(static)
    app.take_expand()
    assert set(cluster.nodes_of(app.job)) == set(static)
    cluster.wait_two_passes()
    app.no_event()
    say(cluster, f"{spot} price=0.4\n")
    app.take_expand()
    assert len(cluster.nodes_of(app.job)) == 6
    say(cluster, f"{spot} price=0.6\n")
    app.take_shrink()
    assert set(cluster.nodes_of(app.job)) == set(static)
    prices = [event["price"] for event in cluster.journal(event="supply") if event["name"] == spot]
    assert prices[-3:] == [0.9, 0.4, 0.6], prices
    pass_seen = cluster.run("selastic", "snapshot").out
    assert '"price": 0.6' in pass_seen or '"price":0.6' in pass_seen
    replayed = cluster.run("selastic-sim", "replay-snapshot", "-", stdin=pass_seen)
    assert replayed.out.endswith("same plan\n"), str(replayed)
    app.exit()
    cluster.wait_state(app.job, "COMPLETED")
    cluster.wait_journal(app.job, "end")
    hours = json.loads(cluster.run("selastic", "hours", cluster.journal_path(), "--json").out)["jobs"]
    [own] = [one for one in hours if one["job"] == str(app.job)]
    assert 0 < own["priced"] < own["hours"]
    assert 0.4 * own["priced"] <= own["cost"] <= 0.6 * own["priced"]


def test_a_source_that_is_bad_or_gone_changes_nothing(cluster, supply, expect_errors):
    expect_errors += ["prices=|stays in force", "is not in force"]
    spot = cluster.all_nodes[4]
    supply(f"{spot} price=0.9\nnowhere cap=1\n", Policy="lina-default")
    wait_until(lambda: "no partition and no node nowhere" in cluster.log, "the log names it")
    say(cluster, f"{spot} prices=0.1\n")
    wait_until(lambda: "supply:1: 'prices=0.1' is neither" in cluster.log, "the log has the line")
    shown = cluster.run("selastic", "jobs").out
    assert "no partition and no node nowhere" in shown and "supply:1: 'prices=0.1' is neither" in shown, shown
    before = cluster.log.count("stays in force")
    (cluster.dir / "supply").unlink()
    wait_until(lambda: cluster.log.count("stays in force") == before + 1, "the log says it is gone")
    assert cluster.selastic("jobs")["supply"] == [{"name": spot, "nodes": spot, "price": 0.9}]
    say(cluster, f"{spot} price=0.2\n")
    wait_until(lambda: cluster.selastic("jobs")["supply"][0]["price"] == 0.2, "it is read again")
    wait_until(lambda: cluster.selastic("jobs")["supply_errors"] == [], "nothing is wrong any more")


def test_a_command_says_it_and_has_a_deadline(cluster, elastic, expect_errors):
    expect_errors += ["has not ended after 1 s"]
    program = cluster.dir / "supply.sh"
    program.write_text(f"#!/bin/sh\necho {cluster.all_nodes[0]} price=0.7\n")
    program.chmod(0o755)
    elastic(SupplyCommand=str(program), SupplyInterval=1, SupplyTimeout=1)
    wait_until(lambda: [one["price"] for one in cluster.selastic("jobs").get("supply", [])] == [0.7], "it is read")
    slow = program.with_suffix(".new")
    slow.write_text("#!/bin/sh\nsleep 3600\n")
    slow.chmod(0o755)
    slow.replace(program)
    wait_until(lambda: "has not ended after 1 s" in cluster.log, "the log says so")
    assert cluster.selastic("jobs")["supply"][0]["price"] == 0.7


# ---- caps

def test_all_nodes_have_a_name(cluster, supply, expect_errors):
    """And a list with nodes that do not exist holds for the others."""
    expect_errors += ["knows no node"]
    supply(f"all cap=2\n{cluster.all_nodes[0]},n77 price=0.5\n")
    everything, first = wait_until(lambda: cluster.selastic("jobs")["supply"], "it is in force")
    assert cluster.expand(everything["nodes"]) == cluster.all_nodes and everything["cap"] == 2
    assert first["nodes"] == cluster.all_nodes[0]
    shown = cluster.run("selastic", "jobs").out
    assert "all: price 0, at most 2 nodes in use" in shown and "knows no node n77 of" in shown, shown
    within, beyond = cluster.sbatch("-N2", "--exclusive", wrap="sleep 100"), cluster.sbatch("-N1", wrap="true")
    cluster.wait_state(within, "RUNNING")
    cluster.wait_two_passes()
    assert cluster.state(beyond) == "PENDING"
    say(cluster, "ALL cap=3\n")
    cluster.wait_state(beyond, "COMPLETED")


@pytest.mark.smoke
def test_a_cap_that_falls_shrinks_and_kills_nobody(cluster, supply):
    everything = f"{cluster.all_nodes[0]},{','.join(cluster.all_nodes[1:])}"
    supply(f"{everything} cap=6\n", Policy="lina-default")
    app = cluster.actor("malleable,min=1,max=8", "-N4")
    app.take_expand()
    assert len(cluster.nodes_of(app.job)) == 6
    other = cluster.sbatch("-N3", "--exclusive", wrap="sleep 120")
    app.take_shrink()
    cluster.wait_state(other, "RUNNING")
    assert len(cluster.nodes_of(app.job)) == 3
    say(cluster, f"{everything} cap=4\n")
    app.take_shrink()
    assert len(cluster.nodes_of(app.job)) == 1
    cluster.wait_journal(app.job, "resize", reason="more nodes are in use than the cap allows")
    blocked = cluster.sbatch("-N1", "--exclusive", wrap="true")
    cluster.wait_two_passes()
    assert cluster.state(blocked) == "PENDING"
    assert cluster.state(app.job) == cluster.state(other) == "RUNNING"
    say(cluster, f"{everything} cap=5\n")
    cluster.wait_state(blocked, "COMPLETED")
