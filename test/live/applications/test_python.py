# SPDX-License-Identifier: MIT
"""A program with mpi4py and numpy is resized, and comes to the same field as its form that is not elastic."""

from elastic_live import CLONE

PLATE = "120 40"


def test_python(cluster, heat):
    plain = CLONE / "contribs/examples/heat.py"
    done = cluster.run("srun", "-N3", heat.srun_type.removeprefix("--srun="), "/usr/bin/python3", "-B", "-",
                       *PLATE.split(), stdin=plain.read_text())
    expected = done.out.splitlines()[-1]
    assert expected == heat.result_of_one_process(PLATE) and expected.startswith("heat: 40 steps: field ")
    job = heat.submit(PLATE, 2)
    job.wait_worlds(2)
    job.resize(4)
    job.resize(2)
    assert job.finish() == expected and job.worlds() == [2, 4, 2]
