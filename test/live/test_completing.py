# SPDX-License-Identifier: MIT
"""Nodes of a job that completes come free as their epilogs end; CompleteWait has the scheduler wait for all of them."""

import pytest
from elastic_live import ELASTIC, Cluster, wait_until

pytestmark = pytest.mark.modes("ms")  # a front end has one epilog for all nodes

# Ends when it may end on this node.
EPILOG = """\
#!/bin/sh
while [ ! -e {base}/ends-on-$SLURMD_NODENAME ]; do sleep 0.05; done
"""


@pytest.fixture(scope="module", params=[("ms", "cons_tres")], ids=["ms"])
def slow_to_complete(request):
    mode, select = request.param
    cluster = Cluster(mode, select, nodes=6, build=request.config.getoption("--build"),
                      elastic=[f"{key}={value}" for key, value in {**ELASTIC, "Policy": "lina-default"}.items()])
    program = cluster.base / "epilog"
    cluster.conf += [f"Epilog={program}", "CompleteWait=0", "SlurmctldDebug=debug"]
    program.write_text(EPILOG.format(base=cluster.base))
    program.chmod(0o755)
    with cluster as started:
        yield started


def end_epilogs(cluster, nodes, end=True):
    for node in nodes:
        flag = cluster.base / f"ends-on-{node}"
        flag.touch() if end else flag.unlink(missing_ok=True)


@pytest.fixture
def cluster_with_wait(slow_to_complete):
    """cluster_with_wait(seconds): CompleteWait, until the test is over."""
    cluster = slow_to_complete

    def wait(seconds):
        cluster.set_slurm(CompleteWait=seconds)
        return cluster

    yield wait
    end_epilogs(cluster, cluster.slurmds)
    cluster.end_jobs()
    end_epilogs(cluster, cluster.slurmds, end=False)


def end_job_beside(cluster):
    """An application of two nodes that could have six, and the nodes of a job that has just ended beside it; the
    epilog of the first of them ends."""
    other = cluster.sbatch("-N4", "--exclusive", wrap="sleep 600")
    cluster.wait_state(other, "RUNNING")
    app = cluster.actor("malleable,min=1,max=6", "-N2")
    nodes = cluster.nodes_of(other)
    cluster.run("scancel", other)
    cluster.wait_state(other, "COMPLETING")
    end_epilogs(cluster, nodes[:1])
    wait_until(lambda: "idle" in cluster.run("sinfo", "-hNo", "%T", "-n", nodes[0]).out, "its node is idle")
    return app, nodes


def test_all_nodes_of_the_job_are_waited_for(cluster_with_wait):
    cluster = cluster_with_wait(600)
    said = len(cluster.log)
    app, nodes = end_job_beside(cluster)
    wait_until(lambda: "no pass begins while a job completes" in cluster.log[said:], "a pass was not made")
    app.no_event()
    end_epilogs(cluster, nodes)
    assert app.event("offer_expand")["nodes"] == 4


def test_no_longer_than_it_says(cluster_with_wait):
    cluster = cluster_with_wait(2)
    app, _ = end_job_beside(cluster)
    assert app.event("offer_expand")["nodes"] == 1


def test_without_it_nodes_are_used_as_they_come(cluster_with_wait):
    cluster = cluster_with_wait(0)
    app, _ = end_job_beside(cluster)
    assert app.event("offer_expand")["nodes"] == 1
