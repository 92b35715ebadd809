# SPDX-License-Identifier: MIT
"""What goes wrong in a resize costs the program nothing."""

import os
import re
import shutil
import signal
import subprocess

import pytest
from elastic_live import wait_until
from mpi_programs import processes_of

FIELD = "256 200"
# What daemons say of a node that is gone, and of steps that nobody wants any more.
LOST = ["Unable to ", "Connection refused", "No route", "not responding", "lost|DOWN", "failed node", "Zero Bytes",
        "Job credential revoked", "NOT ENDING WITH SIGNALS", "could not connect IO"]
UNKILLABLE = "Kill task failed"
STUCK = 90  # seconds, in which a slurmstepd that is told to end twice has given up
LARGE = "2048 20"  # 16 MB a process for each array, of two processes


def test_a_world_that_dies_at_its_start_is_started_again(stencil):
    expected = stencil.result_of_one_process(FIELD)
    stencil.wrap("[ $birth != 1.1 ] || exit 7")
    job = stencil.submit(FIELD, 2, stencil.srun_type)
    job.wait_worlds(2)
    job.resize(3)
    assert job.finish() == expected and job.worlds() == [2, 3]
    assert job.output().count("it is started again") == 1


def test_a_world_that_dies_before_the_checkpoint_is_started_again(cluster, stencil):
    """It is ready, and waits for the old one, which is stopped meanwhile."""
    expected = stencil.result_of_one_process(FIELD)
    stencil.wrap("[ $birth != 1.1 ] || { born=$$; (sleep 3; kill -KILL $born) & }")
    job = stencil.submit(FIELD, 2, stencil.srun_type)
    job.wait_worlds(2)
    cluster.run("scancel", "--signal=STOP", f"{job.number}.0")
    job.resize(3, wait=False)
    cluster.wait_size(job.number, 3)
    wait_until(lambda: "Killed" in job.output(), job.output, within=60)
    cluster.run("scancel", "--signal=CONT", f"{job.number}.0", check=False)  # an error: the new node has no such step
    job.wait_worlds(2, 3)
    assert job.finish() == expected and job.worlds() == [2, 3], job.output()


@pytest.mark.parametrize("nodes", [1, 3], ids=["shrink", "expand"])
def test_a_world_that_never_starts_leaves_the_old_one(cluster, stencil, nodes):
    expected = stencil.result_of_one_process(FIELD)
    stencil.wrap("[ $birth = 0.0 ] || [ $birth = 2.1 ] || exit 7")
    job = stencil.submit(FIELD, 2, stencil.srun_type, annotation="malleable,min=1,max=6,grace=4")
    job.wait_worlds(2)
    job.resize(nodes, wait=False)
    wait_until(lambda: "no resize: the new world has died with status" in job.output(), job.output, within=60)
    if nodes > 2:
        cluster.wait_journal(job.number, "resize", kind="shrink")
    else:
        cluster.wait_journal(job.number, "expire")
    cluster.wait_size(job.number, 2)
    job.resize(4)
    assert job.finish() == expected and job.worlds() == [2, 4]


@pytest.mark.parametrize("births, worlds", [("1.1", [2, 4]), ("1.*", [2])], ids=["once", "always"])
def test_a_world_that_is_killed_while_it_restores(cluster, stencil, births, worlds):
    """By SIGXFSZ, when it makes room for what is to come."""
    expected = stencil.result_of_one_process(LARGE)
    stencil.wrap(f"[[ $birth != {births} ]] || ulimit -f 4096")
    job = stencil.submit(LARGE, 2, stencil.srun_type)
    job.wait_worlds(2)
    job.resize(4, wait=worlds[-1] == 4)
    if worlds[-1] == 2:
        wait_until(lambda: "no resize: the new world has died" in job.output(), job.output, within=60)
        cluster.wait_size(job.number, 2)
    assert job.finish() == expected and job.worlds() == worlds
    assert job.output().count("it is started again") == 1


def test_a_shrink_past_its_deadline_happens_all_the_same(cluster, stencil):
    expected = stencil.result_of_one_process(FIELD)
    job = stencil.submit(FIELD, 3, annotation="malleable,min=1,max=6,grace=4")
    job.wait_worlds(3)
    cluster.run("scancel", "--signal=STOP", f"{job.number}.0")
    job.resize(2, wait=False)
    cluster.wait_journal(job.number, "expire")
    wait_until(lambda: "the agreement is over before the resize" in job.output(), job.output)
    assert len(cluster.nodes_of(job.number)) == 3
    cluster.run("scancel", "--signal=CONT", f"{job.number}.0")
    cluster.wait_size(job.number, 2)
    job.wait_worlds(3, 2)
    assert job.finish() == expected


def test_the_program_s_status_is_ours_and_its_memory_freed(cluster, stencil):
    job = stencil.submit(FIELD, 2)
    job.wait_worlds(2)
    job.resize(3)
    cluster.run("scancel", "--signal=KILL", f"{job.number}.1")
    job.finish("FAILED")
    # srun's is the highest, of TERM if that was in time.
    assert re.search("status (137|143)$", job.output(), re.M), job.output()


@pytest.mark.parametrize("nodes", [2, 4])
def test_one_world_after_the_other(stencil, nodes):
    """The second starts when the first has ended."""
    expected = stencil.result_of_one_process(FIELD)
    job = stencil.submit(FIELD, 3, "--stop-first")
    job.wait_worlds(3)
    job.resize(nodes)
    assert job.finish() == expected and job.worlds() == [3, nodes]
    assert f"resize 1: 3 -> {nodes} nodes: " in job.output()


def test_the_second_world_is_born_at_the_second_try(stencil):
    """Its data are still there, although nobody computes any more."""
    expected = stencil.result_of_one_process(FIELD)
    stencil.wrap("[ $birth != 1.1 ] || exit 7")
    job = stencil.submit(FIELD, 3, f"--stop-first {stencil.srun_type}")
    job.wait_worlds(3)
    job.resize(2)
    assert job.finish() == expected and job.worlds() == [3, 2]
    assert "the program has died in a resize with status" in job.output()


@pytest.fixture
def lose(cluster):
    """lose(node): it is gone with all that ran on it, until the end of the test."""
    lost = []

    def end(node):
        lost.append(node)
        cluster.kill_slurmd(node)
        for process in processes_of(cluster, node):
            os.kill(int(process), signal.SIGKILL)
        cluster.run("scontrol", "update", f"NodeName={node}", "State=DOWN", "Reason=lost")

    def resume_unkillable():
        """A slurmstepd that is told to end while it ends, by slurmctld for the failed node and by srun, may wait for a
        minute for a thread that the second order has started (step_terminate_monitor_stop() of Slurm 22.05.8), and then
        drains its node, on which nothing runs."""
        for line in cluster.run("sinfo", "--noheader", "--Node", "--format=%N %T %E").out.splitlines():
            node, state, reason = line.split(maxsplit=2)
            if reason == UNKILLABLE and state == "drained":
                cluster.run("scontrol", "update", f"NodeName={node}", "State=RESUME", check=False)

    yield end
    for job in {line.split()[0] for line in cluster.queue()}:
        cluster.run("scancel", job, check=False)
    cluster.wait_quiet_queue(STUCK)
    for node in lost:
        for folder in (cluster.dir / "tmp" / node).glob("elastic-*"):
            shutil.rmtree(folder)  # as a boot does
        cluster.start_slurmd(node)
        cluster.run("scontrol", "update", f"NodeName={node}", "State=RESUME", check=False)  # it may be up already
    wait_until(lambda: resume_unkillable() or all(state == "idle" for state in cluster.node_states().values()),
               lambda: "all nodes are idle: " + cluster.run("sinfo", "-R").out)


def test_a_joining_node_that_is_lost(cluster, stencil, lose, expect_errors):
    """Before the new world has anything, of a job that says --no-kill: if Slurm has told of the loss by the time of the
    second try, another world starts without the node; else the old one goes on."""
    expect_errors += LOST
    expected = stencil.result_of_one_process(FIELD)
    stencil.wrap('[ $birth != 1.1 ] || [ $SLURM_NODEID != 2 ] || exec sleep 600')
    job = stencil.submit(FIELD, 2, stencil.srun_type, more=["--no-kill"])
    job.wait_worlds(2)
    before = cluster.nodes_of(job.number)
    job.resize(3, wait=False)
    cluster.wait_size(job.number, 3)
    [joined] = set(cluster.nodes_of(job.number)) - set(before)
    wait_until(lambda: processes_of(cluster, joined), f"the new world starts on {joined}")
    lose(joined)
    cluster.wait_size(job.number, 2)
    wait_until(lambda: "no resize: " in job.output() or job.worlds() == [2, 2], job.output, within=60)
    assert job.finish() == expected


@pytest.mark.parametrize("resizing", [False, True], ids=["steady", "resizing"])
def test_a_node_that_is_lost_with_its_data(cluster, stencil, lose, expect_errors, resizing):
    """Nobody could go on: the job ends, and nothing of it is left on the others."""
    expect_errors += LOST
    stencil.wrap("[ $birth != 1.1 ] || exec sleep 600")
    job = stencil.submit(FIELD, 3, stencil.srun_type, more=["--no-requeue"])
    job.wait_worlds(3)
    before = cluster.nodes_of(job.number)
    victim = before[-1]
    if resizing:
        job.resize(4, wait=False)
        cluster.wait_size(job.number, 4)
        [joined] = set(cluster.nodes_of(job.number)) - set(before)
        wait_until(lambda: processes_of(cluster, joined), f"the new world starts on {joined}")
    lose(victim)
    cluster.wait_state(job.number, "NODE_FAIL", "FAILED", within=STUCK)
    wait_until(lambda: not job.left_in_memory(), lambda: f"nothing is left: {job.left_in_memory()}")


PHASES = ["evacuates", "restores", "stops"]  # the old world, the new, the old


# (phase, nodes before and after, what the lost one does, worlds of which one list is right)
SURVIVED = [
    ("evacuates", 2, 3, "joins", [[2], [2, 2]]),  # the old world goes on, or another one starts without the node
    ("restores", 2, 3, "joins", [[2], [2, 2]]),
    ("restores", 3, 2, "leaves", [[3, 2]]),  # and has handed over
    ("stops", 3, 2, "leaves", [[3, 2]]),
]
FATAL = [
    ("evacuates", 3, 2, "leaves"),  # with its data
    ("evacuates", 3, 2, "stays"),
    ("restores", 3, 2, "stays"),
    ("stops", 3, 2, "stays"),
    ("stops", 2, 3, "joins"),  # and has its data already
]


def which_node(job, first, role):
    """first: what the job had before its resize, of which the batch host is the first."""
    joined = set(job.cluster.nodes_of(job.number)) - set(first)
    return {"joins": joined, "leaves": {first[-1]}, "stays": {first[1]}}[role].pop()


@pytest.mark.parametrize("phase, before, after, role, worlds", SURVIVED)
def test_a_node_that_is_lost_in_a_phase(cluster, stencil, lose, expect_errors, phase, before, after, role, worlds):
    """Of a job that says --no-kill; nobody needs what was on it."""
    expect_errors += LOST
    expected = stencil.result_of_one_process(FIELD)
    job = stencil.submit(FIELD, before, more=["--no-kill"])
    job.wait_worlds(before)
    first = cluster.nodes_of(job.number)
    held = job.hold(phase, after)
    lost = which_node(job, first, role)
    lose(lost)
    wait_until(lambda: lost not in cluster.nodes_of(job.number), f"{lost} has left the job")
    job.go_on(held)
    wait_until(lambda: job.worlds() in worlds and re.search("no resize: |resize 1: ", job.output()),
               lambda: f"the resize is over: {job.output()}", within=60)
    assert job.finish() == expected and job.worlds() in worlds, job.output()


@pytest.mark.parametrize("phase, before, after, role", FATAL)
def test_a_node_that_is_lost_in_a_phase_with_data(cluster, stencil, lose, expect_errors, phase, before, after, role):
    """Also of a job that says --no-kill nobody can go on: selastic-run says so and ends, and frees the other nodes."""
    expect_errors += LOST
    job = stencil.submit(FIELD, before, more=["--no-kill"])
    job.wait_worlds(before)
    first = cluster.nodes_of(job.number)
    job.hold(phase, after)
    lose(which_node(job, first, role))
    cluster.wait_state(job.number, "FAILED", within=STUCK)
    assert re.search("^status [1-9]", job.output(), re.M), job.output()
    resizing = not re.search("resize 1: ", job.output())  # the old world may have ended first
    assert re.search("selastic-run: the (program|new world) has died" if resizing else "srun: error: ", job.output()), \
        job.output()
    wait_until(lambda: not job.left_in_memory(), lambda: f"nothing is left: {job.left_in_memory()}\n{job.output()}")


@pytest.mark.parametrize("phase", PHASES)
def test_a_node_that_is_lost_in_a_phase_ends_the_job(cluster, stencil, lose, expect_errors, phase):
    """As Slurm does without --no-kill."""
    expect_errors += LOST
    job = stencil.submit(FIELD, 3, more=["--no-requeue"])
    job.wait_worlds(3)
    first = cluster.nodes_of(job.number)
    job.hold(phase, 2)
    lose(which_node(job, first, "stays"))
    cluster.wait_state(job.number, "NODE_FAIL", "FAILED", within=STUCK)
    wait_until(lambda: not job.left_in_memory(), lambda: f"nothing is left: {job.left_in_memory()}")


def test_a_wrong_mpi_is_refused_in_a_line(cluster, stencil):
    wrong = {"openmpi": "--srun=--mpi=pmi2", "mpich": "--srun=--mpi=none"}[stencil.mpi]
    job = stencil.submit(FIELD, 3, wrong)
    job.finish("FAILED")
    if stencil.mpi == "mpich":  # Open MPI stops by itself
        assert "the program is worlds of 1 processes, not one of 3: is it of another MPI" in job.output()
        assert "status 2" in job.output()


def on_node(cluster, node, *command):
    daemon = cluster.minicluster.daemon(node).pid()
    subprocess.run(["nsenter", "--mount", f"--target={daemon}", *command], check=True)


@pytest.fixture
def small_memory(cluster):
    """small_memory(size): every node has that much shared memory, and none of the 4 MB in it that UCX leaves of each
    process that is killed in its start."""
    def make(size):
        for node in cluster.all_nodes:
            on_node(cluster, node, "find", "/dev/shm", "-mindepth", "1", "-delete")
            on_node(cluster, node, "mount", "-o", f"remount,size={size}", "/dev/shm")
    yield make
    for node in cluster.all_nodes:
        on_node(cluster, node, "mount", "-o", "remount,size=50%", "/dev/shm")


def test_what_finds_no_memory_is_on_the_disk(small_memory, stencil):
    small_memory("48M")
    expected = stencil.result_of_one_process(LARGE)
    job = stencil.submit(LARGE, 4)
    job.wait_worlds(4)
    job.resize(2)
    job.resize(3)
    assert job.finish() == expected and job.worlds() == [4, 2, 3]


def test_what_finds_no_place_at_all_is_declined(cluster, small_memory, stencil):
    """Two worlds have place, also of MPICH 4.2, whose UCX does not start in 16 MB; all data on one node have not."""
    field = "1536 20"
    expected = stencil.result_of_one_process(field)
    small_memory("32M")
    job = stencil.submit(field, 2, environment="export ELASTIC_MPI_SPILL=/dev/shm",
                         annotation="malleable,min=1,max=6,grace=4")
    job.wait_worlds(2)
    job.resize(1, wait=False)
    wait_until(lambda: "no resize: " in job.output(), job.output, within=60)
    cluster.wait_size(job.number, 2)
    assert job.finish() == expected
