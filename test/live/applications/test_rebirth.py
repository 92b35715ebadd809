# SPDX-License-Identifier: MIT
"""Programs with libelastic-mpi under selastic-run come to the same field, bit for bit, however they are resized."""

import random
import re

import pytest
from elastic_live import wait_until

SMALL = "256 400 10"


def test_shrink(stencil):
    expected = stencil.result_of_one_process("256 400")
    job = stencil.submit(SMALL, 4)
    job.wait_running(4)
    job.resize(2)
    assert job.finish() == expected
    assert "resize 1: 4 -> 2 nodes: negotiation " in job.output() and "status 0" in job.output()


def test_expand(stencil):
    expected = stencil.result_of_one_process("256 400")
    job = stencil.submit(SMALL, 2)
    job.wait_running(2)
    job.resize(4)
    assert job.finish() == expected
    assert "resize 1: 2 -> 4 nodes: " in job.output()
