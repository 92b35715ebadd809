# SPDX-License-Identifier: MIT
"""Nodes that Slurm powers down: they are woken for jobs that start, not for jobs that grow."""

import datetime

import pytest
from elastic_live import ELASTIC, Cluster, wait_until

pytestmark = pytest.mark.modes("ms")

# Of its own accord Slurm powers nothing down here.
CONF = ["SuspendProgram=/bin/true", "ResumeProgram=/bin/true", "SuspendTime=86400",
        "SuspendTimeout=1", "ResumeTimeout=120"]
PATIENCE = 60  # Slurm looks every ten seconds or so


@pytest.fixture(scope="module")
def cluster(request):
    mode, select = request.param
    with Cluster(mode, select, nodes=4, build=request.config.getoption("--build"), conf=CONF,
                 elastic=[f"{key}={value}" for key, value in ELASTIC.items()]) as started:
        yield started


def wait_node(cluster, node, state):
    def found():
        shown = cluster.run("scontrol", "show", "node", node).out
        return shown.split("State=")[1].split()[0].replace("+NOT_RESPONDING", "")
    wait_until(lambda: found() == state, lambda: f"{node} is {state}: {found()}", PATIENCE)


@pytest.fixture
def put_to_sleep(cluster):
    """Powers the last node down, until the test is over; its name. 26.05 forgets in a reconfiguration that it is idle,
    and does not wake it."""
    node = cluster.all_nodes[-1]

    def power_down():
        cluster.run("scontrol", "update", f"NodeName={node}", "State=POWER_DOWN")
        cluster.kill_slurmd(node)
        wait_node(cluster, node, "IDLE+POWERED_DOWN")
        return node

    yield power_down
    if not cluster.slurmd_lives(node):
        cluster.run("scontrol", "update", f"NodeName={node}", "State=POWER_UP")
        wait_node(cluster, node, "IDLE+POWERING_UP")
        cluster.start_slurmd(node, booted=True)
    wait_node(cluster, node, "IDLE")


def test_a_job_grows_onto_nodes_that_are_awake(cluster, elastic, put_to_sleep):
    elastic(Policy="lina-default")
    asleep = put_to_sleep()
    app = cluster.actor("malleable,min=1,max=4", "-N2")
    assert app.take_expand()["size"] == 3
    assert asleep not in cluster.nodes_of(app.job)
    waits = cluster.sbatch("-N1", "--exclusive", wrap="true")  # a pass, at least
    wait_node(cluster, asleep, "ALLOCATED+POWERING_UP")
    app.no_event()
    cluster.start_slurmd(asleep, booted=True)
    wait_until(lambda: cluster.state(waits) == "COMPLETED", "the job has run", PATIENCE)


@pytest.mark.starts_itself("a job starts with what it asks for")
def test_no_node_is_woken_for_a_job_that_is_expanded_from_its_start(cluster, elastic, put_to_sleep):
    elastic(Policy="lina-default", ExpandFrom="start")
    asleep = put_to_sleep()
    app = cluster.actor("malleable,min=1,max=4", "-N2")
    assert set(cluster.nodes_of(app.job)) == set(cluster.all_nodes) - {asleep}


def time_of(cluster, job, key):
    return datetime.datetime.fromisoformat(cluster.job(job)[key]).timestamp()


def test_a_job_that_starts_wakes_nodes(cluster, put_to_sleep):
    """Its time begins when they are up, for what it gets when it shrinks, too."""
    asleep = put_to_sleep()
    app = cluster.actor("malleable,min=2,max=4", "-N4", "--time=10", wait=False)
    wait_node(cluster, asleep, "ALLOCATED+POWERING_UP")
    start = time_of(cluster, app.job, "StartTime")
    cluster.start_slurmd(asleep, booted=True)
    wait_until(lambda: time_of(cluster, app.job, "StartTime") > start,
               "Slurm begins its time anew", PATIENCE)
    app.wait_connected()
    cluster.run("selastic", "shrink", app.job, 2)
    assert app.take_shrink()["size"] == 2
    shrunk = cluster.journal(app.job, "resize")[0]["time"]
    left = time_of(cluster, app.job, "StartTime") + 600 - shrunk
    assert abs(time_of(cluster, app.job, "EndTime") - (shrunk + 2 * left)) < 3
