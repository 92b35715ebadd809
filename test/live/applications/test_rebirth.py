# SPDX-License-Identifier: MIT
"""Programs with libelastic-mpi under selastic-run come to the same field, bit for bit, however they are resized."""

import random
import re

from elastic_live import wait_until
from mpi_programs import processes_of

FIELD = "256 200"


def test_shrink(cluster, stencil):
    expected = stencil.result_of_one_process(FIELD)
    job = stencil.submit(FIELD, 4)
    job.wait_worlds(4)
    left = cluster.nodes_of(job.number)[2:]
    assert all(processes_of(cluster, node) for node in left)
    job.resize(2)
    wait_until(lambda: not any(processes_of(cluster, node) for node in left), f"nothing runs on {left}", within=1)
    assert job.finish() == expected and job.worlds() == [4, 2]
    assert "resize 1: 4 -> 2 nodes: negotiation " in job.output() and "status 0" in job.output()


def test_expand(stencil):
    expected = stencil.result_of_one_process(FIELD)
    job = stencil.submit(FIELD, 2)
    job.wait_worlds(2)
    job.resize(4)
    assert job.finish() == expected and job.worlds() == [2, 4]
    assert "resize 1: 2 -> 4 nodes: " in job.output()


def test_random_resizes(stencil):
    """Two processes a node, and blocks both in whole pages and not."""
    seed = random.randrange(1 << 32)
    print("seed", seed)
    rng = random.Random(seed)
    size = rng.choice((700, 1024))
    expected = stencil.result_of_one_process(f"{size} 100")
    job = stencil.submit(f"{size} 100", 3, tasks=2)
    job.wait_worlds(6)
    nodes = 3
    for _ in range(5):
        nodes = rng.choice([other for other in range(1, 6) if other != nodes])
        job.resize(nodes)
    assert job.finish() == expected
    print(job.output())
    assert len(re.findall(r"selastic-run: resize \d+: ", job.output())) == 5, job.output()


def test_a_program_in_cpp(wave):
    expected = wave.result_of_one_process("200 100")
    job = wave.submit("200 100", 2)
    job.wait_worlds(2)
    job.resize(4)
    job.resize(1)
    assert job.finish() == expected and job.worlds() == [2, 4, 1]
