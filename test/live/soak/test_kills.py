# SPDX-License-Identifier: MIT
"""The controller dies twenty times at random moments while 240 jobs of all classes run and wait.

Whether a job was lost or a node had two is asked of Slurm's own records, by a checker that knows nothing of journal,
agreements or state file: `scontrol show job` and `scontrol show node`, read again and again while jobs run and are
resized, and at the end. A job that Slurm had not yet saved as running when its controller died starts once more, with
any scheduler, and one that ended in the seconds that Slurm had not yet saved is missed when its node reports after it
has reached an age of 20 s, which `scontrol reconfigure` asks nodes for; so an end is what the last run came to.

With one slurmd a node: Slurm's front-end emulator does not understand what a controller that was just started tells it
to end, so that any scheduler's jobs stay in COMPLETING for minutes.
"""

import os
import re
import time

import pytest
import soak_jobs
from elastic_live import BESIDE_SLURM, wait_until

JOBS, KILLS = 240, int(os.environ.get("ELASTIC_KILLS", "20"))


class Books:
    """Slurm's records at one moment."""

    def __init__(self, cluster):
        before = self._jobs(cluster)
        self.jobs = {int(job): nodes_of(nodes) for job, state, _, nodes in before if state == "RUNNING"}
        text = cluster.run("scontrol", "--oneliner", "show", "node").out
        found = re.findall(r"^NodeName=n(\d+).*? CPUAlloc=(\d+).*? State=(\S+)", text, re.M)
        self.allocated = {int(node): int(count) for node, count, _ in found}
        self.ending = any("COMPLETING" in state for _, _, state in found)
        # A job that its node refuses to start a second time holds nodes for some milliseconds.
        self.all_of_one_moment = self._jobs(cluster) == before

    @staticmethod
    def _jobs(cluster):
        """Number, state, restarts and nodes of each job."""
        text = cluster.run("scontrol", "--oneliner", "show", "job").out
        return re.findall(r"^JobId=(\d+).* JobState=(\S+) .* Restarts=(\d+) .* NodeList=(\S*) ", text, re.M)

    def mistakes(self, cpus):
        """What cannot be: a node of two jobs, or one whose count differs from what its jobs hold."""
        for job, nodes in self.jobs.items():
            for other, others in self.jobs.items():
                if job < other and nodes & others:
                    yield f"jobs {job} and {other} both have {nodes & others}"
        # A job that is ending still holds nodes, and is not in the list.
        if self.all_of_one_moment and not self.ending:
            held = set().union(*self.jobs.values())
            for node, count in self.allocated.items():
                if count != (cpus if node in held else 0):
                    yield f"n{node} has {count} processors allocated and is {'' if node in held else 'not '}held"


def nodes_of(hostlist):
    """The numbers of n[01-04,07] or n07."""
    parts = re.sub(r"^n\[?|\]$", "", hostlist).split(",")
    ends = [part.split("-") for part in parts]
    return {number for part in ends for number in range(int(part[0]), int(part[-1]) + 1)}


@pytest.fixture
def big(request):
    """Rigid jobs, too, have their nodes for themselves, so that no node may be in two jobs' lists."""
    with soak_jobs.cluster("ms", 48, request.config.getoption("--build"), "OverSubscribe=EXCLUSIVE",
                           elastic=["Starts=slurm"] if BESIDE_SLURM else []) as started:
        yield started


def states(cluster):
    """{job: state} of all jobs that Slurm knows."""
    text = cluster.run("scontrol", "--oneliner", "show", "job").out
    return {int(job): state for job, state in re.findall(r"^JobId=(\d+).* JobState=(\S+) ", text, re.M)}


def wait_saved(cluster, job):
    """Until Slurm has saved a job, and so all before it: what it has not, nobody can bring back."""
    mark = f"saved-{job}"
    cluster.run("scontrol", "update", f"JobId={job}", f"Comment={mark}")
    wait_until(lambda: mark.encode() in cluster.slurm_state("job_state"), f"Slurm has saved job {job}")


def undo_second_starts(cluster):
    """Slurm drains a node that is told to start a job which it has never stopped running, and holds the job."""
    text = cluster.run("squeue", "--noheader", "--format=%A %r").out
    for line in text.splitlines():
        if line.endswith(" launch failed requeued held"):
            cluster.run("scontrol", "release", line.split()[0])
    text = cluster.run("sinfo", "--noheader", "--Node", "--format=%N %t %E").out
    for node in {line.split()[0] for line in text.splitlines() if line.endswith("drain Duplicate jobid")}:
        cluster.run("scontrol", "update", f"NodeName={node}", "State=RESUME")


@pytest.mark.soak
def test_kills(big):
    chance, program = soak_jobs.dice(), soak_jobs.program(big)
    jobs = dict(soak_jobs.submit(big, program, chance) for _ in range(JOBS))
    wait_saved(big, max(jobs))
    compared = 0

    def check():
        books = Books(big)
        nonlocal compared
        compared += books.all_of_one_moment
        mistakes = list(books.mistakes(big.cpus))
        assert not mistakes, mistakes

    for _ in range(KILLS):
        moment = time.monotonic() + chance.uniform(0, 3)
        while time.monotonic() < moment:
            check()
        big.kill_controller()
        big.start_controller()
    report = time.monotonic()

    def all_ended():
        check()
        nonlocal report
        if time.monotonic() > report:
            big.run("scontrol", "reconfigure")
            undo_second_starts(big)
            report = time.monotonic() + 15
        return not big.queue()
    wait_until(all_ended, lambda: f"the queue is empty: {big.queue()}", within=400)
    undo_second_starts(big)
    big.wait_quiet()
    assert set(states(big)) == set(jobs), "a job is lost"
    assert not soak_jobs.wrong_ends(jobs, states(big))
    assert compared > KILLS
    soak_jobs.ends(big, jobs)
    big.run("selastic", "check", big.journal_path())
    assert {event["kind"] for event in big.journal(event="resize")} == {"shrink", "expand"}
