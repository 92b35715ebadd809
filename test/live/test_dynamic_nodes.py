# SPDX-License-Identifier: MIT
"""A node that slurm.conf does not name (slurmd -Z): where it is, commands are told by what the job has of it."""

import json

import minicluster
import pytest
from elastic_live import ELASTIC, Cluster, wait_until

pytestmark = pytest.mark.modes("ms")
NODE = "d1"


@pytest.fixture(scope="module")
def cluster(request):
    """The dynamic node's slurmd listens at the only port that is nobody else's."""
    mode, select = request.param
    [port] = minicluster.reserve_ports(1)
    conf = ["MaxNodeCount=8", f"SlurmdPort={port.getsockname()[1]}",
            "PartitionName=debug Nodes=ALL Default=YES MaxTime=INFINITE State=UP"]
    with Cluster(mode, select, nodes=3, build=request.config.getoption("--build"), conf=conf,
                 elastic=[f"{key}={value}" for key, value in ELASTIC.items()]) as started:
        port.close()
        yield started


def add_command(cluster, name, *more):
    """So that the cluster can start, and will end, one more slurmd."""
    (cluster.dir / "spool" / name).mkdir(exist_ok=True)
    path = cluster.dir / "settings"
    settings = json.loads(path.read_text())
    settings["commands"][name] = [*settings["commands"]["n1"][:-1], name, *more]
    path.write_text(json.dumps(settings))


@pytest.fixture
def dynamic(cluster, expect_errors):
    expect_errors.append("xcpuinfo_hwloc_topo_load")
    add_command(cluster, NODE, "-Z", "--conf", f"CPUs={cluster.cpus} NodeAddr=127.0.0.1 NodeHostname=localhost")
    cluster.minicluster.start(NODE)
    wait_until(lambda: cluster.node_states().get(NODE) == "idle", f"{NODE} is idle")
    yield NODE
    cluster.clean()
    cluster.minicluster.kill(NODE)
    cluster.run("scontrol", "delete", f"NodeName={NODE}")


def test_commands_reach_a_dynamic_node_that_has_joined(cluster, dynamic):
    app = cluster.actor("malleable,min=1,max=4", "-N3", "-wn[1-3]")
    cluster.run("selastic", "expand", app.job, 4)
    assert app.take_expand()["node_list"] == dynamic
    present = 'eval "$(selastic env)"; '
    assert len(app.shell(present + "srun echo here")["out"].split()) == 4
    copied = cluster.base / "out" / "copied"
    sent = app.shell(present + f"sbcast --force /etc/hostname {copied}")
    assert sent["code"] == 0, sent
    cluster.run("selastic", "shrink", app.job, 3)
    assert app.take_shrink()["size"] == 3
    assert len(app.shell(present + "srun echo here")["out"].split()) == 3
