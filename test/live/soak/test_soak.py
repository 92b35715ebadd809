# SPDX-License-Identifier: MIT
"""Hundreds of jobs of all classes at once, some of which die, on 64 nodes.

The seed is printed; ELASTIC_TEST_SEED=N repeats the same jobs.  At the end every
job is in the state it should be in, every node is idle, slurmctld is the same
process, and the journal replays with every job ended and no rule broken.
"""

import os
import random

import pytest
from elastic_live import HERE, Cluster, wait_until

NODES = 64
JOBS = int(os.environ.get("ELASTIC_SOAK_JOBS", "300"))


@pytest.fixture
def big(request):
    with Cluster("fe", nodes=NODES, build=request.config.getoption("--build"),
                 conf=["PartitionName=all Nodes=ALL Default=YES State=UP"],
                 elastic=["ResizeGap=1", "GraceTime=5", "BackOff=2"]) as started:
        yield started


@pytest.fixture
def program(big):
    """soak_app, compiled against this build's library."""
    return big.compile(HERE / "soak" / "soak_app.c")


def submit(cluster, program, dice):
    """A random job; its id and whether it dies."""
    kind = dice.choice(["rigid", "malleable", "evolving", "malleable+evolving"])
    low = dice.randint(1, 8)
    high = low if kind == "rigid" else low + dice.randint(0, 12)
    size = dice.randint(low, high)
    dies = dice.random() < 0.1
    elastic = [] if kind == "rigid" else [f"--elastic={kind},min={low},max={high}"]
    job = cluster.sbatch(*elastic, f"-N{size}", "--time=5", wrap=f"exec {program} "
                         f"{dice.randrange(2**31)} {dice.uniform(1, 8):.2f} "
                         f"{int('evolving' in kind)} {int(dies)}")
    return job, dies


@pytest.mark.soak
def test_soak(big, program):
    seed = int(os.environ.get("ELASTIC_TEST_SEED", random.SystemRandom().randrange(2**32)))
    print(f"ELASTIC_TEST_SEED={seed}")
    dice = random.Random(seed)
    # A rigid program is told by elastic_open that it is none, and exits with success.
    jobs = dict(submit(big, program, dice) for _ in range(JOBS))
    big.wait_quiet(within=400)
    assert big.controller_lives()
    ends = {}

    def all_ended():
        ends.update({event["job"]: event["state"] for event in big.journal(event="end")})
        return len(ends) == len(jobs)
    wait_until(all_ended, lambda: f"the journal knows {len(jobs)} ends, not {len(ends)}")
    wrong = {job: ends[job] for job, dies in jobs.items()
             if ends[job] not in (["FAILED"] if dies else ["COMPLETED"])}
    assert not wrong, f"seed {seed}: {wrong}"
    checked = big.run("selastic", "check", big.journal_path())
    print(checked.out)
    resizes = big.journal(event="resize")
    assert {event["kind"] for event in resizes} == {"shrink", "expand"}
