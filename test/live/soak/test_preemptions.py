# SPDX-License-Identifier: MIT
"""Random preemptions: whoever can shrinks, Slurm preempts the others, and nothing else is lost."""

import os

import preemptions
import pytest
import soak_jobs

URGENT = int(os.environ.get("ELASTIC_SOAK_JOBS", "40"))


@pytest.mark.soak
@pytest.mark.parametrize("starts", ["slurm", "elastic"])
def test_nothing_is_lost_but_what_slurm_preempts(request, starts):
    chance = soak_jobs.dice()
    with soak_jobs.cluster("ms", preemptions.NODES, request.config.getoption("--build"), "OverSubscribe=EXCLUSIVE",
                           preemptions.CONF + (preemptions.LOOPS if starts == "slurm" else []),
                           [f"Starts={starts}", "PreemptShrinkTime=3"]) as cluster:
        victims, urgent = preemptions.run(cluster, soak_jobs.program(cluster), chance, URGENT)
        cluster.wait_quiet(within=300)
        assert cluster.controller_lives()
        states = soak_jobs.ends(cluster, victims + urgent)
        assert {states[job] for job in victims + urgent} == {"COMPLETED"}
        print(cluster.run("selastic", "check", cluster.journal_path()).out)
        count, lost = preemptions.losses(cluster.journal())
        spared = [offer for offer in cluster.journal(event="offer") if offer["reason"].startswith("a job that may")]
        print(f"{count} runs preempted, {lost:.0f} node-seconds lost; {len(spared)} asked to shrink before")
        assert spared
        assert not cluster.new_errors()
