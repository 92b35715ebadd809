# SPDX-License-Identifier: MIT
"""Jobs of all classes under Slurm's own loops (Starts=slurm), which start whatever they can while others make room.

The limits of these jobs are far longer than they run, and many short ones wait: whoever waits for victims competes with
all of them for the idle nodes that it is to have besides.
"""

import os
import re

import pytest
import soak_jobs

JOBS = int(os.environ.get("ELASTIC_SOAK_JOBS", "80"))
CONF = ["SchedulerParameters=bf_interval=1,sched_interval=2,batch_sched_delay=0,bf_resolution=1"]


@pytest.fixture
def beside_slurm(request):
    with soak_jobs.cluster("ms", 24, request.config.getoption("--build"), "OverSubscribe=EXCLUSIVE", CONF,
                           ["Starts=slurm"]) as started:
        yield started


@pytest.mark.soak
def test_every_hand_over_succeeds(beside_slurm):
    cluster = beside_slurm
    chance, program = soak_jobs.dice(), soak_jobs.program(cluster)
    jobs = dict(soak_jobs.submit(cluster, program, chance) for _ in range(JOBS))
    cluster.wait_quiet(within=400)
    assert cluster.controller_lives()
    assert not soak_jobs.wrong_ends(jobs, soak_jobs.ends(cluster, jobs))
    print(cluster.run("selastic", "check", cluster.journal_path()).out)
    assert {event["kind"] for event in cluster.journal(event="resize")} == {"shrink", "expand"}
    assert re.search("started on .* handed over", cluster.log)
    assert "nodes were freed for it but it cannot start" not in cluster.log
    assert not cluster.new_errors()
