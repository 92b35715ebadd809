# SPDX-License-Identifier: MIT
"""Rigid jobs of three sites start as under Slurm alone, where sched/elastic leaves starts to Slurm (Starts=slurm).

Two clusters, one without our plugins, are told the same in rounds. While all nodes are drained, jobs are submitted;
then the nodes come back at once, and Slurm's loops start what they can; urgent jobs come, which preempt others; at the
end all are cancelled. Slurm's two loops run side by side, so which of them starts a job, and with that the order, is
chance, for stock Slurm as well. A round is tried again until ours has done what stock Slurm did in any of its tries.
"""

import contextlib
import os
import re

import pytest
import soak_jobs
from elastic_live import Cluster, wait_until
from sites import COMMON, NODES, SITES, USED, USERS

JOBS = int(os.environ.get("ELASTIC_SOAK_JOBS", "60"))
JOBS_A_ROUND = 20
TRIES = 4
STARTED = re.compile(r"(?:sched: Allocate|sched/backfill: _start_job: Started) JobId=(\d+)(_\d+)?(?:\(\d+\))?"
                     r" (?:NodeList=(\S+)|in \S+ on (\S+))")
PREEMPTED = re.compile(r"[Pp]reempted JobId=(\d+)(_\d+)?(?:\(\d+\))? ")


class SiteCluster(Cluster):
    """Its nodes are drained but in a round."""

    def __init__(self, site, build, stock):
        options = [*site.options, "--accounting", *(["--stock"] if stock else [])]
        super().__init__("ms", nodes=NODES, build=build, conf=[*COMMON, *site.conf], elastic=["Starts=slurm"],
                         options=options)
        self.site = site

    def up(self):
        super().up()
        for command in self.site.sacctmgr:
            self.run("sacctmgr", "--immediate", *command.split())
        if self.site.reservation:
            self.run("scontrol", "create", "reservation", *self.site.reservation)
        self.drain(self.node_name(NODES))
        self.sbatch("-p", "drained", "-n1", "--time=1", wrap="exit")
        self.drain(USED)

    def drain(self, nodes):
        self.run("scontrol", "update", f"NodeName={nodes}", "State=DRAIN", "Reason=round")

    def play(self, jobs, urgent):
        """([(job, nodes)] in the order of starts, those that were preempted); jobs by their places in the lists."""
        before = len(self.log)
        ids = [self.sbatch(*arguments, user=user, wrap="exec sleep 600") for user, arguments in jobs]
        self.run("scontrol", "update", f"NodeName={USED}", "State=RESUME")
        self.settle(before)
        for user, arguments in urgent:  # one after another: what they are given depends on whose victims have ended
            ids.append(self.sbatch(*arguments, user=user, wrap="exec sleep 600"))
            self.settle(before)
        self.drain(USED)
        self.run("scancel", *ids, check=False)
        wait_until(lambda: set(self.run("sinfo", "-h", "-N", "-n", USED, "-o", "%T").out.split()) == {"drained"},
                   "nothing runs", within=60)
        place = {str(job): number for number, job in enumerate(ids)}
        log = self.log[before:]
        starts = [(f"{place[job]}{task}", here or there) for job, task, here, there in STARTED.findall(log)]
        return starts, sorted(f"{place[job]}{task}" for job, task in PREEMPTED.findall(log))

    def settle(self, before):
        """Until both loops have looked twice at what nothing has changed since."""
        started = None
        while started != (started := STARTED.findall(self.log[before:])):
            for _ in range(2):
                self.wait_cycles()

    def wait_cycles(self):
        """Another of both loops; backfill has one only if anything has changed."""
        before = self.cycles()
        self.run("scontrol", "update", f"NodeName={self.node_name(NODES)}", f"Comment=after-{before}")
        wait_until(lambda: all(now > then for now, then in zip(self.cycles(), before)),
                   "both of Slurm's loops have looked", within=60, every=0.2)

    def cycles(self):
        """Of the main loop and of backfill."""
        return [int(number) for number in re.findall(r"Total cycles: +(\d+)", self.run("sdiag").out)]


def random_jobs(chance, site):
    """[(user, arguments)]; time limits differ by minutes, so that no two ends of a plan are the same moment."""
    return [(chance.choice(USERS), ["--no-requeue", f"--time={60 + number}", *site.job(chance)])
            for number in chance.sample(range(JOBS_A_ROUND), JOBS_A_ROUND)]


@pytest.mark.soak
@pytest.mark.parametrize("name", SITES)
def test_rigid_jobs_start_as_under_slurm_alone(request, name):
    if os.getuid() != 0:
        pytest.skip("only root can act as other users")
    site, chance, build = SITES[name], soak_jobs.dice(), request.config.getoption("--build")
    urgent = [(user, ["--no-requeue", "--time=30", *site.urgent]) for user in USERS]
    started = preempted = again = 0
    with contextlib.ExitStack() as clusters:
        stock, ours = (clusters.enter_context(SiteCluster(site, build, is_stock)) for is_stock in (True, False))
        for number in range(JOBS // JOBS_A_ROUND):
            jobs = random_jobs(chance, site)
            expected, found, same = [], [], []
            while not same:
                assert len(found) < TRIES, f"round {number}: {found}\nnot\n{expected}"
                expected.append(stock.play(jobs, urgent))
                found.append(ours.play(jobs, urgent))
                same = [outcome for outcome in found if outcome in expected]
            again += len(found) - 1
            started += len(same[0][0])
            preempted += len(same[0][1])
        assert ours.controller_lives()
        assert not ours.new_errors()
    print(f"{name}: {started} starts, {preempted} preempted; {again} rounds tried again")
    assert started > JOBS // 3
    assert preempted or JOBS < 200  # a short run may have nobody who can be preempted
