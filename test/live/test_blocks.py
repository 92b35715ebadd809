# SPDX-License-Identifier: MIT
"""Growth where nodes stand in blocks (topology/block)."""

import pytest
from elastic_live import ELASTIC, SLURM_VERSION, Cluster

pytestmark = [pytest.mark.modes("ms"),
              pytest.mark.skipif(SLURM_VERSION < (24, 5), reason="Slurm says nothing of its blocks before 24.05")]
BLOCKS = ["BlockName=first Nodes=n[1-4]", "BlockName=second Nodes=n[5-8]", "BlockSizes=4"]


@pytest.fixture(scope="module")
def cluster(request):
    mode, select = request.param
    with Cluster(mode, select, build=request.config.getoption("--build"), conf=["TopologyPlugin=topology/block"],
                 elastic=[f"{key}={value}" for key, value in ELASTIC.items()],
                 options=[part for line in BLOCKS for part in ("--file-line", "topology.conf", line)]) as started:
        yield started


def test_growth_takes_nodes_of_the_blocks_that_a_job_has_first(cluster, elastic):
    app = cluster.actor("malleable,min=1,max=6", "-N1", "-w", cluster.node_name(6))
    elastic(Policy="lina-default")
    assert app.take_expand()["size"] == 6
    assert cluster.nodes_of(app.job) == [cluster.node_name(number) for number in (1, 2, 5, 6, 7, 8)]
