# SPDX-License-Identifier: MIT
"""ListenPort changes while applications are connected.

Who is connected stays so.  Who comes later finds the new port: a job submitted since
by its environment, one submitted before by elastic.conf, since its environment still
has the old one.
"""

import re
import socket

import pytest
from elastic_live import SLURM_VERSION, wait_until
from wire import Peer, port_of


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def listens(port):
    try:
        socket.create_connection(("127.0.0.1", port), timeout=5).close()
    except ConnectionRefusedError:
        return False
    return True


def change_port(cluster, port, until="configuration read"):
    text = (cluster.dir / "elastic.conf").read_text()
    cluster.write_elastic_conf(re.sub("^ListenPort=.*$", f"ListenPort={port}", text, flags=re.M))
    cluster.reconfigure(until)


@pytest.fixture
def ports(cluster, adaptive):
    """(old, new), the old one restored after the test."""
    adaptive(ExpandTrigger="never")
    old = port_of(cluster)
    yield old, free_port()
    if port_of(cluster) != old:
        change_port(cluster, old)
        wait_until(lambda: listens(old), f"port {old} is open again")


def shrinks(cluster, app, size):
    cluster.run("selastic", "shrink", app.job, size)
    assert app.take_shrink()["size"] == size


def assert_stays_connected(app):
    """All the while, or since 23.11 to another slurmctld."""
    if SLURM_VERSION >= (23, 11):
        wait_until(lambda: app.state()["connected"], "the application is connected")
    assert app.state()["connected"]


def test_port_changes(cluster, ports):
    old, new = ports
    app = cluster.actor("malleable,min=1,max=4", "-N4")
    change_port(cluster, new)
    wait_until(lambda: listens(new) and not listens(old), "the ports have changed")
    # selastic reads elastic.conf.
    assert_stays_connected(app)
    shrinks(cluster, app, 3)
    later = cluster.actor("malleable,min=1,max=4", "-N2")
    assert f":{new};" in later.shell("echo $ELASTIC_CONTROLLER")["out"]
    shrinks(cluster, later, 1)
    # A second handle of the old job; its environment says the old port.
    assert f":{old};" in app.shell("echo $ELASTIC_CONTROLLER")["out"]
    app.ask("close")
    assert app.ask("open")["connected"]
    shrinks(cluster, app, 2)


def test_an_old_application_finds_the_new_port_after_a_crash(cluster, ports):
    old, new = ports
    app = cluster.actor("malleable,min=1,max=4", "-N4")
    cluster.run("selastic", "shrink", app.job, 3)
    offer = app.event("offer_shrink")
    change_port(cluster, new)
    wait_until(lambda: listens(new), "the new port is open")
    cluster.restart_controller()
    wait_until(lambda: app.state()["connected"], "the application has found the new port")
    app.do("accept", offer["op"])
    app.event("accepted")
    app.do("done", offer["op"])
    assert app.event("resized")["size"] == 3


def test_a_port_that_is_taken(cluster, ports, expect_errors):
    """The old one goes on, and the log says why."""
    expect_errors.append("cannot listen on port")
    old, _ = ports
    app = cluster.actor("malleable,min=1,max=4", "-N4")
    with socket.socket() as other:
        other.bind(("0.0.0.0", 0))
        other.listen()
        taken = other.getsockname()[1]
        change_port(cluster, taken, f"cannot listen on port {taken}")
        assert_stays_connected(app)
        change_port(cluster, old)
    shrinks(cluster, app, 3)
    with Peer(cluster) as peer:
        assert peer.hello(app.job)["type"] == "welcome"
