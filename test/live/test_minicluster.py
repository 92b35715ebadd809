# SPDX-License-Identifier: MIT
"""contribs/minicluster does what its help says, and leaves nothing behind."""

import os
import shutil
import signal
import subprocess
import tempfile

import pytest
from elastic_live import MINICLUSTER, Cluster, wait_until

is_root = pytest.mark.skipif(os.getuid() != 0, reason="only root can make namespaces")


@pytest.fixture
def directory():
    """Where no cluster is, neither before the test nor, if the test is right, after it."""
    base = tempfile.mkdtemp(prefix="minicluster-")
    yield base + "/c"
    subprocess.run([MINICLUSTER, "down", "--dir", base + "/c"], check=True)
    shutil.rmtree(base)


@pytest.fixture
def started(request):
    """started(option...): a cluster with these options of minicluster."""
    clusters = []

    def start(*options, **settings):
        cluster = Cluster("ms", build=request.config.getoption("--build"), options=options,
                          **settings)
        clusters.append(cluster)
        cluster.up()
        return cluster

    yield start
    for cluster in clusters:
        cluster.down()


def processes_of(directory):
    """The command lines of all that has to do with a directory."""
    shown = subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True, check=True).stdout
    return [line for line in shown.splitlines() if directory in line]


@pytest.mark.parametrize("number, status", [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_an_interrupted_start_leaves_nothing(directory, number, status):
    starting = subprocess.Popen([MINICLUSTER, "up", "--stock", "--nodes", "8", "--dir", directory])
    wait_until(lambda: os.path.exists(f"{directory}/pids/n1"), "the first slurmd is started")
    starting.send_signal(number)
    assert starting.wait(60) == status
    assert not os.path.exists(directory)
    assert not processes_of(directory)


def test_a_failed_start_leaves_its_logs(directory):
    failed = subprocess.run([MINICLUSTER, "up", "--stock", "--conf-line", "MaxJobCount=many",
                             "--dir", directory], capture_output=True, text=True, check=False)
    assert failed.returncode == 1
    assert "MaxJobCount value (many) is not a valid number" in failed.stderr
    assert os.listdir(f"{directory}/log")
    assert not processes_of(directory)


def test_the_end_takes_the_jobs_along(directory):
    subprocess.run([MINICLUSTER, "up", "--stock", "--nodes", "2", "--dir", directory], check=True)
    variables = subprocess.run([MINICLUSTER, "env", "--dir", directory], capture_output=True,
                               text=True, check=True).stdout
    stubborn = f"trap '' TERM; touch {directory}/begun; while :; do sleep 1; done"
    subprocess.run(["bash", "-c", variables + 'sbatch -o /dev/null --wrap "$0"', stubborn], check=True)
    wait_until(lambda: os.path.exists(f"{directory}/begun"), "the job has begun")
    subprocess.run([MINICLUSTER, "down", "--dir", directory], check=True)
    assert not os.path.exists(directory)
    assert not processes_of(directory)


def test_nodes_and_files_of_ones_own(started):
    cluster = started("--node-line", "n[2-3] CPUs=8 Gres=gpu:2", "--file-line", "gres.conf",
                      "Name=gpu File=@DIR@/dev/gpu[0-1]", nodes=3,
                      conf=["GresTypes=gpu", "PartitionName=debug Nodes=n[2-3] Default=YES"])
    shown = cluster.run("sinfo", "--noheader", "--Node", "--format=%N %c %G").out.splitlines()
    assert shown == ["n2 8 gpu:2", "n3 8 gpu:2"]
    assert "CPUTot=4" in cluster.run("scontrol", "show", "node", "n1").out
    assert cluster.run("srun", "--gres=gpu:2", "printenv", "CUDA_VISIBLE_DEVICES").out == "0,1\n"


@is_root
def test_nodes_with_a_tmp_of_their_own(started):
    cluster = started("--private-tmp", nodes=2)
    said = cluster.run("srun", "--nodes=2", "sh", "-c",
                       "hostname; touch /tmp/mine /dev/shm/mine; ls /tmp /dev/shm").out
    assert sorted(line for line in said.splitlines() if line.startswith("n")) == ["n1", "n2"]
    assert said.count("mine\n") == 4
    assert not os.path.exists("/tmp/mine") and not os.path.exists("/dev/shm/mine")
    job = cluster.sbatch("--nodes=2", wrap="hostname")
    cluster.wait_state(job, "COMPLETED")
    assert cluster.output(job) == "n1\n"


@is_root
def test_a_second_controller_takes_over(started):
    cluster = started("--controllers", "2", nodes=2)
    job = cluster.sbatch("--nodes=2", wrap="sleep 1000")
    cluster.wait_state(job, "RUNNING")
    cluster.run("scontrol", "takeover", within=60)
    wait_until(lambda: not cluster.controller_lives(), "the first controller has ended")
    ping = cluster.run("scontrol", "ping", check=False).out
    assert "at 127.0.0.1 is DOWN" in ping and "at 127.0.0.2 is UP" in ping
    wait_until(lambda: cluster.state(job) == "RUNNING", "the second controller has the job")
    cluster.start_controller()
    wait_until(lambda: cluster.state(job) == "RUNNING", "the first controller has the job")
    cluster.run("scancel", job)
    cluster.wait_quiet(60)
