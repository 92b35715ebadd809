# SPDX-License-Identifier: MIT
"""selastic-run: programs that know nothing of resizes come to the result that they have without one.

The program counts, with a result that depends on every step and on their order. It stops half-way until the test lets
it go on, so that what happens meanwhile happens in its midst, however slow the machine is.
"""

import sys

import pytest

from elastic_live import CLONE, wait_until


COUNTER = r"""#!/bin/bash
# counter FOLDER [resume]: task 0 counts to 40 and writes the result; it stops at 20 until FOLDER/go is there.
cd "$1" || exit 9
count=0 value=1 stop=
[ "${2-}" != resume ] || read -r count value <checkpoint
trap 'stop=1' TERM
[ ! -e die_at_start ] || [ "${2-}" != resume ] || ! rm die_at_start 2>/dev/null || exit 7
nodes=$SLURM_STEP_NUM_TASKS  # one a node; a front end has one node
[ "$SLURM_PROCID" != 0 ] || echo "$nodes at $count" >>starts
touch "up.$nodes.$SLURM_PROCID"
leave() {
    rm -f "up.$nodes.$SLURM_PROCID"
    exit "$1"
}
while :; do
    if [ -n "$stop" ] && [ ! -e busy ]; then
        [ ! -e die_in_stop ] || { [ "$SLURM_PROCID" != 0 ] || rm -f die_in_stop; leave 8; }
        [ "$SLURM_PROCID" != 0 ] || { echo "$count $value" >new; mv new checkpoint; }
        leave 3
    fi
    if [ "$SLURM_PROCID" != 0 ]; then
        [ ! -e result ] || leave 0
    elif [ "$count" -eq 40 ]; then
        echo "$count $value" >result
        leave "$(cat status 2>/dev/null || echo 0)"
    elif [ "$count" -ne 20 ] || [ -e go ]; then
        count=$((count + 1)) value=$(((value * 31 + count) % 1000003))
    fi
    sleep 0.02
done
"""


def expected():
    value = 1
    for count in range(1, 41):
        value = (value * 31 + count) % 1000003
    return f"40 {value}\n"


class Counter:
    """A job of the counter under selastic-run."""

    def __init__(self, cluster, folder, nodes, options, annotation="malleable,min=1,max=6"):
        self.cluster, self.folder, self.nodes = cluster, folder, nodes
        program = folder / "counter"
        program.write_text(COUNTER)
        program.chmod(0o755)
        options = options.replace("FOLDER", str(folder))
        elastic = [f"--elastic={annotation}"] if annotation else []
        self.job = cluster.sbatch(f"-N{nodes}", *elastic, wrap=f"selastic-run {options} {program} {folder}; "
                                  "code=$?; echo status $code; exit $code")

    def output(self):
        return self.cluster.output(self.job)

    def starts(self):
        path = self.folder / "starts"
        return path.read_text().splitlines() if path.exists() else []

    def wait_up(self, nodes):
        """Until all tasks of a step on so many nodes can take a signal."""
        wait_until(lambda: all((self.folder / f"up.{nodes}.{task}").exists() for task in range(nodes)),
                   lambda: f"the tasks of {nodes} nodes are up: {self.starts()}\n{self.output()}")

    def resize(self, nodes):
        command = "shrink" if nodes < self.nodes else "expand"
        wait_until(lambda: self.cluster.run("selastic", command, self.job, nodes, check=False).code == 0,
                   f"job {self.job} is offered {nodes} nodes")
        self.cluster.wait_size(self.job, nodes)
        self.wait_up(nodes)
        self.nodes = nodes

    def let_go(self):
        (self.folder / "go").touch()

    def finish(self, state="COMPLETED"):
        self.let_go()
        assert self.cluster.wait_state(self.job, "COMPLETED", "FAILED", within=90) == state, self.output()
        assert (self.folder / "result").read_text() == expected(), self.output()
        return self.output()


BY_FILE = "--checkpoint-signal TERM --checkpoint-file FOLDER/checkpoint --restart '%program resume'"
BY_STATUS = f"{BY_FILE} --stopped-status 3"


@pytest.fixture
def counter(cluster):
    def start(nodes, options=BY_STATUS, **more):
        return Counter(cluster, cluster.new_folder("counter"), nodes, options, **more)
    return start


def test_dry_run(cluster):
    shown = cluster.run("selastic-run", "--as", "./own", "--dry-run", "prog", "-x", cwd=profile(cluster)).out
    assert shown.splitlines() == [
        "start    srun --nodes=1 --ntasks=1 --job-name=prog prog -x",
        "stop     scancel --signal=USR1 JOB.STEP, at most 60 s",
        "restart  srun --nodes=1 --ntasks=1 --job-name=prog prog -x --from a.cpt"], shown


def test_options_of_srun_end_where_the_program_begins(cluster):
    shown = cluster.run("selastic-run", "--dry-run", "--srun=-l", "--srun", "--mpi=none", "prog", "-x").out
    assert shown.startswith("start    srun ") and shown.endswith(" -l --mpi=none prog -x\n"), shown


def profile(cluster):
    folder = cluster.base / "out" / "profiles"
    folder.mkdir(exist_ok=True)
    (folder / "own").write_text("CheckpointSignal=USR1@60\nRestart=%program --from %checkpoint\n"
                                "CheckpointFile=a.cpt\n")
    return folder


def test_profiles_are_listed(cluster):
    folder = profile(cluster)
    (folder / "gromacs").write_text("# ours\n")
    path = f"{folder}:{CLONE}/src/tools/selastic-run/profiles"
    shown = cluster.run("selastic-run", "--profile", "list", env={"SELASTIC_PROFILES": path}).out.splitlines()
    assert "gromacs    ours" in shown and "own        " in shown, shown
    assert any(line.startswith("lammps     LAMMPS: ") for line in shown), shown


@pytest.mark.parametrize("arguments, error", [
    ((), "which program?"), (("--nix",), "--nix: unknown"),
    (("--as", "nix", "prog"), "there is no profile 'nix'"),
    (("--checkpoint-signal", "TERM@x", "prog"), "'x' is no number of seconds"),
    (("--checkpoint-signal", "TERM;", "prog"), "'TERM;' is no signal"),
    (("--restart", "a | b", "prog"), "'a | b' is no command"),
    (("--stopped-status", "256", "prog"), "'256' is no whole number"),
])
def test_errors(cluster, arguments, error):
    result = cluster.run("selastic-run", *arguments, check=False)
    assert result.code == 2 and error in result.err, str(result)


@pytest.mark.smoke
@pytest.mark.parametrize("options", [BY_STATUS, BY_FILE], ids=["by status", "by file"])
def test_grow_and_shrink(counter, options):
    app = counter(2, options)
    app.wait_up(2)
    app.resize(4)
    app.resize(1)
    output = app.finish()
    assert app.starts()[:1] == ["2 at 0"]
    assert [line.split()[0] for line in app.starts()] == ["2", "4", "1"]
    assert "resize 1: 2 -> 4 nodes: negotiation " in output and "resize 2: 4 -> 1 nodes: " in output
    assert "status 0" in output


def test_the_program_s_status_is_ours(cluster, counter):
    app = counter(1)
    (app.folder / "status").write_text("42")
    assert "status 42" in app.finish("FAILED")
    killed = cluster.sbatch("-N1", "--elastic=malleable,min=1,max=2",
                            wrap="selastic-run --checkpoint-signal TERM sh -c 'kill -KILL $$'; echo status $?")
    cluster.wait_state(killed, "COMPLETED")
    assert "status 137" in cluster.output(killed)


def test_without_an_elastic_job_it_is_srun(cluster, counter):
    app = counter(2, annotation=None)
    app.wait_up(2)
    app.finish()
    assert app.starts() == ["2 at 0"]


@pytest.mark.parametrize("where", ["die_in_stop", "die_at_start"])
def test_a_program_that_dies_in_a_resize_is_started_again_once(counter, where):
    app = counter(2)
    app.wait_up(2)
    app.resize(3)
    (app.folder / where).touch()
    app.resize(1)
    output = app.finish()
    assert output.count("the program has died in a resize with status") == 1, output
    assert [line.split()[0] for line in app.starts()] == ["2", "3", "1"]


def test_a_shrink_past_its_deadline_leaves_the_program_running(cluster, counter):
    app = counter(3, BY_STATUS, annotation="malleable,min=1,max=6,grace=3")
    (app.folder / "busy").touch()
    app.wait_up(3)
    wait_until(lambda: cluster.run("selastic", "shrink", app.job, 2, check=False).code == 0, "it is offered")
    cluster.wait_journal(app.job, "expire")
    wait_until(lambda: "when the program has stopped" in app.output(), "selastic-run says so")
    assert len(cluster.nodes_of(app.job)) == 3 and app.starts() == ["3 at 0"]
    (app.folder / "busy").unlink()
    cluster.wait_size(app.job, 2)
    app.wait_up(2)
    app.finish()
    assert [line.split()[0] for line in app.starts()] == ["3", "2"]


def test_an_expansion_that_the_program_does_not_stop_for_is_given_back(cluster, counter):
    app = counter(2, BY_STATUS.replace("TERM", "TERM@2"))
    (app.folder / "busy").touch()
    app.wait_up(2)
    wait_until(lambda: cluster.run("selastic", "expand", app.job, 3, check=False).code == 0, "it is offered")
    cluster.wait_journal(app.job, "resize", kind="expand")
    cluster.wait_journal(app.job, "resize", kind="shrink")
    app.finish()
    assert "has not stopped within 2 s" in app.output() and app.starts() == ["2 at 0"]


WORKER = r"""#!/bin/bash
# worker FOLDER: waits for FOLDER/go or FOLDER/go.STEP, or ends by TERM unless FOLDER/stubborn is there.
cd "$1" || exit 9
step=$SLURM_STEP_ID
trap '[ -e stubborn ] || { touch "term.$step"; exit 5; }' TERM
echo "$SLURM_STEP_NUM_TASKS" >"new.$step" && mv "new.$step" "up.$step"
until [ -e go ] || [ -e "go.$step" ]; do sleep 0.02; done
exit "$(cat "status.$step" 2>/dev/null || echo 0)"
"""
COMMAND = "ls up.* | wc -l >>{0}; echo $ELASTIC_NODELIST >>{0}; ls | grep -c term >>{0} || true"


class Workers:
    """A job of workers under selastic-run --workers, whose steps have the numbers from 0."""

    def __init__(self, cluster, nodes, annotation="malleable,min=1,max=6"):
        self.cluster = cluster
        self.folder = cluster.new_folder("workers")
        program = self.folder / "worker"
        program.write_text(WORKER)
        program.chmod(0o755)
        script = self.folder / "script"
        script.write_text(f"#!/bin/bash\ncd {self.folder}\nselastic-run --workers --join '{COMMAND.format('join')}' "
                          f"--leave '{COMMAND.format('leave')}' {program} {self.folder}\n"
                          "code=$?\necho status $code\nexit $code\n")
        self.job = cluster.sbatch(f"-N{nodes}", f"--elastic={annotation}", str(script))
        self.wait("up", nodes)

    def count(self, kind):
        return len(list(self.folder.glob(f"{kind}.*")))

    def wait(self, kind, number):
        wait_until(lambda: self.count(kind) == number,
                   lambda: f"{number} workers are {kind}, not {self.count(kind)}: {self.cluster.output(self.job)}")

    def resize(self, command, nodes):
        before = set(self.cluster.nodes_of(self.job))
        wait_until(lambda: self.cluster.run("selastic", command, self.job, nodes, check=False).code == 0,
                   f"job {self.job} is offered {nodes} nodes")
        self.cluster.wait_size(self.job, nodes)
        return before ^ set(self.cluster.nodes_of(self.job))

    def told(self, command):
        """What a command has seen: workers that were up, nodes, workers that had been sent TERM."""
        wait_until(lambda: (self.folder / command).exists() and
                   len((self.folder / command).read_text().splitlines()) == 3, f"{command} has run")
        up, nodes, gone = (self.folder / command).read_text().splitlines()
        return int(up), set(self.cluster.expand(nodes)), int(gone)

    def finish(self, state="COMPLETED"):
        (self.folder / "go").touch()
        assert self.cluster.wait_state(self.job, "COMPLETED", "FAILED", within=90) == state, \
            self.cluster.output(self.job)
        return self.cluster.output(self.job)


@pytest.mark.smoke
def test_workers_come_and_go_with_their_nodes(cluster):
    app = Workers(cluster, 2)
    assert {path.read_text() for path in app.folder.glob("up.*")} == {"1\n"}
    joined = app.resize("expand", 4)
    app.wait("up", 4)
    assert app.told("join")[1:] == (joined, 0) and len(joined) == 2
    left = app.resize("shrink", 1)
    assert app.told("leave") == (4, left, 0) and len(left) == 3
    assert app.count("term") == 3 and app.count("up") == 4
    output = app.finish()
    assert "resize 1: 2 -> 4 nodes: start " in output and "resize 2: 4 -> 1 nodes: leave " in output
    assert "status 0" in output, output  # that of workers told to end does not count


def test_workers_that_end_by_themselves(cluster):
    """Their nodes stay, and the highest status is that of all."""
    app = Workers(cluster, 3)
    for step, status in enumerate((3, 42, 0)):
        (app.folder / f"status.{step}").write_text(str(status))
    (app.folder / "go.1").touch()
    app.resize("expand", 4)
    app.wait("up", 4)
    assert len(app.told("join")[1]) == 1  # nobody is started again
    assert "status 42" in app.finish("FAILED")
    assert app.count("up") == 4


def test_workers_that_ignore_term_are_killed_before_the_deadline(cluster):
    app = Workers(cluster, 2, annotation="malleable,min=1,max=6,grace=10")
    (app.folder / "stubborn").touch()
    app.resize("shrink", 1)
    assert "status 0" in app.finish() and app.count("term") == 0
    assert not [entry for entry in cluster.journal(app.job) if entry["event"] == "expire"]


CONTROLLER = r"""
import socket, subprocess, sys
folder, own, theirs = sys.argv[1], *socket.socketpair()
run = subprocess.Popen(["selastic-run", "--workers", f"--control={theirs.fileno()}", f"{folder}/worker", folder],
                       pass_fds=[theirs.fileno()])
theirs.close()
own.settimeout(50)
lines = own.makefile("rw")

def told(*words):
    line = lines.readline().split()
    assert line[0] == words[0] and len(line) > 1 and words[1:] in ((), tuple(line[1:])), (line, words)
    return line[1]

def say(line):
    print(line, file=lines, flush=True)

first = told("nodes")
for wrong in ("expand 0 0", "expand 9 9", "shrink nix", f"shrink {first}"):
    say(wrong)
    told("denied")
say("expand 1 1")
both = told("nodes")
assert both != first
say("expand 1 1")
third = told("nodes")
nodes = subprocess.run(["scontrol", "show", "hostnames", third], capture_output=True, text=True, check=True).stdout
last = nodes.split()[-1]
say(f"shrink {last}")
told("leave", last)
open(f"{folder}/told", "w").close()
say("left")
told("nodes")
open(f"{folder}/go", "w").close()
sys.exit(run.wait())
"""


@pytest.mark.modes("ms")
def test_a_program_asks_for_nodes_of_workers_and_gives_some_back(cluster):
    folder = cluster.new_folder("control")
    for name, text in (("worker", WORKER), ("controller", CONTROLLER)):
        (folder / name).write_text(text)
    (folder / "worker").chmod(0o755)
    job = cluster.sbatch("-N1", "--elastic=evolving,min=1,max=3",
                         wrap=f"cd {folder}; {sys.executable} controller {folder}")
    state = cluster.wait_state(job, "COMPLETED", "FAILED", within=90)
    assert state == "COMPLETED", cluster.output(job)
    sizes = [(event["from"], event["to"]) for event in cluster.journal(job, "resize")]
    assert sizes == [(1, 2), (2, 3), (3, 2)], sizes
    assert len(list(folder.glob("term.*"))) == 1


@pytest.mark.parametrize("arguments, error", [
    (("--workers", "--control", "2", "prog"), "'2' is no whole number"),
    (("--control", "3", "prog"), "only with --workers"),
    (("--workers", "--checkpoint-signal", "TERM", "prog"), "workers are not stopped for a resize"),
    (("--join", "true", "prog"), "only with --workers"),
])
def test_errors_of_workers(cluster, arguments, error):
    result = cluster.run("selastic-run", *arguments, check=False)
    assert result.code == 2 and error in result.err, str(result)


def test_dry_run_of_workers(cluster):
    shown = cluster.run("selastic-run", "--workers", "--join", "a b", "--dry-run", "prog", "-x").out
    assert shown.splitlines() == [
        "start    srun --nodes=1 --ntasks=1 --job-name=prog@NODE --nodelist=NODE prog -x", "join     a b"], shown
