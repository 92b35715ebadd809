# SPDX-License-Identifier: MIT
"""The primary controller dies in the middle of an agreement, its backup takes over, and gives back.

By then elastic.conf has become wrong, for which a primary would not start: the backup goes by what was in force.
"""

import os
import re

import pytest
from elastic_live import ELASTIC, Cluster, wait_until

pytestmark = [pytest.mark.modes("ms"),
              pytest.mark.skipif(os.getuid() != 0, reason="only root can give each controller a host name")]

TAKEOVER = 60  # Slurm looks every SlurmctldTimeout / 3, at least
CONF = ["SlurmctldTimeout=5", "PreemptType=preempt/elastic_partition_prio", "PreemptMode=REQUEUE",
        "PartitionName=urgent Nodes=ALL PriorityTier=10 DefaultTime=1 State=UP"]
SETTINGS = {**ELASTIC, "GraceTime": 2 * TAKEOVER, "PreemptShrinkTime": 3 * TAKEOVER}
# What Slurm's controllers say of each other.
HARMLESS = ["agent_init: thread already running", "while in standby mode", "ControlMachine .* not responding",
            "_shutdown_bu_thread:send/recv", "REQUEST_CONTROL reply but backup not completely done",
            "con_close_on_poll_error: .* Broken pipe"]


@pytest.fixture(scope="module", params=["cons_tres", "linear"])
def pair(request):
    modes = request.config.getoption("--mode")
    if modes and "ms" not in modes:
        pytest.skip("for the mode ms")
    settings = [f"{key}={value}" for key, value in SETTINGS.items()]
    with Cluster("ms", request.param, build=request.config.getoption("--build"), conf=CONF, elastic=settings,
                 options=["--controllers", "2"]) as started:
        started.allowed_errors += HARMLESS
        yield started


def is_up(cluster, address):
    return re.search(f" at {address} is UP$", cluster.run("scontrol", "ping", check=False).out, re.M)


def wait_backup_in_control(cluster):
    """It answers as a controller: squeue works only with one that is in control."""
    wait_until(lambda: cluster.run("squeue", check=False).code == 0 and "UP" in cluster.run(
        "scontrol", "ping", check=False).out, "the backup has taken over", TAKEOVER)


def wait_connected_again(cluster, *apps):
    for app in apps:
        wait_until(lambda app=app: app.state()["connected"], f"the application of job {app.job} has reconnected",
                   TAKEOVER)
    wait_until(lambda: "unk" not in " ".join(cluster.node_states().values()), "all nodes have reported", TAKEOVER)


def wait_saved(cluster, *apps):
    for app in apps:
        mark = f"saved-{app.job}"
        cluster.run("scontrol", "update", f"JobId={app.job}", f"Comment={mark}")
        wait_until(lambda mark=mark: mark.encode() in cluster.slurm_state("job_state"), "Slurm has saved the job")


def test_a_takeover_in_the_middle_of_an_agreement(pair):
    cluster = pair
    app = cluster.actor("malleable,min=2,max=8", "-N8")
    waiting = cluster.actor("malleable,min=4,max=4", "-N4", wait=False)
    cluster.run("selastic", "shrink", app.job, 4)
    offer = app.event("offer_shrink")
    app.do("accept", offer["op"])
    app.event("accepted")
    wait_saved(cluster, app)
    conf = (cluster.dir / "elastic.conf").read_text()
    cluster.write_elastic_conf(conf + "Colour=red\n")
    cluster.allowed_errors.append("unknown key Colour; the configuration before stays in force")
    cluster.kill_controller()
    wait_backup_in_control(cluster)
    wait_connected_again(cluster, app)
    cluster.write_elastic_conf(conf)
    app.do("done", offer["op"])
    resized = app.event("resized")
    assert (resized["op"], resized["size"]) == (offer["op"], 4)
    waiting.wait_connected(TAKEOVER)
    assert not set(cluster.nodes_of(waiting.job)) & set(cluster.nodes_of(app.job))

    wait_saved(cluster, app, waiting)
    cluster.run("selastic", "shrink", app.job, 2)
    offer = app.event("offer_shrink")
    cluster.start_controller()
    wait_until(lambda: is_up(cluster, "127.0.0.1"), "the primary is in control again", TAKEOVER)
    wait_connected_again(cluster, app, waiting)
    app.do("accept", offer["op"])
    app.event("accepted")
    app.do("done", offer["op"])
    assert app.event("resized")["size"] == 2
    cluster.check_as_before()


def test_a_takeover_while_who_could_be_preempted_is_asked(pair):
    cluster = pair
    app = cluster.actor("malleable,min=2,max=8", "-N8", "--requeue")
    urgent = cluster.sbatch("-p", "urgent", "-N4", "--exclusive", wrap="sleep 600")
    offer = app.event("offer_shrink")
    wait_saved(cluster, app)
    cluster.kill_controller()
    wait_backup_in_control(cluster)
    wait_connected_again(cluster, app)
    app.do("accept", offer["op"])
    app.event("accepted")
    app.do("done", offer["op"])
    assert app.event("resized")["size"] == 4
    cluster.wait_state(urgent, "RUNNING")
    assert cluster.job(app.job)["Restarts"] == "0"
    cluster.start_controller()
    wait_until(lambda: is_up(cluster, "127.0.0.1"), "the primary is in control again", TAKEOVER)
    wait_connected_again(cluster, app)
    cluster.end_jobs()
    cluster.check_as_before()
