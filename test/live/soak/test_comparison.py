# SPDX-License-Identifier: MIT
"""The same workload on a live cluster and in the simulator: the same decisions.

What happens a few seconds later than it could, as it does where processes are started and
messages sent, may change what is decided next, and rightly so.  So the workload is one in
which it does not: it is made of rounds, each after all jobs of the one before have ended, and
a round is taken only if the simulator decides the same with all submissions and run times
moved by chance by up to LATENCY seconds, and with --settle: after a plan that changes something
the plugin plans again, while the simulator waits for the next event.  It also decides the same with nodes that come
free some seconds after a job's end, while a plan counts on them at once, and, where there are partitions, wherever
Slurm, which chooses among the nodes that a plan allows, puts jobs.  Nothing else is asked of it.

Limits do not bind root, so where there are limits jobs are of two other users, of whom slurmdbd knows; the simulator
reads the QOS as sacctmgr prints them.
"""

import copy
import dataclasses
import datetime
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
PARTITION_ROUNDS = 6  # longer ones
LATENCY = 16.0  # seconds of the fast clock; up to 13 were seen, a quarter of a second of a real one
COMPLETING = ["1", "4", "16"]  # seconds
VARIANTS = 40   # how often a round is moved by chance; with 12 a tie of two ends got through
STRAYS = 20     # how often it is placed on nodes by chance
PAUSE = 60      # between two rounds
SEED = int(os.environ.get("ELASTIC_TEST_SEED", "1"))
# Seconds of a round in which its reservation has nodes of all partitions.
RESERVED = (600, 1000)
RESERVED_NODES = "n[09-10]"
ZERO = 1_000_000_000  # of a log with dates
# Overlapping, and one that comes before the others; each has a node of its own, which is taken first.
PARTITIONS = {"main": range(1, 13), "side": range(9, 17), "urgent": range(5, 13)}
OWN = {"main": 17, "side": 18, "urgent": 19}
TIERS = {"main": 1, "side": 1, "urgent": 5}
CONF = [f"PartitionName={name} Nodes=n[{nodes[0]:02}-{nodes[-1]:02},{OWN[name]}] PriorityTier={TIERS[name]} State=UP"
        for name, nodes in PARTITIONS.items()]
# In the order of their priorities; root's jobs have none of these.
QOS = {"express": ["Priority=100", "GrpTRES=node=6"],
       "usual": ["Priority=10", "MaxTRESPerUser=node=10", "MaxJobsPerUser=2"]}
MOST_NODES = {"express": 6, "usual": 10}
USERS = ["daemon", "bin"]
WITH_LIMITS = ["AccountingStorageEnforce=associations,limits,qos", "PriorityType=priority/multifactor",
               "PriorityWeightQOS=1000"]
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


def to_sacct(jobs):
    """The same as an export of sacct, with partitions."""
    lines = ["JobID|NNodes|Submit|ElapsedRaw|Timelimit|Partition|State|User|QOS|SubmitLine"]
    for number, job in enumerate(jobs, start=1):
        command = f"sbatch --elastic={job.elastic} x" if job.elastic else ""
        lines.append(f"{number}|{job.nodes}|{ZERO + job.submit}|{job.run}|{job.limit // 60:02}:{job.limit % 60:02}:00|"
                     f"{job.partition}|COMPLETED|{job.user}|{job.qos}|{command}")
    return "\n".join(lines) + "\n"


def to_reservations(begins):
    lines = [f"r|{RESERVED_NODES}|{ZERO + begin + RESERVED[0]}|{ZERO + begin + RESERVED[1]}" for begin in begins]
    return "\n".join(["Name|NodeName|Start|End", *lines]) + "\n"


class Simulator:
    """selastic-sim run, under one policy; with partitions, reservations and QOS if it knows the site."""

    def __init__(self, build, policy, site=None, qos=None):
        self.site, self.conf, self.qos = site and pathlib.Path(site), "slurm.conf", qos
        built = pathlib.Path(build) / ".libs" / "selastic-sim"
        self.program = str(built if built.exists() else pathlib.Path(build) / "selastic-sim")
        self.policy = policy

    def __call__(self, jobs, *options):
        """The journal's events."""
        if self.site:
            reservations = self.site / "reservations"
            reservations.write_text(to_reservations(begins(jobs)))
            options = [*options, "--slurm-conf", self.site / self.conf, "--reservations", reservations]
        if self.qos:
            options += ["--qos", self.qos]
        done = subprocess.run([self.program, "run", "-", "--policy", self.policy,
                               "--set", f"ResizeGap={GAP}", "--journal", "-", *options],
                              input=to_sacct(jobs) if self.site else to_swf(jobs),
                              capture_output=True, text=True, check=True)
        return [json.loads(line) for line in done.stdout.splitlines()]

    def without_qos(self):
        other = copy.copy(self)
        other.qos = None
        return other

    def straying(self, dice):
        """Of nodes that all may have it takes others first, by chance, as Slurm does among those that a plan allows."""
        weights = dice.sample(range(10, 10 + NODES), NODES)
        nodes = [f"NodeName=n{number:02} Weight={weight}" for number, weight in enumerate(weights, start=1)]
        other = copy.copy(self)
        other.conf = "straying.conf"
        own = f"NodeName=n[{NODES + 1}-{NODES + len(OWN)}]"
        (self.site / other.conf).write_text("\n".join([*nodes, own, *CONF, *(WITH_LIMITS if self.qos else [])]))
        return other


def one_of_each_partition():
    """On its own node, and does not change. While they run slurmctld and the simulator tell the same pools apart:
    slurmctld has those alone that jobs want which wait or may grow."""
    return [Job(60.0 * place, 1700, 1, 30, 1, 2, "evolving", name) for place, name in enumerate(PARTITIONS)]


def begins(jobs):
    """Of rounds with partitions."""
    return [jobs[place].submit for place in range(0, len(jobs), JOBS_A_ROUND)]


def limit(job, dice):
    """Makes it another user's, under a QOS that lets it start."""
    job.user, job.qos = dice.choice(USERS), dice.choice(list(QOS))
    job.nodes = min(job.nodes, MOST_NODES[job.qos])
    # That it may start with fewer nodes where a limit has no room for these, the simulator does not know.
    job.low = job.nodes if job.high else 0


def make_round(dice, malleable_share, partitions, limits):
    """A few jobs that contend for the nodes."""
    jobs = one_of_each_partition() if partitions else []
    at = 60.0 * len(jobs)
    while len(jobs) < JOBS_A_ROUND:
        nodes = dice.choice([1, 2, 3, 4, 6, 8, 10, 12])
        run = dice.randint(60, 300)
        job = Job(at, run, nodes, limit=(run + 59) // 60 + dice.choice([1, 1, 2, 4, 8]))
        if dice.random() < malleable_share:
            job.low = max(1, nodes // dice.choice([1, 2, 4]))
            job.high = min(NODES, nodes * dice.choice([1, 2, 4]))
        if partitions:
            job.partition = dice.choice(list(PARTITIONS))
            most = len(PARTITIONS[job.partition]) - 3
            job.nodes, job.low, job.high = (min(size, most) for size in (job.nodes, job.low, job.high))
        if limits:
            limit(job, dice)
        jobs.append(job)
        at += dice.randint(20, 80)
    return jobs


def moved(jobs, dice):
    """All but the first, from which a round's reservation counts."""
    return [dataclasses.replace(job, submit=job.submit + (dice.uniform(0, LATENCY) if place else 0),
                                run=job.run + dice.uniform(0, LATENCY)) for place, job in enumerate(jobs)]


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


def happens_anywhere(expected, strayed):
    """Whether all is decided at the same times wherever jobs are put."""
    return not any(compare_journals.compare(expected, other, lambda _: LATENCY) for other in strayed)


def length(events):
    return events[-1]["time"] - events[0]["time"]


def make_workload(simulate, malleable_share, partitions=False, limits=False):
    dice = random.Random(SEED)
    workload, zero, tried = [], 0.0, 0
    wanted = (PARTITION_ROUNDS if partitions else ROUNDS) * JOBS_A_ROUND
    while len(workload) < wanted:
        rounds = [make_round(dice, malleable_share, partitions, limits) for _ in range(ROUNDS)]
        family = 1 + VARIANTS
        events = simulate_rounds(simulate, [jobs if variant == 0 else moved(jobs, dice)
                                            for jobs in rounds for variant in range(family)])
        settled = [simulate_rounds(simulate, rounds, "--settle")]
        settled += [simulate_rounds(simulate, rounds, "--completing", seconds) for seconds in COMPLETING]
        strayed = [simulate_rounds(simulate.straying(dice), rounds) for _ in range(STRAYS if partitions else 0)]
        for place, jobs in enumerate(rounds):
            own = [*events[place * family:(place + 1) * family], *(other[place] for other in settled)]
            tried += 1
            if is_unambiguous(own) and happens_anywhere(own[0], [other[place] for other in strayed]) \
                    and len(workload) < wanted:
                workload += later(jobs, zero)
                zero += length(own[0]) + PAUSE
    print(f"{wanted // JOBS_A_ROUND} rounds of {tried}: in the others decisions depend on seconds or on nodes")
    return workload


def fast_cluster(request, **settings):
    if not shutil.which("faketime"):
        pytest.skip("faketime is not installed")
    return FastCluster(RATE, build=request.config.getoption("--build"),
                       elastic=["GraceTime=600", "BackOff=1", "Interval=0.5"], **settings)


@pytest.fixture(scope="module")
def fast(request):
    with fast_cluster(request, nodes=NODES) as started:
        yield started


LIGHTER = ["--node-line", f"n[1-{NODES}] Weight=10"]


@pytest.fixture(scope="module")
def partitioned(request):
    with fast_cluster(request, nodes=NODES + len(OWN), conf=CONF, options=LIGHTER) as started:
        yield started


@pytest.fixture(scope="module")
def limited(request):
    if os.getuid() != 0:
        pytest.skip("only root can submit jobs of others, and no limit binds root")
    for program in ("slurmdbd", "mariadbd"):
        if not shutil.which(program, path=os.environ["PATH"] + ":/usr/sbin"):
            pytest.skip(f"there is no {program}: contribs/install-deps --test")
    with fast_cluster(request, nodes=NODES + len(OWN), conf=[*CONF, *WITH_LIMITS],
                      options=[*LIGHTER, "--accounting"]) as started:
        add_users(started)
        yield started


def add_users(cluster):
    """With the QOS; returns when slurmctld knows all."""
    def add(*what):
        cluster.run("sacctmgr", "--immediate", "add", *what)
    for name, settings in QOS.items():
        add("qos", name, *settings)
    add("account", "site")
    for user in USERS:
        add("user", user, "account=site", f"qos={','.join(QOS)}", f"defaultqos={next(iter(QOS))}")

    def shown():
        return cluster.run("scontrol", "show", "assoc_mgr", "flags=assoc,qos").out
    wait_until(lambda: all(f"QOS={name}(" in shown() for name in QOS) and
               all(f"UserName={user}(" in shown() for user in USERS), lambda: f"slurmctld knows the users:\n{shown()}")


def qos_file(cluster):
    """As the simulator wants it."""
    columns = "Name,Priority,GrpTRES,GrpJobs,MaxTRESPU,MaxJobsPU,MaxTRESPA,MaxJobsPA"
    path = cluster.dir / "qos"
    path.write_text(cluster.run("sacctmgr", "--parsable2", "show", "qos", f"format={columns}").out)
    return path


def reserve(cluster, begin):
    """For a round that begins then."""
    first, last = (datetime.datetime.fromtimestamp(begin + offset).strftime("%FT%T") for offset in RESERVED)
    cluster.run("scontrol", "create", "reservation", f"StartTime={first}", f"EndTime={last}",
                f"Nodes={RESERVED_NODES}", "Users=root")


def run_live(cluster, workload, with_reservations=False):
    """The events of these jobs."""
    zero, ids = cluster.clock.now() + 30, set()
    rounds = set(begins(workload)) if with_reservations else set()
    for job in workload:
        cluster.clock.sleep_until(zero + job.submit)
        if job.submit in rounds:
            reserve(cluster, zero + job.submit)
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


def lateness(expected):
    """How late a decision may be: it may have waited for all of its round that ended before, one after the other."""
    zero = min(event["time"] for event in expected if event["event"] == "submit")
    ends = [((event["job"] - 1) // JOBS_A_ROUND, event["time"] - zero) for event in expected if event["event"] == "end"]

    def seconds(decision):
        round_of_it = (decision.job - 1) // JOBS_A_ROUND
        return LATENCY * (1 + sum(where == round_of_it and time <= decision.time for where, time in ends))
    return seconds


def check_agreement(cluster, simulate, workload, label):
    """Runs both, and compares them."""
    expected = simulate(workload)
    cluster.set_elastic(Policy=simulate.policy, ResizeGap=GAP, GraceTime=600, BackOff=1, Interval=0.5)
    actual = run_live(cluster, workload, with_reservations=simulate.site)
    keep_journals(label, simulated=expected, live=actual)
    print(f"{label}: {compare_journals.summary(expected, actual)}")
    ends = [event["state"] for event in actual if event["event"] == "end"]
    assert set(ends) == {"COMPLETED"}
    differences = compare_journals.compare(expected, actual, lateness(expected))
    assert not differences, "\n".join(differences)
    cluster.check_journal()


@pytest.mark.soak
@pytest.mark.parametrize("policy, malleable_share", [
    ("easy", 0), ("elastic", 0.7), ("lina-default", 0.7), ("mebf-intensive", 0.7),
    ("equipartition", 0.7)],
    ids=["easy", "elastic", "lina-default", "mebf-intensive", "equipartition"])
def test_live_and_simulator_agree(fast, policy, malleable_share):
    simulate = Simulator(fast.build, policy)
    check_agreement(fast, simulate, make_workload(simulate, malleable_share), policy)


@pytest.mark.soak
@pytest.mark.parametrize("policy, malleable_share", [("easy", 0), ("elastic", 0.7), ("lina-default", 0.7)],
                         ids=["easy", "elastic", "lina-default"])
def test_live_and_simulator_agree_on_partitions(partitioned, policy, malleable_share):
    """Three that overlap, one of a higher PriorityTier, and a reservation; the simulator reads slurm.conf."""
    simulate = Simulator(partitioned.build, policy, partitioned.dir)
    check_agreement(partitioned, simulate, make_workload(simulate, malleable_share, partitions=True),
                    f"{policy}-partitions")


@pytest.mark.soak
@pytest.mark.parametrize("policy, malleable_share", [("easy", 0), ("elastic", 0.7), ("lina-default", 0.7)],
                         ids=["easy", "elastic", "lina-default"])
def test_live_and_simulator_agree_on_partitions_with_limits(limited, policy, malleable_share):
    """The same with two QOS: their priorities, nodes that all jobs of one may have, and nodes and jobs of each user."""
    simulate = Simulator(limited.build, policy, limited.dir, qos_file(limited))
    workload = make_workload(simulate, malleable_share, partitions=True, limits=True)
    without = simulate.without_qos()(workload)
    assert compare_journals.compare(simulate(workload), without, lambda _: LATENCY), "QOS do nothing"
    check_agreement(limited, simulate, workload, f"{policy}-limits")
