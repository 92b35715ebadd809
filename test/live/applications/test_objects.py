# SPDX-License-Identifier: MIT
"""Objects go where the load is even, and are what they were."""

import re

import pytest


@pytest.mark.parametrize("balancer", ["true", "export GREEDY=1"], ids=["refine", "greedy"])
def test_objects(many_objects, balancer):
    expected = many_objects.result_of_one_process("500 40")
    job = many_objects.submit("500 40", 2, environment=balancer)
    job.wait_worlds(2)
    job.resize(4)
    job.resize(3)
    job.resize(1)
    assert job.finish() == expected and job.worlds() == [2, 4, 3, 1]
    imbalance = [float(found) for found in re.findall(r"imbalance (\S+)", job.output())]
    assert imbalance[0] > 1.5 and max(imbalance[1:]) < 1.06, job.output()
