# SPDX-License-Identifier: MIT
"""What a resized job has had is in sacct, not its last size alone."""

import json

import pytest
from elastic_live import wait_for_another_second, wait_until

SLURMDBD_IS_AWAY = "[Pp]ersist|Connection refused|DBD_|slurmdbd|slurm_receive_msg|Failure sending message"


def admin_comment(cluster, job):
    """As sacct's users see it, {} if there is none."""
    text = cluster.run("sacct", "--noheader", "--parsable2", "--allocations", "--jobs", job, "--format",
                       "AdminComment").out.strip()
    assert not text or text.splitlines()[-1].startswith("{"), text
    return json.loads(text.splitlines()[-1]) if text else {}


def had(cluster, job):
    return admin_comment(cluster, job).get("had")


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
    assert state.splitlines()[-1].startswith("CANCELLED"), state


def records(cluster, job):
    """State, end and admin comment of all its runs, those of resizes left out."""
    text = cluster.run("sacct", "--noheader", "--parsable2", "--allocations", "--duplicates", "--jobs", job, "--format",
                       "State,End,AdminComment").out
    return [line.split("|") for line in text.splitlines() if not line.startswith("RESIZING")]


def test_each_run_has_its_own(cluster, account, expect_errors):
    """A job that ended and is begun anew; Slurm itself would end the record of the first run again."""
    expect_errors.append(SLURMDBD_IS_AWAY)
    app = account.actor("malleable,min=1,max=4", "-N2", "--requeue")
    grow_and_shrink(cluster, app)
    app.exit()
    first = wait_had(cluster, app.job)
    wait_for_another_second()
    cluster.run("scontrol", "requeuehold", app.job)
    wait_until(lambda: "had" not in json.loads(cluster.job(app.job)["AdminComment"]), "the next run has had nothing")
    cluster.minicluster.kill("slurmdbd")
    cluster.run("scontrol", "update", f"JobId={app.job}", "StartTime=now+2")  # credentials are of whole seconds
    cluster.run("scontrol", "release", app.job)
    app.restart()
    app.exit()
    cluster.wait_state(app.job, "COMPLETED")
    cluster.minicluster.start("slurmdbd")
    # Slurm tells of a start that slurmdbd has missed with the state of now, and of the end after that.
    wait_until(lambda: [(state, comment != "") for state, _, comment in records(cluster, app.job)][1:]
               == [("COMPLETED", True)], lambda: f"both runs have ended: {records(cluster, app.job)}", within=60)
    (_, end, comment), (_, later, last) = records(cluster, app.job)
    assert json.loads(comment)["had"] == first and "had" not in json.loads(last)
    assert end < later != "Unknown", later


def test_slurmdbd_is_down_when_a_job_ends(cluster, account, expect_errors):
    expect_errors.append(SLURMDBD_IS_AWAY)
    app = account.actor("malleable,min=1,max=4", "-N2")
    grow_and_shrink(cluster, app)
    cluster.minicluster.kill("slurmdbd")
    app.exit()
    cluster.wait_state(app.job, "COMPLETED")
    wait_until(lambda: "had" in json.loads(cluster.job(app.job)["AdminComment"]), "its record has the sizes")
    cluster.minicluster.start("slurmdbd")
    check(wait_had(cluster, app.job))


def test_what_a_site_keeps_beside(cluster, account):
    """By sacctmgr, which Slurm lets a site use whenever it likes: while the job runs, and after its end."""
    def keep(text):
        cluster.run("sacctmgr", "--immediate", "modify", "job", "where", f"jobid={app.job}", "set",
                    f"SystemComment={text}")

    def kept():
        text = cluster.run("sacct", "-n", "-X", "-P", "-j", app.job, "-o", "SystemComment").out
        return text.splitlines()[-1]

    app = account.actor("malleable,min=1,max=4", "-N2")
    grow_and_shrink(cluster, app)
    keep("project 7")
    app.exit()
    check(wait_had(cluster, app.job))
    assert kept() == "project 7"
    keep("project 8")
    assert kept() == "project 8"
    check(had(cluster, app.job))


def test_a_site_writes_what_has_to_be_quoted(cluster, account):
    """It comes through JSON, two daemons and a database."""
    app = account.actor("malleable,min=1,max=4", "-N2")
    grow_and_shrink(cluster, app)
    cluster.run("scontrol", "update", f"JobId={app.job}", "AdminComment=it's \"so\" with a back\\slash")
    app.exit()
    check(wait_had(cluster, app.job))
    assert admin_comment(cluster, app.job)["site"] == "it's \"so\" with a back\\slash"


def test_a_job_that_was_never_resized(cluster, account):
    """sacct itself is right about it; it ends before the other, so slurmdbd has heard of it."""
    plain, other = (account.actor("malleable,min=1,max=4", "-N2") for _ in range(2))
    plain.exit()
    cluster.wait_state(plain.job, "COMPLETED")
    grow_and_shrink(cluster, other)
    other.exit()
    wait_had(cluster, other.job)
    assert had(cluster, plain.job) is None
