# SPDX-License-Identifier: MIT
"""A program written for DMR asks for nodes, leaves some, and is resized by the scheduler, all by its own checkpoint."""

import hashlib

import pytest
from conftest import Program
from elastic_live import wait_until

STEPS = 90


class Maps:
    """Runs of dmr_maps, each with a file of its own."""

    def __init__(self, cluster, mpi):
        self.cluster, self.mpi, self.program = cluster, mpi, Program(cluster, mpi, "dmr_maps")

    def submit(self, most, nodes, annotation, options="", tasks=1):
        self.file = self.cluster.base / "out" / f"maps.{self.mpi}.{Program.started}"
        return self.program.submit(f"{self.file} {STEPS} {most}", nodes, options, annotation, tasks)

    def digest(self):
        return hashlib.sha1(self.file.read_bytes()).hexdigest()


@pytest.fixture
def maps(cluster, mpi):
    return Maps(cluster, mpi)


@pytest.fixture
def unresized(maps):
    assert maps.submit(0, 3, None).finish() == f"dmr_maps: {STEPS} steps: 0 resizes"
    return maps.digest()


def test_it_expands_and_shrinks_itself(maps, unresized):
    job = maps.submit(4, 2, "evolving,min=1,max=4")
    job.wait_worlds(2, 4, 1)
    maps.cluster.wait_size(job.number, 1)
    assert job.finish() == f"dmr_maps: {STEPS} steps: 2 resizes"
    assert job.worlds() == [2, 4, 1] and maps.digest() == unresized, job.output()
    maps.cluster.wait_journal(job.number, "request")


def test_the_scheduler_resizes_it(maps, unresized):
    """Two processes a node."""
    job = maps.submit(0, 2, "malleable,min=1,max=4", tasks=2)
    job.wait_worlds(4)
    job.resize(3)
    job.resize(1)
    assert job.finish() == f"dmr_maps: {STEPS} steps: 2 resizes"
    assert job.worlds() == [4, 6, 2] and maps.digest() == unresized, job.output()


def test_a_request_that_is_refused_costs_it_nothing(maps, unresized):
    job = maps.submit(4, 2, "malleable,min=1,max=4")
    wait_until(lambda: "dmr: job" in job.output() and "is not evolving" in job.output(), job.output)
    job.resize(4, wait=False)
    job.wait_worlds(2, 4, 1)
    assert job.finish() == f"dmr_maps: {STEPS} steps: 2 resizes"
    assert job.worlds() == [2, 4, 1] and maps.digest() == unresized, job.output()


def test_it_goes_round_by_a_policy(cluster, mpi):
    """Each world asks at once, while the one before it still has to end."""
    program = Program(cluster, mpi, "dmr_round")
    job = program.submit("4", 1, annotation="evolving,min=1,max=4", environment="export DMR_DEFAULT_POLICY_MAX=4")
    job.wait_worlds(1, 2, 4, 1, 2)
    assert job.finish() == "dmr_round: 4 steps: 2 expansions, intercommunicator 0"
    assert "status 0" in job.output() and "error" not in job.output(), job.output()


def test_a_request_of_which_nothing_comes_is_made_again(maps, unresized):
    """The first world that it asks for dies twice, and its nodes are given back."""
    maps.program.wrap("[[ $birth != 1.* ]] || exit 7")
    job = maps.submit(4, 2, "evolving,min=1,max=4", maps.program.srun_type)
    job.wait_worlds(2, 4, 1)
    assert job.finish() == f"dmr_maps: {STEPS} steps: 2 resizes"
    assert "no resize: the new world has died with status" in job.output(), job.output()
    assert maps.digest() == unresized, job.output()


def test_what_it_saved_is_left_if_nothing_takes_over(maps):
    """The new world sees another /dev/shm, so it does not find what the old one tells it."""
    hide = "unshare -m bash -c 'mount -t tmpfs none /dev/shm && exec \"$@\"' -"
    maps.program.wrap(f"[[ $birth != 1.* ]] || exec {hide} {maps.program.path} \"$@\"")
    job = maps.submit(4, 2, "evolving,min=1,max=4", maps.program.srun_type)
    job.finish("FAILED")
    assert "no node has the checkpoint" in job.output(), job.output()
    assert "dmr: nothing took over from the program, whose data are saved" in job.output(), job.output()
    assert job.worlds() == [2] and maps.file.stat().st_size == 8 + 100000 * 8
