# SPDX-License-Identifier: MIT
"""selastic-run in the scripts that people have: options in the environment, redirections, signals, requeues."""

import re
import shlex
import subprocess

import pytest
from elastic_live import wait_until

FIELD = "256 200"
COMPLAINT = re.compile(r"^(srun|slurmstepd|selastic-run): (error|warning).*", re.M)
# What srun says where processes end that have not read all of an endless input.
UNREAD = re.compile(r"srun: error: (_server_read: .*reset by peer|step_launch_notify_io_failure: .*)")


def round_trip(job, first, others, expected=None):
    """Resized to these numbers of nodes, one after the other, without another complaint than that; its last line."""
    job.wait_worlds(first)
    for nodes in others:
        job.resize(nodes)
    result = job.finish()
    assert job.worlds() == [first, *others], job.output()
    output = expected.sub("", job.output()) if expected else job.output()
    assert not COMPLAINT.search(output), output
    return result


@pytest.mark.parametrize("environment", [
    "export SLURM_CPU_BIND=none SLURM_HINT=nomultithread SLURM_OVERLAP=1 SRUN_DEBUG=3",
    "export SLURM_EXACT=1 SLURM_DISTRIBUTION=cyclic",
    "export SLURM_MEM_PER_CPU=10; unset TMPDIR",
    "export SLURM_WAIT=1 SLURM_KILL_BAD_EXIT=0 SLURM_UNBUFFEREDIO=1",
    "export SLURM_STEP_ID=4294967290 SLURM_STEP_NUM_TASKS=1 SLURM_MPI_TYPE=none",  # of sbatch in an interactive step
])
def test_options_in_the_environment(stencil, environment):
    expected = stencil.result_of_one_process(FIELD)
    job = stencil.submit(FIELD, 2, environment=environment)
    assert round_trip(job, 2, [3, 1]) == expected


# Of our environment, what a program needs whoever passes it on: where the library is and, of Open MPI 5, how it finds
# nodes that share an address (contribs/minicluster.py) and HOME, without which it says "Unable to get the user home
# directory" and ends, under plain srun too.
NEEDED = {"openmpi": ["LD_LIBRARY_PATH", "OMPI_MCA_reachable", "HOME"], "mpich": ["LD_LIBRARY_PATH"]}


@pytest.mark.parametrize("said", ["export SLURM_EXPORT_ENV=NONE", "export SLURM_EXPORT_ENV=HOME,LANG",
                                  "--srun=--export=NONE"])
def test_an_environment_that_is_not_passed_on(cluster, stencil, said):
    """But what the library needs is."""
    expected = stencil.result_of_one_process(FIELD)
    stencil.wrap("\n".join(f"export {name}={shlex.quote(cluster.env[name])}" for name in NEEDED[stencil.mpi]))
    in_environment = said.startswith("export")
    job = stencil.submit(FIELD, 2, f"{stencil.srun_type} {'' if in_environment else said}",
                         environment=said if in_environment else "true")
    assert round_trip(job, 2, [3]) == expected


def test_output_in_a_file_goes_on_after_a_resize(cluster, stencil):
    expected = stencil.result_of_one_process(FIELD)
    kept = cluster.new_folder("kept") / "output"
    job = stencil.submit(FIELD, 2, f"--srun=--output={kept}")
    worlds = r"^stencil2d: step \d+, (\d+) processes"
    wait_until(lambda: kept.exists() and re.findall(worlds, kept.read_text(), re.M) == ["2"], "it computes")
    job.resize(3, wait=False)
    wait_until(lambda: re.findall(worlds, kept.read_text(), re.M) == ["2", "3"],
               lambda: kept.read_text() + job.output())
    job.finish()
    assert expected in kept.read_text().splitlines()


@pytest.fixture
def allocate(cluster):
    """allocate(command): a job of salloc, which runs the command outside of its nodes; salloc's process and the file of
    its output."""
    begun = []

    def begin(*command):
        output = cluster.new_folder("salloc") / "output"
        with output.open("w") as stream:
            begun.append(subprocess.Popen(["salloc", "-N2", "--ntasks-per-node=1", "--elastic=malleable,min=1,max=6",
                                           *command], env=cluster.env, stdout=stream, stderr=stream))
        return begun[-1], output

    yield begin
    for process in begun:
        process.terminate()
        process.wait()


def test_in_an_allocation(cluster, stencil, allocate):
    expected = stencil.result_of_one_process(FIELD)
    go = cluster.new_folder("go") / "go"
    salloc, output = allocate("selastic-run", stencil.path, *FIELD.split(), go)
    wait_until(lambda: ", 2 processes" in output.read_text(), output.read_text, within=60)
    number = re.search(r"Granted job allocation (\d+)", output.read_text())[1]
    wait_until(lambda: cluster.run("selastic", "shrink", number, 1, check=False).code == 0, output.read_text)
    wait_until(lambda: ", 1 processes" in output.read_text(), output.read_text, within=60)
    go.touch()
    assert salloc.wait(60) == 0, output.read_text()
    assert expected in output.read_text().splitlines()


@pytest.mark.parametrize("more", [["--cpus-per-task=2"], ["--exclusive"], ["--array=3"]], ids=str)
def test_options_at_submission(stencil, more):
    expected = stencil.result_of_one_process(FIELD)
    assert round_trip(stencil.submit(FIELD, 2, more=more), 2, [3, 1]) == expected


def test_two_processes_a_node(stencil):
    """SLURM_NTASKS_PER_NODE is for the program's steps, not for ours."""
    expected = stencil.result_of_one_process(FIELD)
    job = stencil.submit(FIELD, 2, "--tasks-per-node=3", tasks=2)
    job.wait_worlds(6)
    job.resize(3)
    assert job.finish() == expected and job.worlds() == [6, 9]
    assert not re.search("srun: (error|warning)", job.output()), job.output()


@pytest.mark.parametrize("where", ["<&-", "</dev/zero", "| cat", ">&2", "2>&1 | tee /dev/null"])
def test_redirections(stencil, where):
    expected = stencil.result_of_one_process(FIELD)
    job = stencil.submit(FIELD, 2, after=where)
    assert round_trip(job, 2, [3], UNREAD if where == "</dev/zero" else None) == expected


def test_one_after_the_other(cluster, stencil):
    """The second finds nothing of the first."""
    expected = stencil.result_of_one_process(FIELD)
    job = stencil.submit(FIELD, 2, environment=f"selastic-run {stencil.path} 64 10")
    job.wait_worlds(2, 2)
    job.resize(3)
    assert job.finish() == expected and job.worlds() == [2, 2, 3]


def test_two_at_once(cluster, stencil):
    """The first one is not disturbed."""
    expected = stencil.result_of_one_process(FIELD)
    door = cluster.new_folder("door") / "open"
    second = f"until [ -e {door} ]; do sleep 0.05; done; selastic-run {stencil.path} 64 10; echo second $?"
    job = stencil.submit(FIELD, 2, environment=f"({second}) & true")
    job.wait_worlds(2)
    door.touch()
    wait_until(lambda: "second 2" in job.output(), job.output)
    assert f"error: another selastic-run resizes job {job.number}: run one after the other" in job.output()
    job.resize(3)
    assert job.finish() == expected and job.worlds() == [2, 3]


def test_a_job_that_is_suspended_in_a_resize(cluster, stencil):
    """It goes on with the resize when it is resumed."""
    expected = stencil.result_of_one_process(FIELD)
    job = stencil.submit(FIELD, 2)
    job.wait_worlds(2)
    held = job.hold("restores", 3)
    cluster.run("scontrol", "suspend", job.number)
    cluster.run("scontrol", "resume", job.number)
    job.go_on(held)
    job.wait_worlds(2, 3)
    assert job.finish() == expected


def test_a_job_that_is_requeued_in_a_resize(cluster, stencil):
    """Its second life finds nothing of the first."""
    expected = stencil.result_of_one_process(FIELD)
    job = stencil.submit(FIELD, 2, more=["--open-mode=append", "--requeue"])
    job.wait_worlds(2)
    job.hold("restores", 3)
    cluster.run("scontrol", "requeue", job.number)
    wait_until(lambda: not job.left_in_memory(), lambda: f"nothing is left: {job.left_in_memory()}")

    # A slurmstepd may take a minute to end, and Slurm lets the job wait for two from then on.
    cluster.wait_state(job.number, "PENDING", within=90)
    # Behind the second in which its first life has ended: slurmd takes nothing that is of that one or older.
    cluster.run("scontrol", "update", f"JobId={job.number}", "StartTime=now+1")
    job.wait_worlds(2, 2)
    job.resize(3)
    assert job.finish() == expected and job.worlds() == [2, 2, 3]


@pytest.mark.parametrize("how", [["--signal=TERM"], ["--full", "--signal=TERM"]], ids=["steps", "full"])
def test_a_job_that_is_signalled(cluster, stencil, how):
    job = stencil.submit(FIELD, 2)
    job.wait_worlds(2)
    cluster.run("scancel", *how, job.number)
    cluster.wait_state(job.number, "FAILED", "CANCELLED", within=60)
    cluster.wait_quiet_queue()
    assert not job.left_in_memory()


@pytest.mark.parametrize("program, status", [("/no/such/program", 2), ("/etc/passwd", 13)],
                         ids=["missing", "no program"])
def test_what_cannot_be_run(cluster, expect_errors, program, status):
    expect_errors.append("execve")
    job = cluster.sbatch("-N2", "--elastic=malleable,min=1,max=4", wrap=f"selastic-run {program}; echo status $?")
    cluster.wait_state(job, "COMPLETED")
    assert f"status {status}" in cluster.output(job) and "may not be free" not in cluster.output(job)


def test_a_working_directory_that_is_gone(cluster, stencil):
    """srun does not start there any more: the program stays as it is."""
    expected = stencil.result_of_one_process(FIELD)
    folder = cluster.new_folder("gone")
    job = stencil.submit(FIELD, 2, environment=f"cd {folder}")
    job.wait_worlds(2)
    folder.rmdir()
    job.resize(3, wait=False)
    wait_until(lambda: "no resize: the new world has died with status" in job.output(), job.output, within=60)
    cluster.wait_size(job.number, 2)
    assert job.finish() == expected and job.worlds() == [2]
