# SPDX-License-Identifier: MIT
"""Python's packages over the nodes of a job, as elastic.dask and elastic.torch have them."""

import importlib.util
import re
import sys

import pytest
from elastic_live import CLONE, wait_until

PATIENCE = 240  # seconds: these packages take some to load


def needs(module):
    if not importlib.util.find_spec(module):
        pytest.skip(f"there is no python3-{module}: contribs/install-deps --applications")


class Example:
    """A job that runs an example in Python."""

    def __init__(self, cluster, annotation, nodes, *command):
        self.cluster, self.folder = cluster, cluster.new_folder("packages")
        line = " ".join(map(str, (sys.executable, "-B", *command)))
        self.job = cluster.sbatch(f"-N{nodes}", "--ntasks-per-node=1", f"--elastic={annotation}",
                                  f"--export=ALL,PYTHONPATH={cluster.tools},PYTHONDONTWRITEBYTECODE=1,"
                                  "GLOO_SOCKET_IFNAME=lo",
                                  wrap=f"cd {self.folder}; exec {line}")

    def output(self):
        return self.cluster.output(self.job)

    def wait_says(self, pattern):
        wait_until(lambda: re.search(pattern, self.output(), re.M),
                   lambda: f"it says '{pattern}':\n{self.output()[-5000:]}", within=PATIENCE)

    def resize(self, nodes):
        command = "shrink" if nodes < len(self.cluster.nodes_of(self.job)) else "expand"
        wait_until(lambda: self.cluster.run("selastic", command, self.job, nodes, check=False).code == 0,
                   lambda: f"job {self.job} is offered {nodes} nodes\n{self.output()[-3000:]}", within=PATIENCE)

    def finish(self):
        state = self.cluster.wait_state(self.job, "COMPLETED", "FAILED", within=PATIENCE)
        assert state == "COMPLETED", self.output()
        return self.output()

    def sizes(self):
        return [(event["from"], event["to"]) for event in self.cluster.journal(self.job, "resize")]


def test_dask_asks_for_nodes_of_its_job_and_gives_them_back(cluster):
    needs("distributed")
    run = Example(cluster, "malleable+evolving,min=1,max=4", 1, CLONE / "contribs/examples/elastic_dask.py", 400)
    run.wait_says("^dask: works on more nodes$")
    run.resize(2)  # Dask will want them back
    wait_until(lambda: any(after == 2 for _, after in run.sizes()), lambda: f"it shrinks: {run.sizes()}", PATIENCE)
    output = run.finish()
    assert f"dask: the sum of 400 squares is {sum(n * n for n in range(400))}\n" in output, output
    assert "dask: has given them back\n" in output, output
    assert run.sizes()[-1][1] == 1, run.sizes()


def test_dask_in_a_job_that_may_not_ask(cluster):
    needs("distributed")
    program = ("import elastic.dask, distributed\n"
               "with elastic.dask.Cluster(['--nthreads', '1']) as cluster:\n"
               "    with distributed.Client(cluster) as client:\n"
               "        client.wait_for_workers(2)\n"
               "        print('two', client.submit(len, 'four').result())\n"
               "    try:\n"
               "        cluster.scale(3)\n"
               "    except ValueError as error:\n"
               "        print(error)\n")
    folder = cluster.new_folder("program")
    (folder / "program.py").write_text(program)
    run = Example(cluster, "malleable,min=1,max=4", 2, folder / "program.py")
    output = run.finish()
    assert "two 4\n" in output and "the job may not ask for nodes" in output, output


def learned(epochs):
    """What elastic_train.py comes to, in one process."""
    truth, weights = (1.0, -2.0, 0.5, 3.0), [0.0] * 4
    rows = [[x ** i for i in range(4)] for x in (-1 + 2 * i / 1199 for i in range(1200))]
    for _ in range(epochs):
        errors = [sum(p * (w - t) for p, w, t in zip(row, weights, truth)) for row in rows]
        gradient = [sum(row[i] * error for row, error in zip(rows, errors)) for i in range(4)]
        weights = [w - g / 1200 for w, g in zip(weights, gradient)]
    return " ".join(f"{weight:.4f}" for weight in weights)


def test_torch_goes_on_from_its_checkpoint_on_other_nodes(cluster):
    needs("torch")
    run = Example(cluster, "malleable,min=1,max=4", 2, "-m", "elastic.torch", "--max-restarts", 0,
                  CLONE / "contribs/examples/elastic_train.py", 200)
    run.wait_says("^train: from epoch 0, 2 processes$")
    wait_until(lambda: (run.folder / "train.pt").exists(), "there is a checkpoint", PATIENCE)
    run.resize(1)
    run.wait_says(r"^train: from epoch [1-9]\d*, 1 processes$")
    run.resize(4)
    run.wait_says(r"^train: from epoch [1-9]\d*, 4 processes$")
    assert f"train: 200 epochs: {learned(200)}\n" in run.finish(), (learned(200), run.output())
    assert run.sizes() == [(2, 1), (1, 4)]


def test_torch_ends_with_its_program(cluster):
    needs("torch")
    folder = cluster.new_folder("program")
    (folder / "fails.py").write_text("import os\nopen(f'{os.environ[\"RANK\"]}.{os.getpid()}', 'w').close()\n"
                                     "raise SystemExit(3)\n")
    run = Example(cluster, "malleable,min=1,max=4", 2, "-m", "elastic.torch", "--max-restarts", 1, folder / "fails.py")
    assert cluster.wait_state(run.job, "COMPLETED", "FAILED", within=PATIENCE) == "FAILED", run.output()
    assert "elastic.torch: process 0 has failed" in run.output(), run.output()
    assert len(list(run.folder.glob("0.*"))) == 2, list(run.folder.iterdir())
