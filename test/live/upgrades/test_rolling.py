# SPDX-License-Identifier: MIT
"""Slurm is upgraded in its own order, slurmdbd, slurmctld, slurmds and commands, under jobs that are resized."""

import os
import time

from elastic_live import wait_until


def ask(cluster, app, size):
    """Another size by selastic, in another second than the one before, of which slurmdbd would keep one record."""
    now = int(time.time())
    wait_until(lambda: int(time.time()) > now, "a second is over")
    cluster.run("selastic", "shrink" if size < len(cluster.nodes_of(app.job)) else "expand", app.job, size)


def accept_shrink(cluster, app, size):
    """An agreement in flight: the operation."""
    ask(cluster, app, size)
    op = app.event("offer_shrink")["op"]
    app.do("accept", op)
    app.event("accepted")
    return op


def finish_shrink(cluster, app, op, size):
    app.do("done", op)
    assert app.event("resized")["op"] == op
    cluster.wait_size(app.job, size)


def expand(cluster, app, size):
    ask(cluster, app, size)
    app.take_expand()
    cluster.wait_size(app.job, size)


def assert_step_runs(app, *before):
    """A new step of a job, started by a command with that before it, reaches all of the job's nodes."""
    said = app.shell(f'eval "$(selastic env)"; {" ".join(before)} srun -Q --overlap printenv SLURMD_NODENAME')
    assert set(said["out"].split()) == set(app.cluster.nodes_of(app.job)), said


def sizes(cluster, job):
    """Those that slurmdbd knows a job to have had."""
    said = cluster.run("sacct", "-j", job, "--allocations", "--duplicates", "--noheader", "--parsable2",
                       "--format=NNodes").out
    return [int(size) for size in said.split()]


def test_rolling_upgrade(cluster, expect_errors):
    expect_errors.append("slurmctld.log: .*(persistent connection to host|Sending message type DBD_)")  # of slurmdbd
    app = cluster.actor("malleable,min=2,max=8", "-N8")
    lasting = cluster.lasting_tasks()
    app.shell(f"srun -Q -N1 -n1 -w n1 --overlap {lasting.command} >/dev/null 2>&1 & disown -a")
    lasting.wait(1)
    waiting = cluster.actor("malleable,min=2,max=4", "-N4", wait=False)
    first = accept_shrink(cluster, app, 4)
    [old] = set(cluster.versions().values())

    cluster.upgrade(os.environ["ELASTIC_UPGRADE_TO"], os.environ["ELASTIC_UPGRADED_BUILD"])
    cluster.restart("slurmdbd")
    assert sizes(cluster, app.job) == [8]
    cluster.restart_controller()
    assert cluster.state(waiting.job) == "PENDING"
    finish_shrink(cluster, app, first, 4)
    waiting.wait_connected()
    assert_step_runs(app)
    assert set(cluster.versions().values()) == {old}

    second = accept_shrink(cluster, app, 3)
    for node in cluster.all_nodes[:4]:
        cluster.restart_slurmd(node)
    finish_shrink(cluster, app, second, 3)
    finish_shrink(cluster, waiting, accept_shrink(cluster, waiting, 3), 3)
    expand(cluster, app, 5)
    assert set(map(cluster.versions().get, cluster.nodes_of(app.job))) == {old, cluster.new_version}
    assert_step_runs(app)
    for node in cluster.all_nodes[4:]:
        cluster.restart_slurmd(node)
    assert_step_runs(app)
    assert_step_runs(app, *cluster.as_on("n1"))

    new = [cluster.actor("malleable,min=1,max=2", "-N1", wait=False)]
    cluster.upgrade_commands()
    new.append(cluster.actor("malleable,min=1,max=2", "-N1", wait=False))
    waiting.exit()
    cluster.wait_state(waiting.job, "COMPLETED")
    for job in new:
        job.wait_connected()
    expand(cluster, app, 6)
    finish_shrink(cluster, app, accept_shrink(cluster, app, 2), 2)
    for job in new:
        expand(cluster, job, 2)
        assert_step_runs(job)
    steps = cluster.run("squeue", "--steps", "--noheader", "--format=%i %N").out.splitlines()
    assert f"{app.job}.0 n1" in [step.strip() for step in steps], steps

    for job in (app, *new):
        job.exit()
        cluster.wait_state(job.job, "COMPLETED")
    for job, had in ((app, [8, 4, 3, 5, 6, 2]), (waiting, [4, 3]), *((job, [1, 2]) for job in new)):
        wait_until(lambda job=job, had=had: sizes(cluster, job.job) == had,
                   lambda job=job, had=had: f"sacct has {had} of job {job.job}, not {sizes(cluster, job.job)}")
