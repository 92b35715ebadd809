# SPDX-License-Identifier: MIT
"""The example programs do their work, and resize while they do it."""

import pytest

from elastic_live import wait_until


def finish(cluster, job):
    state = cluster.wait_state(job, "COMPLETED", "FAILED", "TIMEOUT", "NODE_FAIL", within=90)
    output = cluster.output(job)
    assert state == "COMPLETED" and "correct" in output and "WRONG" not in output, output
    return output


def resize(cluster, job, command, nodes):
    wait_until(lambda: cluster.run("selastic", command, job, nodes, check=False).code == 0,
               f"job {job} is offered {nodes} nodes")
    cluster.wait_size(job, nodes)


def test_rigid(cluster):
    job = cluster.sbatch("--elastic=malleable,min=1,max=4", "-N2", wrap="rigid_sum 100000000")
    assert "rigid_sum: elastic, 2 node(s)" in finish(cluster, job)
    job = cluster.sbatch("-N2", wrap="rigid_sum 1000000")
    finish(cluster, job)


def test_bag_of_tasks(cluster):
    job = cluster.sbatch("--elastic=malleable,min=1,max=6", "-N3", wrap="bag_of_tasks 12000000 36")
    cluster.wait_state(job, "RUNNING")
    resize(cluster, job, "shrink", 1)
    resize(cluster, job, "expand", 4)
    finish(cluster, job)


@pytest.mark.parametrize("script", ["elastic_script.sh", "elastic_rounds.py"])
def test_script(cluster, script):
    if script.endswith(".py") and cluster.mode == "fe":
        pytest.skip("all tasks of a front end name one node")
    job = cluster.sbatch("--elastic=malleable,min=1,max=4", "-N2", f"--export=ALL,PYTHONPATH={cluster.tools}",
                         str(cluster.tools / script), "6")
    wait_until(lambda: "on 2 node(s)" in cluster.output(job), "a round at two nodes is done")
    resize(cluster, job, "expand", 4)
    wait_until(lambda: "on 4 node(s)" in cluster.output(job), "a round at four nodes is done")
    resize(cluster, job, "shrink", 1)
    assert "on 1 node(s)" in finish(cluster, job)


@pytest.mark.smoke
def test_evolving(cluster):
    job = cluster.sbatch("--elastic=evolving,min=1,max=6", "-N1", wrap="evolving_stencil")
    finish(cluster, job)
    kinds = {event["kind"] for event in cluster.journal(job, "resize")}
    assert kinds == {"shrink", "expand"}
