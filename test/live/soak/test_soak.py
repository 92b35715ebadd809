# SPDX-License-Identifier: MIT
"""Hundreds of jobs of all classes at once, some of which die, on 64 nodes.

At the end every job is in the state it should be in, every node is idle, slurmctld is the same
process, and the journal replays with every job ended and no rule broken.
"""

import os

import pytest
import soak_jobs

JOBS = int(os.environ.get("ELASTIC_SOAK_JOBS", "300"))


@pytest.fixture
def big(request):
    with soak_jobs.cluster("fe", 64, request.config.getoption("--build")) as started:
        yield started


@pytest.mark.soak
def test_soak(big):
    chance, program = soak_jobs.dice(), soak_jobs.program(big)
    # A rigid program is told by elastic_open that it is none, and exits with success.
    jobs = dict(soak_jobs.submit(big, program, chance) for _ in range(JOBS))
    big.wait_quiet(within=400)
    assert big.controller_lives()
    assert not soak_jobs.wrong_ends(jobs, soak_jobs.ends(big, jobs))
    checked = big.run("selastic", "check", big.journal_path())
    print(checked.out)
    resizes = big.journal(event="resize")
    assert {event["kind"] for event in resizes} == {"shrink", "expand"}
