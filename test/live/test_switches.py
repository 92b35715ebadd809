# SPDX-License-Identifier: MIT
"""Jobs that are to use no more than some number of switches."""

import pytest
from elastic_live import ELASTIC, Cluster

TREE = ["SwitchName=left Nodes=n[1-4]", "SwitchName=right Nodes=n[5-8]", "SwitchName=top Switches=left,right"]


@pytest.fixture(scope="session")
def cluster(request):
    mode, select = request.param
    options = [part for line in TREE for part in ("--file-line", "topology.conf", line)]
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
