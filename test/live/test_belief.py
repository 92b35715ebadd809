# SPDX-License-Identifier: MIT
"""What the scheduler believes of speed-up that jobs declare, once it has seen some of them end."""

import pytest

of_starts = pytest.mark.starts_itself("jobs start with more nodes than they prefer")

BELIEF = {"Policy": "elastic", "Belief": "learned", "ResizeGap": 0}
OPTIONS = "--elastic=malleable,min=1,pref=1,max=4", "-N1", "--exclusive", "--time=5"


def run_to_its_end(cluster, count):
    """So many jobs at once, whose time does not depend on their size."""
    jobs = [cluster.sbatch(*OPTIONS, wrap="sleep 2") for _ in range(count)]
    for job in jobs:
        cluster.wait_state(job, "COMPLETED")
    return [cluster.wait_journal(job, "start")["count"] for job in jobs]


def believed(cluster):
    """Of a job that runs."""
    job = cluster.sbatch(*OPTIONS, wrap="sleep 600")
    cluster.wait_state(job, "RUNNING")
    share = cluster.selastic("show", job)["job"].get("believed", 1)
    cluster.run("scancel", job)
    return share


@of_starts
def test_jobs_that_run_no_faster_on_more_nodes_are_not_believed(cluster, elastic):
    elastic(**BELIEF)
    assert believed(cluster) == pytest.approx(0.5)
    sizes = []
    for _ in range(3):
        sizes += run_to_its_end(cluster, 1) + run_to_its_end(cluster, 4)
    assert len(set(sizes)) > 1, "they start with different sizes"
    assert believed(cluster) < 0.3
    cluster.restart_controller()
    assert believed(cluster) < 0.3


@of_starts
def test_jobs_are_believed_by_default(cluster, elastic):
    elastic(**{**BELIEF, "Belief": "declared"})
    assert believed(cluster) == 1
