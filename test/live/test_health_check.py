# SPDX-License-Identifier: MIT
"""A node that Slurm's health check drains is left by malleable jobs without anybody asking."""

import pytest
from elastic_live import ELASTIC, Cluster, wait_until

# The front-end emulator has one health check for all nodes.
pytestmark = pytest.mark.modes("ms")


@pytest.fixture(scope="module")
def ill(tmp_path_factory):
    """A folder in which a file of a node's name makes that node ill."""
    return tmp_path_factory.mktemp("ill")


@pytest.fixture(scope="module")
def cluster(request, ill):
    mode, select = request.param
    program = ill / "check.sh"
    program.write_text("#!/bin/sh\nexit 0\n")
    program.chmod(0o755)
    conf = [f"HealthCheckProgram={program}", "HealthCheckInterval=1"]
    with Cluster(mode, select, nodes=4, build=request.config.getoption("--build"), conf=conf,
                 elastic=[f"{key}={value}" for key, value in ELASTIC.items()]) as started:
        other = program.with_suffix(".new")
        other.write_text(f"""#!/bin/sh
export PATH='{started.env["PATH"]}' SLURM_CONF='{started.env["SLURM_CONF"]}'
[ -e '{ill}'/$SLURMD_NODENAME ] || exit 0
scontrol update NodeName=$SLURMD_NODENAME State=DRAIN Reason='too hot'
""")
        other.chmod(0o755)
        other.replace(program)
        yield started


def test_a_job_leaves_a_node_whose_health_check_fails(cluster, ill):
    app = cluster.actor("malleable,min=1,max=2", "-N2")
    batch, last = cluster.nodes_of(app.job)
    (ill / last).touch()
    assert app.event("offer_shrink", within=90)["node_list"] == last
    (ill / last).unlink()
    app.exit()
    cluster.wait_quiet_queue()
    wait_until(lambda: cluster.node_states()[last].startswith("drain"), "it is drained")
    cluster.run("scontrol", "update", f"NodeName={last}", "State=RESUME")
    # Slurm takes it to be mute until it says something.
    cluster.kill_slurmd(last)
    cluster.start_slurmd(last)
