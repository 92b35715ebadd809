# SPDX-License-Identifier: MIT
"""selastic evacuate: nodes become empty, or it says who is left and why."""

import json
import subprocess

import pytest
from elastic_live import wait_until


class Evacuation:
    """`selastic evacuate` that runs beside the test."""

    def __init__(self, cluster, nodes, *options):
        self.process = subprocess.Popen(
            ["selastic", "evacuate", ",".join(nodes), *options], env=cluster.env, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def wait_line(self, words):
        """Until it has printed a line with these words."""
        while line := self.process.stdout.readline():
            if words in line:
                return
        raise AssertionError(f"it has ended without a line with {words}")

    def end(self):
        """(exit code, the rest of standard output, standard error)"""
        out, err = self.process.communicate(timeout=60)
        return self.process.returncode, out, err


@pytest.fixture
def evacuate(cluster):
    """evacuate(nodes, option...): one that is over, with its nodes in service again, at the end."""
    begun = []

    def begin(nodes, *options):
        begun.append((nodes, Evacuation(cluster, nodes, *options)))
        return begun[-1][1]

    yield begin
    for nodes, evacuation in begun:
        if evacuation.process.poll() is None:
            evacuation.process.kill()
        evacuation.process.communicate()
        if any("DRAIN" in state_of(cluster, node) for node in nodes):
            cluster.run("scontrol", "update", f"NodeName={','.join(nodes)}", "State=RESUME")


def state_of(cluster, node):
    return cluster.run("sinfo", "--noheader", "--nodes", node, "--format=%T").out.upper()


def reason_of(cluster, node):
    return cluster.run("sinfo", "--noheader", "--nodes", node, "--format=%E").out.strip()


def test_nodes_are_drained_and_become_empty(cluster, evacuate):
    app = cluster.actor("malleable,min=1,max=6", "-N4")
    batch, *others = cluster.nodes_of(app.job)
    running = evacuate(others)
    assert set(cluster.expand(app.take_shrink()["node_list"])) == set(others)
    code, out, err = running.end()
    assert code == 0, (out, err)
    assert "drained" in out and f"job {app.job}: has left" in out and "empty" in out
    assert cluster.nodes_of(app.job) == [batch]
    assert all("DRAIN" in state_of(cluster, node) for node in others)


def test_a_job_at_its_minimum_grows_elsewhere_first(cluster, evacuate):
    """[gupta] section III-A: a node is replaced by an expansion and a shrink."""
    app = cluster.actor("malleable,min=3,max=6", "-N3")
    batch, *others = cluster.nodes_of(app.job)
    running = evacuate(others)
    new = cluster.expand(app.take_expand()["node_list"])
    app.take_shrink()
    code, out, err = running.end()
    assert code == 0, (out, err)
    held = cluster.nodes_of(app.job)
    assert len(held) == 3 and batch in held and not set(others) & set(held) and new


def test_a_job_with_one_node_to_spare_leaves_bit_by_bit(cluster, evacuate):
    app = cluster.actor("malleable,min=2,max=3", "-N3")
    batch, *others = cluster.nodes_of(app.job)
    running = evacuate(others)
    app.take_shrink()
    app.take_expand()
    app.take_shrink()
    code, out, err = running.end()
    assert code == 0, (out, err)
    held = cluster.nodes_of(app.job)
    assert len(held) == 2 and batch in held and not set(others) & set(held)


def test_an_agreement_in_flight_is_waited_for(cluster, elastic, evacuate):
    elastic(LeaveNodes="never")  # else the scheduler asks as well, and gets it another node first
    app = cluster.actor("malleable,min=1,max=6", "-N3")
    _, middle, last = cluster.nodes_of(app.job)
    cluster.run("selastic", "shrink", app.job, 2)
    running = evacuate([middle])
    running.wait_line("in flight")
    assert cluster.expand(app.take_shrink()["node_list"]) == [last]
    assert cluster.expand(app.take_shrink()["node_list"]) == [middle]
    code, out, err = running.end()
    assert code == 0, (out, err)


def test_who_cannot_leave_is_named(cluster, evacuate):
    rigid = cluster.sbatch("-N1", "--exclusive", wrap="sleep 60")
    cluster.wait_state(rigid, "RUNNING")
    app = cluster.actor("malleable,min=1,max=6", "-N2")
    fixed = cluster.actor("malleable,min=2,max=2", "-N2")
    suspended = cluster.sbatch("-N1", "--exclusive", wrap="sleep 60")
    cluster.wait_state(suspended, "RUNNING")
    at = cluster.nodes_of(suspended)
    cluster.run("scontrol", "suspend", suspended)
    first, second = cluster.nodes_of(app.job)
    running = evacuate([*cluster.nodes_of(rigid), first, second, cluster.nodes_of(fixed.job)[1], *at])
    assert cluster.expand(app.take_shrink()["node_list"]) == [second]
    code, out, err = running.end()
    assert code == 1 and "4 jobs are left" in err, (out, err)
    lines = [line for line in out.splitlines() if "stays" in line]
    assert any(f"job {rigid} " in line and "not malleable" in line for line in lines), out
    assert any(f"job {app.job} on {first}" in line and "batch script" in line for line in lines), out
    assert any(f"job {fixed.job} " in line and "no other size" in line for line in lines), out
    assert any(f"job {suspended} " in line and "suspended" in line for line in lines), out
    fixed.no_event()
    cluster.run("scancel", suspended)


def test_unknown_nodes_are_refused_before_anything_is_done(cluster):
    known = cluster.all_nodes[-1]
    for nodes, words in [(f"{known},nowhere[1-2]", "nowhere[1-2]"), ("n[3", "n[3"), ("", "no node")]:
        result = cluster.run("selastic", "evacuate", nodes, check=False)
        assert result.code == 1 and words in result.err, str(result)
    assert "IDLE" in state_of(cluster, known)


def test_a_node_that_is_drained_keeps_its_reason(cluster, evacuate):
    node, other = cluster.all_nodes[-2:]
    cluster.run("scontrol", "update", f"NodeName={node}", "State=DRAIN", "Reason=broken fan")
    code, out, err = evacuate([node, other]).end()
    assert code == 0 and f"{other}: drained" in out, (out, err)
    assert reason_of(cluster, node) == "broken fan"
    assert "selastic" in reason_of(cluster, other)


def test_it_ends_in_time(cluster, evacuate):
    app = cluster.actor("malleable,min=1,max=6", "-N2")
    nodes = cluster.nodes_of(app.job)[1:]
    code, out, err = evacuate(nodes, "--timeout", "1").end()
    assert code == 1 and "1 job is left" in err and f"job {app.job}" in err, (out, err)
    code, out, err = evacuate(nodes, "--timeout", "0", "--json").end()
    [left] = json.loads(out)["jobs"]
    assert code == 1 and left["label"] == str(app.job) and left["leaves"], (out, err)
    app.take_shrink()


def test_a_controller_that_is_restarted_meanwhile(cluster, evacuate):
    app = cluster.actor("malleable,min=1,max=6", "-N3")
    nodes = cluster.nodes_of(app.job)[1:]
    running = evacuate(nodes)
    offer = app.event("offer_shrink")
    cluster.restart_controller()
    wait_until(lambda: app.state()["connected"], "the application is connected again")
    app.do("accept", offer["op"])
    app.event("accepted")
    app.do("done", offer["op"])
    app.event("resized")
    code, out, err = running.end()
    assert code == 0, (out, err)


def test_elements_of_arrays(cluster, evacuate):
    array = cluster.sbatch("-N2", "--exclusive", "--array=3-4", wrap="sleep 60")
    wait_until(lambda: cluster.state(f"{array}_3") == cluster.state(f"{array}_4") == "RUNNING",
               "both run")
    code, out, err = evacuate(cluster.nodes_of(f"{array}_4")).end()
    assert code == 1 and f"job {array}_4 on" in out and f"{array}_3" not in out, (out, err)
