# SPDX-License-Identifier: MIT
"""Which nodes a job gains and gives back, where nodes have weights."""

import pytest
from elastic_live import ELASTIC, Cluster

pytestmark = [pytest.mark.modes("ms")]
WEIGHTS = ["n[1-2] Weight=50", "n[3-4] Weight=20 Features=old"]


@pytest.fixture(scope="module")
def cluster(request):
    mode, select = request.param
    with Cluster(mode, select, build=request.config.getoption("--build"),
                 elastic=[f"{key}={value}" for key, value in ELASTIC.items()],
                 options=[part for line in WEIGHTS for part in ("--node-line", line)]) as started:
        yield started


def names(cluster, *numbers):
    return [cluster.node_name(number) for number in numbers]


def test_growth_takes_light_nodes_first(cluster, elastic):
    app = cluster.actor("malleable,min=1,max=5", "-N1")
    assert cluster.nodes_of(app.job) == names(cluster, 5)
    elastic(Policy="lina-default")
    assert app.take_expand()["size"] == 5
    assert cluster.nodes_of(app.job) == names(cluster, 3, 5, 6, 7, 8)


def test_growth_takes_light_pools_first(cluster, elastic):
    """Two jobs want the light nodes, which the growing one would leave to them if all weighed the same."""
    others = [cluster.sbatch("-N1", "--exclusive", "-w", cluster.node_name(number), f"--exclude={exclude}",
                             wrap="sleep 600") for number, exclude in ((8, "n[1-4]"), (7, "n[1-3]"))]
    for job in others:
        cluster.wait_state(job, "RUNNING")
    app = cluster.actor("malleable,min=1,max=4", "-N1")
    elastic(Policy="lina-default")
    assert app.take_expand()["size"] == 4
    assert cluster.nodes_of(app.job) == names(cluster, 3, 4, 5, 6)


def test_a_shrink_gives_back_heavy_nodes_first(cluster):
    app = cluster.actor("malleable,min=1,max=8", "-N8")
    cluster.run("selastic", "shrink", app.job, 6)
    leaving = app.take_shrink()
    assert cluster.expand(leaving["node_list"]) == names(cluster, 2, 4), "but the node of the batch script"


def test_a_hand_over_is_of_heavy_nodes(cluster, elastic):
    app = cluster.actor("malleable,min=1,max=7", "-N7")
    assert cluster.nodes_of(app.job) == names(cluster, 1, 3, 4, 5, 6, 7, 8)
    elastic(Policy="lina-default", ExpandTrigger="never")
    other = cluster.sbatch("-N2", "--exclusive", "--time=1", wrap="sleep 600")
    assert cluster.expand(app.take_shrink()["node_list"]) == names(cluster, 4)
    cluster.wait_state(other, "RUNNING")
    assert cluster.nodes_of(other) == names(cluster, 2, 4)
