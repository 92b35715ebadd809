# SPDX-License-Identifier: MIT
"""With wrong settings the controller does not start, and says which and why.

Each case is a cluster of its own that must fail to come up; what slurmctld has
written is what minicluster shows of it.  The last case is a setting that is right,
but not for a cluster that others use.
"""

import re
import shutil
import struct
import subprocess
import tempfile

import pytest

from elastic_live import CLONE, MINICLUSTER, Cluster, wait_until


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
    ("SchedulerParameters=defer", "SchedulerParameters lacks sched_interval=-1"),
    ("SchedulerParameters=sched_interval=-1", "SchedulerParameters lacks defer"),
    ("JobSubmitPlugins=require_timelimit", "JobSubmitPlugins lacks elastic"),
])
def test_a_wrong_slurm_conf_is_refused(failing_start, line, complaint):
    output = failing_start("--conf-line", line)
    assert f"elastic: slurm.conf: {complaint}" in output
    assert "Failed to initialize sched plugin" in output


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


def test_the_journal_says_when_nodes_are_created(request):
    with Cluster("fe", nodes=2, build=request.config.getoption("--build"),
                 conf=["MaxNodeCount=4"]) as cluster:
        assert {entry["nodes"] for entry in cluster.journal(event="controller")} == {2}
        cluster.run("scontrol", "create", "NodeName=new", "CPUs=4", "State=CLOUD")
        wait_until(lambda: cluster.journal(event="controller")[-1]["nodes"] == 3,
                   lambda: f"the journal has three nodes: {cluster.journal()}")
        cluster.run("scontrol", "delete", "NodeName=new")
        wait_until(lambda: cluster.journal(event="controller")[-1]["nodes"] == 2,
                   lambda: f"the journal has two nodes: {cluster.journal()}")
        cluster.check_journal()
