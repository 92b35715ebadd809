# SPDX-License-Identifier: MIT
"""Random jobs of all classes for soak_app, some of which die."""

import os
import random

from elastic_live import HERE, Cluster, wait_until


def cluster(mode, nodes, build, partition="", conf=(), elastic=()):
    """One whose partition may have more parameters, and whose scheduler resizes jobs often; not up yet."""
    return Cluster(mode, nodes=nodes, build=build,
                   conf=[f"PartitionName=all Nodes=ALL Default=YES State=UP {partition}", *conf],
                   elastic=["ResizeGap=1", "GraceTime=5", "BackOff=2", *elastic])


def program(started):
    """soak_app, compiled against this build's library."""
    return started.compile(HERE / "soak" / "soak_app.c")


def dice():
    """Random numbers whose seed is printed; ELASTIC_TEST_SEED=N repeats them."""
    seed = int(os.environ.get("ELASTIC_TEST_SEED", random.SystemRandom().randrange(2**32)))
    print(f"ELASTIC_TEST_SEED={seed}")
    return random.Random(seed)


def submit(started, compiled, chance):
    """A random job; its id and whether it dies."""
    kind = chance.choice(["rigid", "malleable", "evolving", "malleable+evolving"])
    low = chance.randint(1, 8)
    high = low if kind == "rigid" else low + chance.randint(0, 12)
    size = chance.randint(low, high)
    dies = chance.random() < 0.1
    elastic = [] if kind == "rigid" else [f"--elastic={kind},min={low},max={high}"]
    job = started.sbatch(*elastic, f"-N{size}", "--time=5", wrap=f"exec {compiled} "
                         f"{chance.randrange(2**31)} {chance.uniform(1, 8):.2f} "
                         f"{int('evolving' in kind)} {int(dies)}")
    return job, dies


def ends(started, jobs):
    """{job: state}, as soon as the journal's last word on each of these jobs is its end."""
    def told():
        last = {event["job"]: event for event in started.journal() if event["event"] in ("start", "end")}
        return {job: event["state"] for job, event in last.items() if event["event"] == "end"}
    wait_until(lambda: set(jobs) <= set(told()), lambda: f"the journal knows the ends of {set(jobs) - set(told())}")
    return told()


def wrong_ends(jobs, states):
    """{job: state} of those of {job: dies} that did not end as they should have."""
    return {job: states.get(job) for job, dies in jobs.items()
            if states.get(job) != ("FAILED" if dies else "COMPLETED")}
