# SPDX-License-Identifier: MIT
"""SchedulerParameters of Slurm's loops: what they mean to this scheduler."""

import contextlib
import re
import socket
import time

import pytest
from elastic_live import SLURM_VERSION, wait_until

pytestmark = [pytest.mark.modes("ms"),
              pytest.mark.starts_itself("they are for Slurm's loops")]


@pytest.fixture
def parameters(cluster):
    """parameters(parameter...): these besides the usual ones, until the test is over."""
    usual = "sched_interval=-1,defer"

    def change(*more):
        cluster.set_slurm(SchedulerParameters=",".join([usual, *more]))

    yield change
    cluster.end_jobs()
    cluster.set_slurm(SchedulerParameters=usual)


def fill(cluster, nodes, limit=10):
    job = cluster.sbatch(f"-N{nodes}", "--exclusive", f"--time={limit}", wrap="sleep 600")
    cluster.wait_state(job, "RUNNING")
    return job


def small(cluster, *more, **others):
    return cluster.sbatch("-N1", "--exclusive", "--time=1", *more, wrap="sleep 600", **others)


def stay_pending(cluster, *jobs):
    cluster.wait_two_passes()
    assert {cluster.state(job) for job in jobs} == {"PENDING"}


def test_bounds_of_users_keep_jobs_from_being_looked_at(cluster, parameters, stranger):
    """Of one user so many, in the order of the queue: who waits counts."""
    parameters("bf_max_job_user=2")
    fill(cluster, 5)
    waiting = [cluster.sbatch("-N8", "--exclusive", "--time=1", wrap="true") for _ in range(2)]
    hidden = small(cluster)
    wait_until(lambda: cluster.job(hidden)["Reason"] == "Priority", "it waits by its priority")
    cluster.wait_state(small(cluster, user=stranger), "RUNNING")
    stay_pending(cluster, hidden)
    cluster.run("scancel", waiting[0])
    cluster.wait_state(hidden, "RUNNING")


@pytest.mark.parametrize("bound", ["bf_max_job_test", "bf_max_job_part", "partition_job_depth", "bf_max_job_user_part"])
def test_bounds_of_the_queue(cluster, parameters, bound):
    parameters(f"{bound}=1")
    fill(cluster, 5)
    large = cluster.sbatch("-N8", "--exclusive", "--time=1", wrap="true")
    hidden = small(cluster)
    stay_pending(cluster, large, hidden)
    parameters(f"{bound}=2")
    cluster.wait_state(hidden, "RUNNING")


def test_a_pass_starts_so_many_jobs(cluster, parameters, elastic):
    parameters("bf_max_job_start=1")
    elastic(Interval=2)
    filler = fill(cluster, 8)
    jobs = [small(cluster) for _ in range(3)]
    stay_pending(cluster, *jobs)
    cluster.run("scancel", filler)
    started = []
    for job in jobs:
        cluster.wait_state(job, "RUNNING")
        started.append(cluster.wait_journal(job, "start")["time"])
    assert min(second - first for first, second in zip(started, started[1:])) >= 1


def test_jobs_of_low_priority_have_no_reservation(cluster, parameters):
    """So nobody waits for them, however long."""
    parameters("bf_min_prio_reserve=4294900000")
    fill(cluster, 6)
    large = cluster.sbatch("-N8", "--exclusive", "--time=1", wrap="true")
    cluster.run("scontrol", "update", f"JobId={large}", "Priority=4294890000")
    stay_pending(cluster, large)
    long = cluster.sbatch("-N2", "--exclusive", "--time=60", wrap="sleep 600")
    cluster.wait_state(long, "RUNNING")


def test_young_jobs_have_no_reservation(cluster, parameters):
    parameters("bf_min_age_reserve=3600")
    fill(cluster, 6)
    large = cluster.sbatch("-N8", "--exclusive", "--time=1", wrap="true")
    stay_pending(cluster, large)
    cluster.wait_state(cluster.sbatch("-N2", "--exclusive", "--time=60", wrap="sleep 600"), "RUNNING")


def test_reservations_begin_within_the_window(cluster, parameters):
    parameters("bf_window=5")
    fill(cluster, 6, limit=10)
    large = cluster.sbatch("-N8", "--exclusive", "--time=1", wrap="true")
    stay_pending(cluster, large)
    cluster.wait_state(cluster.sbatch("-N2", "--exclusive", "--time=60", wrap="sleep 600"), "RUNNING")


def test_a_job_has_one_reservation(cluster, parameters, elastic):
    """In the first of its partitions: in the second nobody waits for it."""
    parameters()
    elastic(Backfill="conservative")
    for node in (1, 2, 3, 4, 5):
        cluster.wait_state(cluster.sbatch("-N1", "--exclusive", "--time=10", "-w", cluster.node_name(node),
                                          wrap="sleep 600"), "RUNNING")
    wide = cluster.sbatch("-N4", "--exclusive", "--time=2", "-p", "left,debug", wrap="true")
    long = cluster.sbatch("-N3", "--exclusive", "--time=60", "-w", "n[6-8]", wrap="sleep 600")
    stay_pending(cluster, wide, long)
    parameters("bf_one_resv_per_job")
    cluster.wait_state(long, "RUNNING")
    stay_pending(cluster, wide)


def test_passes_are_so_far_apart(cluster, parameters):
    parameters("batch_sched_delay=4")
    cluster.wait_state(small(cluster), "RUNNING")
    jobs = []
    for _ in range(2):
        jobs.append(small(cluster))
        cluster.wait_state(jobs[-1], "RUNNING")
    first, second = (cluster.wait_journal(job, "start")["time"] for job in jobs)
    assert second - first >= 3.9


@pytest.mark.skipif(SLURM_VERSION >= (24, 11), reason="a connection has a thread only once it says what it wants")
def test_no_pass_begins_while_slurmctld_is_busy(cluster, parameters):
    """It has a thread for each connection that has not said yet what it wants, for MessageTimeout."""
    parameters("max_rpc_cnt=20")
    job = small(cluster, "--hold")
    port = int(re.search(r"SlurmctldPort\s*=\s*(\d+)", cluster.run("scontrol", "show", "config").out)[1])
    with contextlib.ExitStack() as busy:
        for _ in range(25):
            busy.enter_context(socket.create_connection((socket.gethostname(), port)))
        cluster.run("scontrol", "release", job)
        begin = time.time()
        wait_until(lambda: time.time() > begin + 3, "many passes could have been made")
        assert cluster.state(job) == "PENDING"
    cluster.wait_state(job, "RUNNING")
