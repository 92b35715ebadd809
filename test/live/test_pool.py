# SPDX-License-Identifier: MIT
"""elastic.pool: tasks on the nodes of a job that grows and shrinks in their midst; each has one result."""

import collections
import sys

import pytest
from elastic_live import CLONE, HERE, wait_until

pytestmark = pytest.mark.modes("ms")  # all tasks of a front end name one node


def resize(cluster, job, nodes):
    command = "shrink" if nodes < len(cluster.nodes_of(job)) else "expand"
    wait_until(lambda: cluster.run("selastic", command, job, nodes, check=False).code == 0,
               lambda: f"job {job} is offered {nodes} nodes:\n{cluster.output(job)}")
    cluster.wait_size(job, nodes)


def submit(cluster, nodes, *command, annotation="malleable,min=1,max=4"):
    line = " ".join(map(str, (sys.executable, "-B", *command)))
    return cluster.sbatch(f"-N{nodes}", "--ntasks-per-node=1", f"--elastic={annotation}",
                          f"--export=ALL,PYTHONPATH={cluster.tools}", wrap=line)


class Held:
    """A job whose tasks wait for let_go()."""

    def __init__(self, cluster, nodes, tasks, annotation):
        self.cluster, self.folder = cluster, cluster.new_folder("pool")
        self.job = submit(cluster, nodes, HERE / "pool_tasks.py", self.folder, tasks, annotation=annotation)

    def begun(self):
        """[(task, node)...] in their order."""
        path = self.folder / "begun"
        return [tuple(line.split()) for line in path.read_text().splitlines()] if path.exists() else []

    def wait_begun(self, count):
        wait_until(lambda: len(self.begun()) >= count,
                   lambda: f"{count} tasks have begun: {self.begun()}\n{self.cluster.output(self.job)}")

    def finish(self):
        (self.folder / "go").touch()
        state = self.cluster.wait_state(self.job, "COMPLETED", "FAILED", within=90)
        output = self.cluster.output(self.job)
        assert state == "COMPLETED" and "correct\n" in output, output
        return output


def test_tasks_that_do_not_end_in_time_are_done_elsewhere(cluster):
    held = Held(cluster, 2, 12, "malleable,min=1,max=4,grace=5")
    held.wait_begun(2)
    resize(cluster, held.job, 4)
    held.wait_begun(4)
    assert len({node for _, node in held.begun()}) == 4
    resize(cluster, held.job, 1)
    (kept,) = cluster.nodes_of(held.job)
    before = held.begun()
    assert f"nodes at the end {kept}\n" in held.finish()
    times = collections.Counter(task for task, _ in held.begun())
    lost = {task for task, node in before if node != kept}
    assert {task for task, count in times.items() if count > 1} == lost and len(lost) == 3, held.begun()
    assert len(times) == 12


def test_tasks_that_end_in_time_are_done_once(cluster):
    held = Held(cluster, 3, 9, "malleable,min=1,max=4,grace=60")
    held.wait_begun(3)
    wait_until(lambda: cluster.run("selastic", "shrink", held.job, 1, check=False).code == 0,
               f"job {held.job} is offered 1 node")
    wait_until(lambda: cluster.journal(held.job, "accept"), f"job {held.job} has accepted")
    held.finish()
    assert len(held.begun()) == 9, held.begun()


def test_jobs_that_are_not_elastic(cluster):
    job = cluster.sbatch("-N2", "--ntasks-per-node=1", f"--export=ALL,PYTHONPATH={cluster.tools}",
                         wrap=f"{sys.executable} -B {CLONE}/contribs/examples/elastic_pool.py 4")
    assert cluster.wait_state(job, "COMPLETED", "FAILED", within=90) == "COMPLETED", cluster.output(job)
    assert "pool: 550 primes below 4000\n" in cluster.output(job), cluster.output(job)
