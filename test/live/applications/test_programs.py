# SPDX-License-Identifier: MIT
"""The sample programs end with the SHA-1 of an unresized run of another number of processes, whatever their sizes."""

import re

import pytest
from conftest import program

PROGRAMS = {"stencil2d": "256 200", "wave2d": "256 200", "particle_in_cell": "500 300", "cell_dynamics": "6 60"}


@pytest.mark.parametrize("name", PROGRAMS)
def test_digest(cluster, mpi, name):
    sample = program(cluster, mpi, name)
    unresized = sample.submit(PROGRAMS[name], 3, annotation=None).finish()
    assert re.fullmatch(rf"{name}: \d+ steps: [0-9a-f]{{40}}  -", unresized), unresized
    job = sample.submit(PROGRAMS[name], 2)
    job.wait_worlds(2)
    job.resize(4)
    job.resize(1)
    assert job.finish() == unresized and job.worlds() == [2, 4, 1], job.output()


def test_the_same_in_c_and_cpp(cluster, mpi):
    """C and C++ compute the same cells, and the latter does so while it is resized."""
    name = "particle_in_cell"
    in_c = program(cluster, mpi, name).result_of_one_process(PROGRAMS[name])
    job = program(cluster, mpi, f"{name}_cpp").submit(PROGRAMS[name], 2)
    job.wait_worlds(2)
    job.resize(4)
    job.resize(1)
    assert job.finish() == in_c and job.worlds() == [2, 4, 1], job.output()
