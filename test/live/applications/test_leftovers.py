# SPDX-License-Identifier: MIT
"""Where everything of a job is killed, selastic-run with the rest, nothing of it stays in shared memory."""

import os
import pathlib
import secrets
import shutil

import pytest
from elastic_live import wait_until

FIELD = "256 200"


def places(cluster, node):
    """A node's /dev/shm and /tmp as its programs see them."""
    root = pathlib.Path(f"/proc/{cluster.minicluster.daemon(node).pid()}/root")
    return [root / "dev/shm", root / "tmp"]


def plant(place, job):
    """What a program of the job could have left there."""
    left = place / f"elastic-{job}-{secrets.token_hex(16)}"
    left.mkdir(mode=0o700)
    (left / "0.0").write_text("data")
    return left


@pytest.mark.parametrize("how", [[], ["--full", "--signal=KILL"]], ids=["cancel", "kill"])
def test_a_cancelled_job(cluster, stencil, how):
    job = stencil.submit(FIELD, 3)
    job.wait_worlds(3)
    job.resize(4)
    left = job.left_in_memory()
    assert len(left) == 2 * 4 and all(path.name.startswith(f"elastic-{job.number}-") for path in left)
    cluster.run("scancel", *how, job.number)
    cluster.wait_state(job.number, "FAILED", "CANCELLED", "COMPLETED")
    cluster.wait_quiet_queue()
    assert not job.left_in_memory()


def test_a_node_that_is_given_up(cluster, stencil):
    """Nothing goes that is another job's or user's, or where a link leads to."""
    expected = stencil.result_of_one_process(FIELD)
    job = stencil.submit(FIELD, 2)
    job.wait_worlds(2)
    leaving = cluster.nodes_of(job.number)[-1]
    for place in places(cluster, leaving):
        lost = plant(place, job.number)
        plant(place, job.number + 1)
        os.chown(plant(place, job.number), 65534, 65534)
        linked = place / "linked"
        linked.mkdir()
        (linked / "0.0").write_text("data")
        link = place / f"elastic-{job.number}-{secrets.token_hex(16)}"
        link.symlink_to("linked")
        (lost / "link").symlink_to("../linked")
    job.resize(1)
    for place in places(cluster, leaving):
        wait_until(lambda: len(list(place.glob("elastic-*"))) <= 3, lambda: f"it is free: {list(place.iterdir())}")
    for place in places(cluster, leaving):
        assert (place / "linked" / "0.0").exists()
        left = list(place.glob("elastic-*"))
        assert len(left) == 3, left
        for path in [*left, place / "linked"]:
            path.unlink() if path.is_symlink() else shutil.rmtree(path)
    assert job.finish() == expected and job.worlds() == [2, 1]
