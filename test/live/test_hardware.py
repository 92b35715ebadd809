# SPDX-License-Identifier: MIT
"""Jobs that ask for nodes of some kind, or for no more than some number of switches."""

import pytest
from elastic_live import ELASTIC, SLURM_VERSION, Cluster

pytestmark = [pytest.mark.modes("ms"), pytest.mark.smoke]
TREE = ["SwitchName=left Nodes=n[1-4]", "SwitchName=right Nodes=n[5-8]", "SwitchName=top Switches=left,right"]


@pytest.fixture(scope="module")
def cluster(request):
    mode, select = request.param
    if select == "linear" and SLURM_VERSION >= (24, 5):
        pytest.skip("Slurm has no topology for select/linear")
    options = [part for line in TREE for part in ("--file-line", "topology.conf", line)]
    options += ["--node-line", "n[6-7] Sockets=1 CoresPerSocket=4 ThreadsPerCore=1"]
    with Cluster(mode, select, build=request.config.getoption("--build"), conf=["TopologyPlugin=topology/tree"],
                 elastic=[f"{key}={value}" for key, value in ELASTIC.items()], options=options) as started:
        yield started


def test_growth_keeps_to_the_switches_that_a_job_has(cluster, elastic):
    elastic(Policy="lina-default")
    bound = cluster.actor("malleable,min=1,max=8", "-N2", "--switches=1", "-wn[5-6]")
    assert bound.take_expand()["size"] == 4
    cluster.wait_two_passes()
    bound.no_event()
    assert cluster.nodes_of(bound.job) == [cluster.node_name(number) for number in range(5, 9)]


def test_growth_takes_nodes_of_the_switches_that_a_job_has_first(cluster, elastic):
    app = cluster.actor("malleable,min=1,max=6", "-N1", "-w", cluster.node_name(6))
    elastic(Policy="lina-default", ResizeGap="0")
    assert app.take_expand()["size"] == 6
    assert cluster.nodes_of(app.job) == [cluster.node_name(number) for number in (1, 2, 5, 6, 7, 8)]


def test_growth_keeps_to_nodes_of_the_shape_that_was_asked_for(cluster, elastic):
    elastic(Policy="lina-default")
    app = cluster.actor("malleable,min=1,max=8", "-N1", "--cores-per-socket=4")
    assert app.take_expand()["size"] == 2
    cluster.wait_two_passes()
    app.no_event()
    assert cluster.nodes_of(app.job) == [cluster.node_name(6), cluster.node_name(7)]


def test_nodes_of_too_many_switches_are_given_to_others(cluster, elastic):
    """An offer of them stands until it is answered."""
    for number in (1, 2, 5):
        job = cluster.sbatch("-N1", "--exclusive", "-w", cluster.node_name(number), "--time=60", wrap="sleep 600")
        cluster.wait_state(job, "RUNNING")
    app = cluster.actor("malleable,min=1,max=8", "-N1", "-w", cluster.node_name(6), "--time=50")
    waits = cluster.sbatch("-N4", "--exclusive", "--switches=1", "--time=5", wrap="sleep 600")
    cluster.wait_two_passes()
    elastic(Policy="lina-default", ResizeGap="0")
    offer = app.event("offer_expand")
    cluster.wait_two_passes()
    cluster.wait_two_passes()
    app.no_event()
    app.do("accept", offer["op"])
    app.event("accepted")
    assert app.event("resized")["size"] == 5
    assert cluster.state(waits) == "PENDING"
