# SPDX-License-Identifier: MIT
"""[gupta] section VII with programs that compute: their data come along from nodes that fail or have become dear."""

from test_supply import mark, say, supply  # noqa: F401 (fixtures)

FIELD = "256 200"


def test_a_marked_node_is_left(cluster, stencil, mark):  # noqa: F811
    """Another is idle, so the program has that first, and is never on fewer."""
    expected = stencil.result_of_one_process(FIELD)
    job = stencil.submit(FIELD, 3, annotation="malleable,min=3,max=4")
    job.wait_worlds(3)
    last = cluster.nodes_of(job.number)[-1]
    mark(last, "DRAIN")
    job.wait_worlds(3, 4, 3)
    cluster.wait_size(job.number, 3)
    assert last not in cluster.nodes_of(job.number)
    assert job.finish() == expected


def test_a_price(cluster, stencil, supply):  # noqa: F811
    """[gupta] figure 9: two nodes that cost nothing, six that are worth it at times."""
    expected = stencil.result_of_one_process(FIELD)
    static, spot = cluster.all_nodes[:2], ",".join(cluster.all_nodes[2:])
    supply(f"{spot} price=0.9\n", Policy="lina-default")
    job = stencil.submit(FIELD, 2, annotation="malleable,min=2,max=4,price=0.5")
    job.wait_worlds(2)
    say(cluster, f"{spot} price=0.4\n")
    job.wait_worlds(2, 4)
    cluster.wait_size(job.number, 4)
    say(cluster, f"{spot} price=0.6\n")
    job.wait_worlds(2, 4, 2)
    cluster.wait_size(job.number, 2)
    assert cluster.nodes_of(job.number) == static
    assert job.finish() == expected
