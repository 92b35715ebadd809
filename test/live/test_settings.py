# SPDX-License-Identifier: MIT
"""With wrong settings the controller does not start, and says which and why.

Each case is a cluster of its own that must fail to come up; what slurmctld has
written is what minicluster shows of it.

With settings that become wrong while it runs it says the same at each reconfiguration,
and goes on.
"""

import os
import re
import shutil
import signal
import struct
import subprocess
import tempfile

import pytest

from elastic_live import CLONE, MINICLUSTER, SLURM_VERSION, Cluster, minicluster, wait_until


of_starts = pytest.mark.starts_itself("its loops want other settings")


@pytest.fixture
def failing_start(request):
    """failing_start(option...): what is printed by a cluster that does not start."""
    build = request.config.getoption("--build")
    made = []

    def start(*options, plugins=f"{build}/src/plugins/.libs"):
        made.append(tempfile.mkdtemp(prefix="settings-"))
        command = [str(MINICLUSTER), "up", "--nodes", "2", "--dir", made[-1] + "/c",
                   "--plugins", plugins, *options]
        done = subprocess.run(command, cwd=CLONE, capture_output=True, text=True, timeout=120)
        output = done.stdout + done.stderr
        assert done.returncode != 0, output
        return output

    yield start
    for directory in made:
        subprocess.run([str(MINICLUSTER), "down", "--dir", directory + "/c"], cwd=CLONE,
                       capture_output=True, timeout=60)
        shutil.rmtree(directory, ignore_errors=True)


@pytest.mark.parametrize("line, complaint", [
    ("SchedulerParameters=defer", "SchedulerParameters=defer lacks sched_interval=-1"),
    ("SchedulerParameters=sched_interval=-1", "SchedulerParameters=sched_interval=-1 lacks defer"),
    ("JobSubmitPlugins=require_timelimit", "JobSubmitPlugins=require_timelimit lacks elastic"),
])
def test_a_wrong_slurm_conf_is_refused(failing_start, line, complaint):
    output = failing_start("--conf-line", line)
    assert f"elastic: slurm.conf: {complaint}" in output
    assert re.search("[Ff]ailed to initialize (sched plugin|the various schedulers)", output)


def test_what_slurm_itself_refuses_ends_it(failing_start):
    """It finds that with its locks held, for which the scheduler waits, which runs by then."""
    output = failing_start("--conf-line", "PartitionName=odd Nodes=nowhere State=UP")
    assert "elastic: built for Slurm" in output
    assert "fatal: " in output and "slurmctld ended" in output


@pytest.mark.parametrize("line, complaint", [
    ("VictimOrder=tallest", r"elastic\.conf:\d+: VictimOrder=tallest: one of random, gain, shrinkable"),
    ("Colour=red", r"elastic\.conf:\d+: .*Colour"),
    ("GraceTime=soon", r"elastic\.conf:\d+: GraceTime"),
])
def test_a_wrong_elastic_conf_is_refused(failing_start, line, complaint):
    assert re.search(complaint, failing_start("--elastic-line", line))


def test_a_plugin_for_another_version_is_refused(failing_start, request, tmp_path):
    build = request.config.getoption("--build")
    shutil.copytree(f"{build}/src/plugins/.libs", tmp_path / "plugins", symlinks=False)
    plugin = tmp_path / "plugins" / "sched_elastic.so"
    symbols = subprocess.run(["nm", "-D", str(plugin)], capture_output=True, text=True, check=True)
    [at] = [int(line.split()[0], 16) for line in symbols.stdout.splitlines()
            if line.endswith(" plugin_version")]
    content = bytearray(plugin.read_bytes())
    [version] = struct.unpack_from("<I", content, at)
    struct.pack_into("<I", content, at, version - 1)  # the release before
    plugin.write_bytes(content)
    output = failing_start(plugins=str(tmp_path / "plugins"))
    assert re.search(r"Incompatible Slurm plugin .*sched_elastic\.so version", output)


@of_starts
def test_parameters_of_slurms_own_loops_are_named(slurm_conf):
    log, _ = slurm_conf("SchedulerParameters=sched_interval=-1,defer,BF_continue,bf_licenses,bf_interval=9,"
                        "bf_window=100,max_array_tasks=9")
    assert "SchedulerParameters has bf_continue, bf_interval, without effect" in log
    assert "SchedulerParameters has bf_licenses, which Starts=elastic does not support" in log
    named = [line for line in log.splitlines() if "SchedulerParameters has" in line]
    assert len(named) == 2 and not any("bf_window" in line or "max_array_tasks" in line for line in named)


@of_starts
def test_parameters_that_slurm_would_not_take_are_named(slurm_conf, expect_errors):
    expect_errors.append("Invalid SchedulerParameters bf_max_job_user: -3: must be a number from 0 to 1000000")
    log, _ = slurm_conf("SchedulerParameters=sched_interval=-1,defer,bf_max_job_user=-3")
    assert expect_errors[-1] in log


@pytest.mark.parametrize("mode", ["ms", "fe"])
def test_the_journal_says_when_nodes_are_created(request, mode):
    if mode not in (request.config.getoption("--mode") or [mode]):
        pytest.skip(f"for the mode {mode}")
    with Cluster(mode, nodes=2, build=request.config.getoption("--build"),
                 conf=["MaxNodeCount=4"]) as cluster:
        assert {entry["nodes"] for entry in cluster.journal(event="controller")} == {2}
        cluster.run("scontrol", "create", "NodeName=new", "CPUs=4", "State=CLOUD")
        wait_until(lambda: cluster.journal(event="controller")[-1]["nodes"] == 3,
                   lambda: f"the journal has three nodes: {cluster.journal()}")
        cluster.run("scontrol", "delete", "NodeName=new")
        wait_until(lambda: cluster.journal(event="controller")[-1]["nodes"] == 2,
                   lambda: f"the journal has two nodes: {cluster.journal()}")
        cluster.check_journal()


@pytest.fixture
def slurm_conf(cluster):
    """slurm_conf(line...): slurm.conf with these lines in place of those of the same keys, until the test is over; what
    slurmctld has logged while it read it, and whether it took it."""
    before = (cluster.dir / "slurm.conf").read_text()

    def change(*lines):
        cluster.write_conf("slurm.conf", minicluster.with_lines(before.splitlines(), lines))
        since = len(cluster.log)
        with cluster.applications_reconnect():
            taken = cluster.run("scontrol", "reconfigure", check=False).code == 0
            wait_until(lambda: "configuration read" in cluster.log[since:], "slurmctld has read slurm.conf")
        return cluster.log[since:], taken

    yield change
    cluster.write_conf("slurm.conf", before)
    cluster.end_jobs()
    cluster.reconfigure("configuration read")


@pytest.mark.parametrize("lines, complaints", [
    pytest.param(["SchedulerParameters=defer"],
                 ["SchedulerParameters=defer lacks sched_interval=-1: .*; add it"], marks=of_starts),
    pytest.param(["SchedulerParameters=sched_interval=30", "JobSubmitPlugins=require_timelimit"],
                 ["SchedulerParameters=sched_interval=30 lacks sched_interval=-1: .*; add it",
                  "SchedulerParameters=sched_interval=30 lacks defer: .*; add it",
                  "JobSubmitPlugins=require_timelimit lacks elastic: .*; add it"], marks=of_starts),
    (["JobSubmitPlugins=require_timelimit"], ["JobSubmitPlugins=require_timelimit lacks elastic: .*; add it"]),
    (["SelectType=select/cons_res"], ["SelectType=select/cons_res is not supported: use select/linear or .*"]),
    pytest.param(["PreemptType=preempt/partition_prio", "PreemptMode=REQUEUE"],
                 ["PreemptMode=REQUEUE with PreemptType=preempt/partition_prio: .*preempt/elastic_qos .*; set .*"],
                 marks=of_starts),
    pytest.param(["PreemptType=preempt/partition_prio", "PreemptMode=SUSPEND,GANG"],
                 ["PreemptMode=GANG,SUSPEND: with Starts=elastic gang scheduling is not supported; take GANG out, .*"],
                 marks=of_starts),
])
def test_a_slurm_conf_that_becomes_wrong_is_named(cluster, slurm_conf, expect_errors, lines, complaints):
    """Each setting with what to do; jobs are started and resized all the same."""
    if "SelectType" in lines[0] and SLURM_VERSION >= (23, 11):
        pytest.skip("Slurm has no select/cons_res, and ends where it is told to reconfigure so")
    expect_errors += ["elastic: slurm.conf: ", "_slurm_rpc_reconfigure_controller: .*SelectType"]
    app = cluster.actor("malleable,min=1,max=8", "-N2")
    log, taken = slurm_conf(*lines)
    assert taken == ("SelectType" not in lines[0]), log
    named = re.findall("error: elastic: slurm.conf: (.*)", log)
    assert len(named) == len(complaints) + 1, named
    for line, complaint in zip(named, complaints):
        assert re.fullmatch(complaint, line), (line, complaint)
    assert re.match(f"{len(complaints)} wrong settings: the scheduler goes on", named[-1]), named
    cluster.run("selastic", "expand", app.job, 4)
    assert app.take_expand()["size"] == 4
    if taken:  # else Slurm's own steps do not understand slurmctld until it is corrected
        other = cluster.sbatch("-N4", "--exclusive", "--time=5", wrap="sleep 600")
        cluster.wait_state(other, "RUNNING")
    cluster.run("selastic", "shrink", app.job, 1)
    assert app.take_shrink()["size"] == 1
    app.exit()
    cluster.wait_state(app.job, "COMPLETED")


@pytest.fixture
def daemonised(cluster):
    """The controller as systemd starts it, with -D no more; what tells its process id."""
    minicluster.end_daemons([cluster.minicluster.daemon("slurmctld")])
    cluster.run(cluster.dir / "sbin/slurmctld", "-f", cluster.dir / "slurm.conf")

    def pid():
        return int((cluster.dir / "run/slurmctld.pid").read_text())

    yield pid
    last = pid()
    os.kill(last, signal.SIGTERM)
    wait_until(lambda: not minicluster.process_began(last), "slurmctld has ended")
    cluster.start_controller()


@pytest.mark.skipif(SLURM_VERSION < (23, 11), reason="slurmctld reads its configuration in the same process")
def test_a_reconfiguration_that_fails_ends_no_controller(cluster, slurm_conf, daemonised, expect_errors):
    """Where the new slurmctld gives up the old one goes on, with our plugin begun anew."""
    expect_errors += ["elastic.conf", "_refresh_assoc_mgr_qos_list: no new list", "fatal: Can't find plugin",
                      "select context for select/nothing", "fatal: failed to initialize node selection"]
    app = cluster.actor("malleable,min=1,max=8", "-N2")
    right = (cluster.dir / "elastic.conf").read_text()
    cluster.write_elastic_conf(right + "Colour=red\n")
    first = daemonised()
    _, taken = slurm_conf()
    assert taken and daemonised() != first
    second = daemonised()
    _, taken = slurm_conf("SelectType=select/nothing")
    assert not taken and daemonised() == second
    cluster.run("selastic", "expand", app.job, 4)
    assert app.take_expand()["size"] == 4
    cluster.write_elastic_conf(right)
    assert slurm_conf()[1]


def test_an_elastic_conf_that_becomes_wrong_is_named(cluster, elastic, expect_errors):
    """Each setting; what there was before stays in force."""
    expect_errors.append("elastic.conf")
    elastic()  # and as before after the test
    since = len(cluster.log)
    cluster.write_elastic_conf((cluster.dir / "elastic.conf").read_text() + "Colour=red\nMaxConnections=many\n")
    cluster.run("scontrol", "reconfigure")
    wait_until(lambda: "stays in force" in cluster.log[since:], "slurmctld has read elastic.conf")
    named, = re.findall(r"error: elastic: .*?(elastic\.conf:.*)", cluster.log[since:])
    assert re.fullmatch(r"elastic\.conf:\d+: unknown key Colour; \S+elastic\.conf:\d+: MaxConnections=many: must be a "
                        "number from 1 to 65536; the configuration before stays in force", named), named
    app = cluster.actor("malleable,min=1,max=8", "-N2")
    cluster.run("selastic", "expand", app.job, 4)
    assert app.take_expand()["size"] == 4
