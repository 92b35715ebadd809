# SPDX-License-Identifier: MIT
"""What users are told of jobs that wait: when they start, and where."""

import datetime

import pytest
from elastic_live import wait_until

pytestmark = [pytest.mark.starts_itself("it is Slurm's backfill that tells it")]


def expected(cluster, job):
    """When, None if that is not known, and on which nodes."""
    shown = cluster.job(job)
    start = None if shown["StartTime"] == "Unknown" else datetime.datetime.fromisoformat(shown["StartTime"])
    return start, shown.get("SchedNodeList", "")


def end_of(cluster, job):
    return datetime.datetime.fromisoformat(cluster.job(job)["EndTime"])


def seconds_between(first, second):
    return (second - first).total_seconds()


def fill(cluster, nodes, limit):
    job = cluster.sbatch(f"-N{nodes}", "--exclusive", f"--time={limit}", wrap="sleep 600")
    cluster.wait_state(job, "RUNNING")
    return job


def wait_expected(cluster, *jobs):
    wait_until(lambda: all(expected(cluster, job)[0] for job in jobs), "all of them have an expected start")


def test_every_job_that_waits_has_an_expected_start(cluster, elastic):
    elastic(ForecastInterval=1)
    filler = fill(cluster, 6, limit=10)
    large = [cluster.sbatch("-N8", "--exclusive", "--time=5", wrap="true") for _ in range(3)]
    last = cluster.sbatch("-N2", "--exclusive", "--time=20", wrap="true")
    wait_expected(cluster, *large, last)
    end = end_of(cluster, filler)
    for turn, job in enumerate(large):
        start, nodes = expected(cluster, job)
        assert abs(seconds_between(end, start) - turn * 300) <= 2
        assert cluster.expand(nodes) == cluster.all_nodes
    start, nodes = expected(cluster, last)
    assert abs(seconds_between(end, start) - 900) <= 2 and len(cluster.expand(nodes)) == 2
    told = cluster.run("squeue", "--start", "--noheader", "--format=%i %S").out.split()
    assert set(told[::2]) == {str(job) for job in [*large, last]} and "N/A" not in told


def test_an_expected_start_follows_what_happens(cluster, elastic):
    elastic(ForecastInterval=1)
    filler = fill(cluster, 8, limit=10)
    first, second = (cluster.sbatch("-N8", "--exclusive", "--time=5", wrap="true") for _ in range(2))
    wait_expected(cluster, first, second)
    cluster.run("scancel", first)
    wait_until(lambda: abs(seconds_between(end_of(cluster, filler), expected(cluster, second)[0])) <= 2,
               "the second is expected where the first was")
    cluster.run("scontrol", "hold", second)
    wait_until(lambda: expected(cluster, second) == (None, ""), "a job that is held is expected nowhere")


def test_idle_nodes_that_are_expected_to_be_used_are_planned(cluster, elastic):
    elastic(ForecastInterval=1)
    filler = fill(cluster, 6, limit=10)
    large = cluster.sbatch("-N8", "--exclusive", "--time=5", wrap="true")
    idle = set(cluster.all_nodes) - set(cluster.nodes_of(filler))

    def planned():
        return {node for node, state in cluster.node_states(planned=True).items() if state == "planned"}
    wait_until(lambda: planned() == idle, lambda: f"the idle nodes are planned, not {planned()}")
    cluster.run("scancel", large)
    wait_until(lambda: not planned(), lambda: f"no node is planned any more: {planned()}")


def test_without_time_only_reserved_starts_are_told(cluster, elastic):
    elastic(ForecastInterval=1, ForecastTime=0)
    fill(cluster, 8, limit=10)
    first, second = (cluster.sbatch("-N8", "--exclusive", "--time=5", wrap="true") for _ in range(2))
    wait_expected(cluster, first)
    cluster.wait_two_passes()
    assert expected(cluster, second) == (None, "") and not expected(cluster, first)[1]


def test_what_is_expected_is_forgotten_where_slurm_starts_jobs(cluster, elastic):
    """Its own plans are read back as promises, so none of ours may be left."""
    elastic(ForecastInterval=1)
    fill(cluster, 6, limit=10)
    large = cluster.sbatch("-N8", "--exclusive", "--time=5", wrap="true")
    wait_until(lambda: expected(cluster, large)[1], "it has expected nodes")
    elastic(Starts="slurm")
    wait_until(lambda: expected(cluster, large)[1] == "", "they are forgotten")
    assert "planned" not in cluster.node_states(planned=True).values()
