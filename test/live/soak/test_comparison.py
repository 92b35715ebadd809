# SPDX-License-Identifier: MIT
"""The same workload on a live cluster and in the simulator: the same decisions.

What happens a few seconds later than it could, as it does where processes are started and
messages sent, may change what is decided next, and rightly so.  So the workload is one in
which it does not: it is made of rounds, each after all jobs of the one before have ended, and
a round is taken only if the simulator decides the same with all submissions and run times
moved by chance by up to LATENCY seconds, and with --settle: after a plan that changes something
the plugin plans again, while the simulator waits for the next event.  Nothing else is asked of it.
"""

import dataclasses
import json
import os
import pathlib
import random
import shutil
import subprocess

import compare_journals
import pytest
from elastic_live import wait_until
from fast_cluster import FastCluster, Job

RATE = int(os.environ.get("ELASTIC_RATE", "50"))
NODES = 16
ROUNDS, JOBS_A_ROUND = 13, 8
LATENCY = 16.0  # seconds of the fast clock; up to 13 were seen, a quarter of a second of a real one
VARIANTS = 40   # how often a round is moved by chance; with 12 a tie of two ends got through
PAUSE = 60      # between two rounds
SEED = int(os.environ.get("ELASTIC_TEST_SEED", "1"))
# The least time between two resizes leaves an application the time to be started.
GAP = 60


def to_swf(jobs):
    lines = [f"; MaxNodes: {NODES}", f"; MaxProcs: {NODES}"]
    for number, job in enumerate(jobs, start=1):
        lines.append(f"{number} {job.submit} -1 {job.run} {job.nodes} -1 -1 {job.nodes} "
                     f"{job.limit * 60} -1 1 -1 -1 -1 -1 -1 -1 -1")
        if job.elastic:
            lines.append(f"; elastic: {number} {job.elastic}")
    return "\n".join(lines) + "\n"


class Simulator:
    """selastic-sim run, under one policy."""

    def __init__(self, build, policy):
        built = pathlib.Path(build) / ".libs" / "selastic-sim"
        self.program = str(built if built.exists() else pathlib.Path(build) / "selastic-sim")
        self.policy = policy

    def __call__(self, jobs, *options):
        """The journal's events."""
        done = subprocess.run([self.program, "run", "-", "--policy", self.policy,
                               "--set", f"ResizeGap={GAP}", "--journal", "-", *options],
                              input=to_swf(jobs), capture_output=True, text=True, check=True)
        return [json.loads(line) for line in done.stdout.splitlines()]


def make_round(dice, malleable_share):
    """A few jobs that contend for the nodes."""
    jobs, at = [], 0.0
    for _ in range(JOBS_A_ROUND):
        nodes = dice.choice([1, 2, 3, 4, 6, 8, 10, 12])
        run = dice.randint(60, 300)
        job = Job(at, run, nodes, limit=(run + 59) // 60 + dice.choice([1, 1, 2, 4, 8]))
        if dice.random() < malleable_share:
            job.low = max(1, nodes // dice.choice([1, 2, 4]))
            job.high = min(NODES, nodes * dice.choice([1, 2, 4]))
        jobs.append(job)
        at += dice.randint(20, 80)
    return jobs


def moved(jobs, dice):
    return [dataclasses.replace(job, submit=job.submit + dice.uniform(0, LATENCY),
                                run=job.run + dice.uniform(0, LATENCY)) for job in jobs]


def later(jobs, seconds):
    return [dataclasses.replace(job, submit=job.submit + seconds) for job in jobs]


def simulate_rounds(simulate, rounds, *options):
    """The events of each, by one run of the simulator in which they do not meet."""
    events = [[] for _ in rounds]
    apart = 100 * 3600
    log = [job for place, jobs in enumerate(rounds) for job in later(jobs, place * apart)]
    for event in simulate(log, *options):
        if "job" in event:
            events[(event["job"] - 1) // JOBS_A_ROUND].append(event)
    return events


def is_unambiguous(events):
    """Whether a round's events are, by decisions, those of its moved variants."""
    expected, *variants = events
    return not any(compare_journals.compare(expected, variant) for variant in variants)


def length(events):
    return events[-1]["time"] - events[0]["time"]


def make_workload(simulate, malleable_share):
    dice = random.Random(SEED)
    workload, zero, tried = [], 0.0, 0
    while len(workload) < ROUNDS * JOBS_A_ROUND:
        rounds = [make_round(dice, malleable_share) for _ in range(ROUNDS)]
        family = 1 + VARIANTS
        events = simulate_rounds(simulate, [jobs if variant == 0 else moved(jobs, dice)
                                            for jobs in rounds for variant in range(family)])
        settled = simulate_rounds(simulate, rounds, "--settle")
        for place, jobs in enumerate(rounds):
            own = [*events[place * family:(place + 1) * family], settled[place]]
            tried += 1
            if is_unambiguous(own) and len(workload) < ROUNDS * JOBS_A_ROUND:
                workload += later(jobs, zero)
                zero += length(own[0]) + PAUSE
    print(f"{ROUNDS} rounds of {tried}: in the others decisions depend on seconds")
    return workload


@pytest.fixture(scope="module")
def fast(request):
    if not shutil.which("faketime"):
        pytest.skip("faketime is not installed")
    with FastCluster(RATE, nodes=NODES, build=request.config.getoption("--build"),
                     elastic=["GraceTime=600", "BackOff=1", "Interval=0.5"]) as started:
        yield started


def run_live(cluster, workload):
    """The events of these jobs."""
    zero, ids = cluster.clock.now() + 30, set()
    for job in workload:
        cluster.clock.sleep_until(zero + job.submit)
        ids.add(cluster.submit(job))
    last = max(job.submit for job in workload)

    def events():
        return [event for event in cluster.journal() if event.get("job") in ids]
    wait_until(lambda: sum(event["event"] == "end" for event in events()) == len(ids),
               lambda: f"all of {len(ids)} jobs have ended", within=60 + last / RATE, every=0.5)
    return events()


def keep_journals(policy, **journals):
    folder = os.environ.get("ELASTIC_KEEP")
    for name, events in journals.items() if folder else []:
        path = pathlib.Path(folder) / f"{policy}.{name}.journal"
        path.write_text("".join(json.dumps(event) + "\n" for event in events))


@pytest.mark.soak
@pytest.mark.parametrize("policy, malleable_share", [
    ("easy", 0), ("elastic", 0.7), ("lina-default", 0.7), ("mebf-intensive", 0.7),
    ("equipartition", 0.7)],
    ids=["easy", "elastic", "lina-default", "mebf-intensive", "equipartition"])
def test_live_and_simulator_agree(fast, policy, malleable_share):
    simulate = Simulator(fast.build, policy)
    workload = make_workload(simulate, malleable_share)
    expected = simulate(workload)
    fast.set_elastic(Policy=policy, ResizeGap=GAP, GraceTime=600, BackOff=1, Interval=0.5)
    actual = run_live(fast, workload)
    keep_journals(policy, simulated=expected, live=actual)
    print(f"{policy}: {compare_journals.summary(expected, actual)}")
    ends = [event["state"] for event in actual if event["event"] == "end"]
    assert set(ends) == {"COMPLETED"}
    # A round's last job may wait for others, one after the other.
    differences = compare_journals.compare(expected, actual, 3 * LATENCY)
    assert not differences, "\n".join(differences)
    fast.check_journal()
