# SPDX-License-Identifier: MIT
"""What a resized job has had is in sacct, not its last size alone."""

import json

import pytest
from elastic_live import wait_until


def had(cluster, job):
    """As sacct's users see it, or None."""
    text = cluster.run("sacct", "--noheader", "--parsable2", "--allocations", "--jobs", job, "--format",
                       "AdminComment").out.strip()
    return json.loads(text.splitlines()[-1]).get("had") if text else None


def wait_had(cluster, job):
    return wait_until(lambda: had(cluster, job), lambda: f"sacct shows what job {job} has had", within=30)


def grow_and_shrink(cluster, app):
    cluster.run("selastic", "expand", app.job, 4)
    app.take_expand()
    cluster.wait_size(app.job, 4)
    cluster.run("selastic", "shrink", app.job, 1)
    app.take_shrink()
    cluster.wait_size(app.job, 1)


def check(shown):
    assert [size["nodes"] for size in shown["sizes"]] == [2, 4, 1]
    in_all = sum(size["nodes"] * size["seconds"] for size in shown["sizes"]) / 3600
    assert shown["node_hours"] == pytest.approx(in_all, abs=2e-4)


def test_a_job_that_ends(cluster, account):
    app = account.actor("malleable,min=1,max=4", "-N2")
    grow_and_shrink(cluster, app)
    app.exit()
    check(wait_had(cluster, app.job))
    cluster.wait_state(app.job, "COMPLETED")


def test_a_job_that_is_cancelled_after_a_restart(cluster, account):
    app = account.actor("malleable,min=1,max=4", "-N2")
    grow_and_shrink(cluster, app)
    cluster.restart_controller()
    cluster.run("scancel", app.job)
    check(wait_had(cluster, app.job))
    state = cluster.run("sacct", "-n", "-X", "-P", "-j", app.job, "-o", "State").out
    assert state.startswith("CANCELLED"), state


def test_a_job_that_was_never_resized(cluster, account):
    """sacct itself is right about it; it ends before the other, so slurmdbd has heard of it."""
    plain, other = (account.actor("malleable,min=1,max=4", "-N2") for _ in range(2))
    plain.exit()
    cluster.wait_state(plain.job, "COMPLETED")
    grow_and_shrink(cluster, other)
    other.exit()
    wait_had(cluster, other.job)
    assert had(cluster, plain.job) is None
