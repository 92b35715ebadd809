# SPDX-License-Identifier: MIT
"""What Slurm's own loops do as ever where they start jobs (Starts=slurm). For heterogeneous jobs and preemption see
test_companion.py and test_preemption.py."""

import datetime
import re

import burst_buffers
import pytest
from elastic_live import ELASTIC, LOOPS, Cluster, wait_until

pytestmark = [pytest.mark.modes("ms")]
COMPANION = {**ELASTIC, "Policy": "elastic", "Starts": "slurm"}


@pytest.fixture(scope="module")
def cluster(request):
    mode, select = request.param
    has_buffers = burst_buffers.has_plugin()
    with Cluster(mode, select, build=request.config.getoption("--build"), conf=burst_buffers.CONF * has_buffers,
                 elastic=[f"{key}={value}" for key, value in COMPANION.items()],
                 options=burst_buffers.OPTIONS * has_buffers) as started:
        yield started


@pytest.fixture
def parameters(cluster):
    """parameters(parameter...): of Slurm's loops besides the usual ones, until the test is over."""
    def change(*more):
        cluster.set_slurm(SchedulerParameters=",".join([LOOPS.partition("=")[2], *more]))

    yield change
    cluster.end_jobs()
    change()


def fill(cluster, nodes):
    job = cluster.sbatch(f"-N{nodes}", "--exclusive", "--time=10", wrap="sleep 600")
    cluster.wait_state(job, "RUNNING")
    return job


def large(cluster):
    return cluster.sbatch("-N8", "--exclusive", "--time=5", wrap="true")


def small(cluster, **more):
    return cluster.sbatch("-N1", "--exclusive", "--time=1", wrap="sleep 600", **more)


def backfill(cluster, number):
    """What sdiag says of it."""
    section = cluster.run("sdiag").out.partition("Backfilling stats")[2]
    return int(re.search(rf"{number}: +(\d+)", section)[1])


def wait_backfill(cluster):
    """Two cycles, so one as of now."""
    before = backfill(cluster, "Total cycles")
    wait_until(lambda: backfill(cluster, "Total cycles") >= before + 2, "backfill has had its turn")


def time_of(cluster, job, field):
    told = cluster.job(job)[field]
    return None if told == "Unknown" else datetime.datetime.fromisoformat(told)


def test_a_bound_of_backfill_holds(cluster, parameters, stranger):
    """Of one user so many jobs, in the order of the queue, whatever our plans have start."""
    parameters("bf_max_job_user=1")
    fill(cluster, 5)
    first = large(cluster)
    hidden = small(cluster)
    cluster.wait_state(small(cluster, user=stranger), "RUNNING")
    wait_backfill(cluster)
    assert [cluster.state(job) for job in (first, hidden)] == ["PENDING"] * 2
    parameters("bf_max_job_user=2")
    cluster.wait_state(hidden, "RUNNING")


def test_backfill_counts_its_cycles_and_jobs(cluster):
    """What our passes look at is not among it."""
    fill(cluster, 5)
    waiting = [large(cluster) for _ in range(3)]
    wait_backfill(cluster)
    assert backfill(cluster, "Last depth cycle") == len(waiting)
    before = backfill(cluster, r"Total backfilled jobs \(since last slurm start\)")
    for job in [small(cluster) for _ in range(2)]:
        cluster.wait_state(job, "RUNNING")
    assert backfill(cluster, r"Total backfilled jobs \(since last slurm start\)") == before + 2


def test_every_job_that_waits_has_an_expected_start(cluster):
    filler = fill(cluster, 6)
    waiting = [large(cluster) for _ in range(3)]
    wait_until(lambda: all(time_of(cluster, job, "StartTime") for job in waiting), "all have an expected start")
    end = time_of(cluster, filler, "EndTime")
    for turn, job in enumerate(waiting):
        assert abs((time_of(cluster, job, "StartTime") - end).total_seconds() - turn * 300) <= 60
    told = cluster.run("squeue", "--start", "--noheader", "--format=%i %S").out.split()
    assert set(told[::2]) == {str(job) for job in waiting} and "N/A" not in told


def test_idle_nodes_that_are_expected_to_be_used_are_planned(cluster):
    filler = fill(cluster, 6)
    idle = set(cluster.all_nodes) - set(cluster.nodes_of(filler))
    waiting = large(cluster)

    def planned():
        return {node for node, state in cluster.node_states(planned=True).items() if state == "planned"}
    wait_until(lambda: planned() == idle, lambda: f"the idle nodes are planned, not {planned()}")
    cluster.wait_two_passes()
    wait_backfill(cluster)
    wait_until(lambda: planned() == idle, lambda: f"the idle nodes are planned again, not {planned()}")
    cluster.run("scancel", waiting)
    wait_until(lambda: not planned(), lambda: f"no node is planned any more: {planned()}")


def test_a_job_starts_when_its_data_are_there(cluster, expect_errors):
    if not burst_buffers.has_plugin():
        pytest.skip("this Slurm was built without Lua")
    expect_errors.append(burst_buffers.SAID_AT_END)
    job = burst_buffers.submit(cluster, "-N8")
    burst_buffers.wait_begun(cluster, job)
    burst_buffers.wait_reason(cluster, job, "BurstBufferStageIn")
    wait_backfill(cluster)
    assert cluster.state(job) == "PENDING"
    burst_buffers.end_staging(cluster, job)
    cluster.wait_state(job, "RUNNING")


def test_nobody_shrinks_for_a_job_whose_data_are_being_staged_in(cluster, expect_errors):
    if not burst_buffers.has_plugin():
        pytest.skip("this Slurm was built without Lua")
    expect_errors.append(burst_buffers.SAID_AT_END)
    app = cluster.actor("malleable,min=2,max=8", "-N8")
    job = burst_buffers.submit(cluster, "-N4")
    burst_buffers.wait_begun(cluster, job)
    cluster.wait_two_passes()
    app.no_event()
    burst_buffers.end_staging(cluster, job)
    assert app.take_shrink()["size"] == 4
    cluster.wait_state(job, "RUNNING")
