# SPDX-License-Identifier: MIT
"""What a user or an administrator does to a job in the midst of a resize: what can go on goes on, what cannot ends, and
nothing is left of it."""

import os
import pathlib
import re
import signal

import pytest
from elastic_live import wait_until
from mpi_programs import environments

FIELD = "256 200"
PHASES = ["starts", "evacuates", "restores", "stops"]  # the new world, the old, the new, the old
END = 90  # seconds, in which a slurmstepd that is told to end twice has given up
# What selastic-run would say of things that are gone, and cannot help.
NEEDLESS = re.compile("^(scancel: |squeue: |slurm_load_jobs|selastic-run: shared memory of ).*", re.M)
ENDED = re.compile("selastic-run: the (program|new world) has died")
# What Slurm says of processes that it ends while they start, or while they report their end.
KILLED_IN_THEIR_START = ["Failed to send MESSAGE_TASK_EXIT", "Timed out waiting for job step to complete",
                         "Job credential revoked"]


@pytest.fixture
def resizing(cluster, stencil):
    """resizing(phase, options of sbatch): a job that is resized from 2 to 3 nodes, held in that phase, and what lets it
    go on."""
    def begin(phase, *options):
        if phase == "starts":
            door = cluster.new_folder("door") / "open"
            stencil.wrap(f"[ $birth != 1.1 ] || until [ -e {door} ]; do sleep 0.05; done")
        job = stencil.submit(FIELD, 2, stencil.srun_type, more=options)
        job.wait_worlds(2)
        if phase != "starts":
            held = job.hold(phase, 3)
            return job, lambda: job.go_on(held)
        job.resize(3, wait=False)
        cluster.wait_size(job.number, 3)
        wait_until(lambda: job.step_of(1), lambda: f"the new world starts: {job.output()}")
        return job, door.touch
    return begin


def end_quietly(job, *states):
    job.cluster.wait_state(job.number, *states, within=END)
    wait_until(lambda: not job.left_in_memory(), lambda: f"nothing is left: {job.left_in_memory()}\n{job.output()}")
    assert not NEEDLESS.search(job.output()), job.output()


@pytest.mark.parametrize("phase", PHASES)
@pytest.mark.parametrize("how", [["scancel"], ["scancel", "--full", "--signal=TERM"], ["scancel", "--batch"],
                                 ["scontrol", "requeuehold"]], ids=" ".join)
def test_a_job_that_is_ended(cluster, resizing, expect_errors, phase, how):
    expect_errors += KILLED_IN_THEIR_START
    job, go_on = resizing(phase, "--requeue")
    cluster.run(*how, job.number)
    if "--signal=TERM" in how:  # its programs are asked, the one that is held as well
        go_on()
    end_quietly(job, "CANCELLED", "FAILED", "PENDING")


# (phase, whose world, what becomes of the job, its worlds)
ENDED_WORLDS = [
    ("starts", "new", "COMPLETED", [2, 3]),  # is started again
    ("starts", "old", "FAILED", [2]),
    ("evacuates", "new", "COMPLETED", [2, 3]),
    ("evacuates", "old", "FAILED", [2]),
    ("restores", "new", "COMPLETED", [2, 3]),
    ("restores", "old", "COMPLETED", [2, 3]),  # its data are all there
    ("stops", "new", "FAILED", [2, 3]),
    ("stops", "old", "COMPLETED", [2, 3]),
]


@pytest.mark.parametrize("phase, whose, state, worlds", ENDED_WORLDS)
def test_a_world_that_its_user_ends(cluster, stencil, resizing, expect_errors, phase, whose, state, worlds):
    expect_errors += KILLED_IN_THEIR_START
    expected = stencil.result_of_one_process(FIELD)
    job, go_on = resizing(phase)
    ended = job.step_of(0 if whose == "old" else 1)
    cluster.run("scancel", ended)
    wait_until(lambda: ended not in job.steps(), lambda: f"{ended} ends: {job.steps()}", within=END)
    go_on()
    if state == "COMPLETED":
        job.wait_worlds(*worlds)
        assert job.finish() == expected
    else:
        end_quietly(job, state)
        assert phase == "stops" or ENDED.search(job.output()), job.output()
    assert job.worlds() == worlds and not NEEDLESS.search(job.output()), job.output()


@pytest.mark.parametrize("phase", PHASES)
@pytest.mark.parametrize("change", ["TimeLimit=90", "Nice=100", "JobName=another", "Comment=changed"])
def test_a_job_that_is_changed(cluster, stencil, resizing, phase, change):
    """It goes on with its resize."""
    expected = stencil.result_of_one_process(FIELD)
    job, go_on = resizing(phase)
    cluster.run("scontrol", "update", f"JobId={job.number}", change)
    go_on()
    job.wait_worlds(2, 3)
    assert job.finish() == expected and not NEEDLESS.search(job.output()), job.output()


def kill_launcher(job):
    """selastic-run's process alone."""
    first = job.cluster.nodes_of(job.number)[0]
    [launcher] = {process for process, environment in environments(job.cluster, first).items()
                  if environment.get("SLURM_JOB_ID") == str(job.number)
                  and pathlib.Path(os.readlink(f"/proc/{process}/exe")).name == "selastic-run"}
    os.kill(launcher, signal.SIGKILL)


@pytest.mark.parametrize("phase, worlds", [("steady", [2]), ("evacuates", [2]), ("restores", [2]), ("stops", [2, 3])])
def test_a_launcher_that_is_killed(cluster, stencil, phase, worlds):
    """The world that has the data goes on as long as the batch script does."""
    expected = stencil.result_of_one_process(FIELD)
    door = cluster.new_folder("door") / "open"
    job = stencil.submit(FIELD, 2, stencil.srun_type, after=f"; until [ -e {door} ]; do sleep 0.1; done; true")
    job.wait_worlds(2)
    held = None if phase == "steady" else job.hold(phase, 3)
    kill_launcher(job)
    if held:
        job.go_on(held)
    job.go.touch()
    wait_until(lambda: expected in job.output(), lambda: f"the program ends: {job.output()}", within=60)
    door.touch()
    end_quietly(job, "COMPLETED")
    assert job.worlds() == worlds, job.output()
