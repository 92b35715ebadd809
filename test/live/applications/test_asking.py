# SPDX-License-Identifier: MIT
"""A program that asks for nodes, or to leave some, is told at once where that cannot be."""

import pytest
from elastic_live import wait_until

SIZES = "malleable+evolving,min=2,max=8,sizes=2:4:8"


@pytest.mark.parametrize("change, left", [(-1, 3), (-3, 1), (-4, 0)], ids=["size", "minimum", "all"])
def test_a_size_that_the_job_may_not_have(cluster, asks, change, left):
    """No smaller world has run in vain, and nothing was released."""
    job = asks.submit(change, 4, annotation=SIZES)
    wait_until(lambda: "asks: in vain: " in job.output(), job.output)
    why = f"the job would have {left} nodes left (min=2, max=8, sizes=2:4:8)"
    assert f"asks: in vain: {why}\n" in job.output() and f"selastic-run: no resize: {why}\n" in job.output()
    assert job.finish() == "asks: 0 steps: it ends" and job.worlds() == [4], job.output()
    assert not cluster.journal(job.number, "release")


def test_a_size_that_it_may_have(cluster, asks):
    job = asks.submit(-2, 4, annotation=SIZES)
    job.wait_worlds(4, 2)
    cluster.wait_size(job.number, 2)
    assert job.finish() == "asks: 1 steps: it ends"
    cluster.wait_journal(job.number, "release")


def test_more_nodes_than_it_may_have(cluster, asks):
    job = asks.submit(5, 4, annotation=SIZES)
    wait_until(lambda: "asks: in vain: " in job.output(), job.output)
    assert job.finish() == "asks: 0 steps: it ends" and job.worlds() == [4], job.output()


def test_offers_before_it_has_opened_the_library(cluster, asks):
    """They are declined, which is said for the first and counted for the others."""
    door = cluster.new_folder("door") / "open"
    asks.wrap(f"until [ -e {door} ]; do sleep 0.05; done")
    job = asks.submit(0, 2, asks.srun_type)
    for _ in range(2):
        before = len(cluster.journal(job.number, "decline"))
        job.resize(3, wait=False)
        wait_until(lambda: len(cluster.journal(job.number, "decline")) > before, f"it is declined: {job.output()}")
    said = "offer of 1 nodes declined: {} has not opened libelastic-mpi yet; one that never does needs " \
           "--checkpoint-signal or --workers".format(asks.launched.name)
    assert job.output().count(said) == 1 and job.output().count("declined") == 1, job.output()
    door.touch()
    job.wait_worlds(2)
    counted = f"2 offers declined in all while {asks.launched.name} had not opened libelastic-mpi"
    wait_until(lambda: counted in job.output(), job.output)
    job.resize(3)
    assert job.finish() == "asks: 1 steps: it ends"
