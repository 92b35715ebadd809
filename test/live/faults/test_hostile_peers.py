# SPDX-License-Identifier: MIT
"""Peers that lie, break the protocol, or only take up room.

All are refused or dropped, the log says so once and not a thousand times, and
the controller goes on serving an application all the while.
"""

import json
import os
import pathlib
import random
import resource
import shutil
import socket
import subprocess
import time

import pytest
from elastic_live import wait_until
from wire import VERSION, Peer, framed, port_of, seal


@pytest.fixture
def app(cluster, adaptive):
    """An application that must notice nothing."""
    adaptive(ExpandTrigger="never")
    started = cluster.actor("malleable+evolving,min=1,max=6", "-N2")
    yield started
    assert still_served(started)


def still_served(app):
    """Whether a request for a node is granted, and how long that takes."""
    before = time.monotonic()
    app.do("request", 1, 1, 10.0)
    app.event("queued")
    resized = app.event("resized")
    took = time.monotonic() - before
    app.do("done", resized["op"])
    app.do("release", 1, None)
    app.event("queued")
    assert app.event("resized")["size"] == resized["size"] - 1
    return took


def refusals(cluster, since):
    return [line for line in cluster.log[since:].splitlines() if "elastic: refused" in line]


def descriptors(cluster):
    return len(os.listdir(f"/proc/{cluster.controller_pid}/fd"))


def resident_kib(cluster):
    """What the controller's memory takes; nothing where that says nothing."""
    if cluster.is_sanitized:
        return 0
    text = pathlib.Path(f"/proc/{cluster.controller_pid}/status").read_text()
    return int(text.split("VmRSS:")[1].split()[0])


def test_another_user_cannot_speak_for_a_job(cluster, app, stranger):
    since = len(cluster.log)
    for _ in range(5):
        with Peer(cluster, user=stranger) as peer:
            answer = peer.hello(app.job)
            assert (answer["type"], answer["code"]) == ("failure", "denied")
            assert peer.closed()
    assert len(refusals(cluster, since)) <= 1
    app.no_event()


def test_another_user_cannot_steer_a_job(cluster, app, stranger):
    for command in (["shrink", app.job, "1"], ["expand", app.job, "3"], ["evacuate", "n2"]):
        result = cluster.run("selastic", *command, user=stranger, check=False)
        assert result.code != 0, result
    app.no_event()


def test_a_stolen_session_is_of_no_use(cluster, app, stranger):
    """Messages by another user, or for another session, on a connection that was welcomed."""
    victim = cluster.actor("malleable,min=1,max=2", "-N1")
    for spoil in ("user", "session", "sequence"):
        with Peer(cluster) as peer:
            assert peer.hello(victim.job)["type"] == "welcome"
            if spoil == "user":
                peer.user = stranger
            elif spoil == "session":
                peer.session = "0" * 16
            else:
                peer.sequence += 1
            peer.send("request", token=1, nodes=1, least=1, timeout=0)
            assert peer.closed(), spoil
    assert not cluster.journal(victim.job, "request")


def test_replayed_credentials(cluster, app):
    with Peer(cluster) as first:
        credential = seal(cluster, first.message("hello", version=VERSION, role="application",
                                                 job=app.job + 1000, nonce="n"))
        first.send_raw(framed(credential))
        assert first.receive()["code"] == "unknown_job"
    with Peer(cluster) as second:
        second.send_raw(framed(credential))
        assert second.closed()


def test_forged_credentials(cluster, app):
    """Of another key, of none, and changed by a letter."""
    with Peer(cluster) as peer:
        good = seal(cluster, peer.message("hello", version=VERSION, role="application", job=app.job,
                                          nonce="n"))
    middle = len(good) // 2
    changed = good[:middle] + (b"A" if good[middle:middle + 1] != b"A" else b"B") + good[middle + 1:]
    for bad in (changed, b"MUNGE:" + b"A" * 200 + b":", b'{"type":"hello"}', b"\0" * 64):
        with Peer(cluster) as peer:
            peer.send_raw(framed(bad))
            assert peer.closed(), bad


@pytest.fixture
def other_munged(tmp_path):
    """The socket of a munged with a key of its own."""
    tmp_path.chmod(0o755)
    key, address = tmp_path / "key", tmp_path / "socket"
    key.write_bytes(os.urandom(128))
    key.chmod(0o600)
    files = [f"--{name}-file={tmp_path / name}" for name in ("seed", "pid", "log")]
    munged = shutil.which("munged", path="/usr/sbin:/sbin:" + os.environ["PATH"])
    daemon = subprocess.Popen([munged, "--foreground", "--force", f"--socket={address}",
                               f"--key-file={key}", *files], stderr=subprocess.DEVNULL)
    try:
        wait_until(address.exists, "the other munged listens")
        yield str(address)
    finally:
        daemon.terminate()
        daemon.wait(timeout=10)


def test_credentials_of_another_key(cluster, app, other_munged):
    """Of another cluster's munged: dropped, said once, and the job's own application stays."""
    victim = cluster.actor("malleable,min=1,max=2", "-N1")
    since = len(cluster.log)
    for _ in range(20):
        with Peer(cluster) as peer:
            peer.munge_socket = other_munged
            peer.send("hello", version=VERSION, role="application", job=victim.job, nonce="n")
            assert peer.closed()
    spoken = cluster.actor("malleable,min=1,max=2", "-N1")
    with Peer(cluster) as peer:  # in the middle of a session too
        assert peer.hello(spoken.job)["type"] == "welcome"
        peer.munge_socket = other_munged
        peer.send("progress", remaining=1)
        assert peer.closed()
    assert len(refusals(cluster, since)) <= 1
    assert victim.state()["connected"]
    victim.no_event()


def test_a_second_hello_is_refused(cluster, app):
    other = cluster.actor("malleable,min=1,max=2", "-N1")
    with Peer(cluster) as peer:
        assert peer.hello(other.job)["type"] == "welcome"
        peer.send("hello", version=VERSION, role="application", job=app.job, nonce="n")
        assert peer.receive()["code"] == "malformed"
        assert peer.closed()


def test_frames_of_impossible_length(cluster, app):
    since = len(cluster.log)
    for head in (b"\0\0\0\0", b"\xff\xff\xff\xff", b"\0\1\0\1"):
        for _ in range(5):
            with Peer(cluster) as peer:
                peer.send_raw(head)
                assert peer.closed()
    assert len(refusals(cluster, since)) <= 1


def test_truncated_frames(cluster, app):
    """Closed in the middle, and left in the middle."""
    with Peer(cluster) as peer:
        whole = framed(seal(cluster, peer.message("hello", version=VERSION, role="tool", job=0,
                                                  nonce="n")))
    for size in (1, 3, 4, 5, len(whole) - 1):
        with Peer(cluster) as peer:
            peer.send_raw(whole[:size])
    with Peer(cluster) as peer:
        peer.send_raw(whole[:-1])
        assert peer.closed(), "it must be dropped after some seconds"


def test_random_bytes(cluster, app, stranger):
    """And hellos with some bytes changed, which may still be good ones: hence by another user."""
    seed = int(os.environ.get("ELASTIC_TEST_SEED", random.SystemRandom().randrange(2**32)))
    print(f"ELASTIC_TEST_SEED={seed}")
    dice = random.Random(seed)
    for _ in range(200):
        with Peer(cluster) as peer:
            data = dice.randbytes(dice.randrange(1, 3000))
            peer.send_raw(framed(data) if dice.random() < 0.5 else data)
    for _ in range(30):
        with Peer(cluster) as peer:
            text = bytearray(peer.message("hello", version=VERSION, role="application", job=app.job,
                                          nonce="n"))
            for _ in range(dice.randrange(1, 6)):
                text[dice.randrange(len(text))] = dice.randrange(256)
            peer.send_raw(framed(seal(cluster, bytes(text), user=stranger)))
            peer.socket.shutdown(socket.SHUT_WR)
    app.no_event()


def test_a_thousand_idle_connections(cluster, app):
    """An application is served all the same, and nothing is left of them."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, max(soft, 2048)), hard))
    since, before = len(cluster.log), descriptors(cluster)
    address = ("127.0.0.1", port_of(cluster))
    idle = []
    try:
        for _ in range(1000):
            idle.append(socket.create_connection(address, timeout=30))
        took = still_served(app)
        assert took < 5, f"a request took {took:.1f} s"
        assert descriptors(cluster) < before + 200
        assert cluster.run("selastic", "jobs").code == 0
        assert len(refusals(cluster, since)) <= 3
    finally:
        for one in idle:
            one.close()
    wait_until(lambda: descriptors(cluster) <= before + 2,
               lambda: f"{descriptors(cluster)} descriptors are {before} again")


def test_memory_does_not_grow(cluster, app):
    """Rounds of garbage after a first one, which fills buffers and caches."""
    def round_of_garbage():
        for _ in range(300):
            with Peer(cluster) as peer:
                peer.send_raw(framed(os.urandom(60000)))
                assert peer.closed()
    round_of_garbage()
    memory, files = resident_kib(cluster), descriptors(cluster)
    for _ in range(3):
        round_of_garbage()
    assert resident_kib(cluster) < memory + 4096
    wait_until(lambda: descriptors(cluster) <= files + 2, "all descriptors are closed")


def test_a_release_of_more_than_the_job_has(cluster, app):
    """It is not worked through to its end."""
    other = cluster.actor("evolving,min=1,max=2", "-N2")
    with Peer(cluster) as peer:
        assert peer.hello(other.job)["type"] == "welcome"
        for names in ("n[1-100000]", ",".join(["n1"] * 10000)):
            peer.send("release", token=1, nodes=0, node_list=names)
            answer = peer.receive()
            assert (answer["type"], answer["code"]) == ("failure", "denied")
            assert "more than 2 names" in answer["message"]


@pytest.fixture
def long_journal(cluster, adaptive, tmp_path):
    """What is asked of the journal has long answers."""
    tmp_path.chmod(0o755)
    line = {"time": 1, "event": "cancel", "job": 4000000, "op": 1, "reason": "x" * 150}
    path = tmp_path / "journal"
    path.write_text((json.dumps(line, separators=(",", ":")) + "\n") * 2000)
    path.chmod(0o666)
    yield lambda: adaptive(ExpandTrigger="never", JournalFile=path)
    adaptive(ExpandTrigger="never")


def test_many_questions_and_no_reading(cluster, app, long_journal):
    """Answers are not piled up, others are served meanwhile, and in the end all come."""
    long_journal()
    with Peer(cluster) as peer:
        assert peer.hello(0, role="tool")["type"] == "welcome"
        asked = range(1, 81)
        questions = [framed(seal(cluster, peer.message(
            "query", token=token, what="journal", job=0, nodes=0, node="", tail=2000)))
            for token in asked]
        before = resident_kib(cluster)
        peer.send_raw(b"".join(questions))
        for _ in range(3):
            cluster.selastic("jobs")
        assert resident_kib(cluster) < before + 16384
        assert [peer.receive()["token"] for _ in asked] == list(asked)


def test_another_process_of_the_job_takes_over(cluster):
    """The first is told, and does not come back to throw out the second."""
    app = cluster.actor("malleable,min=1,max=1", "-N1")
    with Peer(cluster) as second:
        assert second.hello(app.job)["type"] == "welcome"
        assert "another process" in app.event("closed")["reason"]
        time.sleep(2)  # longer than the library waits before it reconnects
        second.send("progress", remaining=60)
        assert cluster.selastic("show", app.job)["job"]["connected"]
        second.socket.settimeout(0.1)
        with pytest.raises(TimeoutError):
            second.receive()


def test_munge_without_its_daemon(cluster, app):
    """munged stops for a while: nothing is said wrongly, and the application comes back."""
    pid = int((cluster.dir / "pids" / "munged").read_text().split()[0])
    subprocess.run(["kill", "-STOP", str(pid)], check=True)
    try:
        with Peer(cluster) as peer:
            peer.send_raw(framed(b"MUNGE:" + b"A" * 100 + b":"))
            peer.socket.settimeout(5)
            try:
                peer.receive()
            except TimeoutError:
                pass
    finally:
        subprocess.run(["kill", "-CONT", str(pid)], check=True)
    wait_until(lambda: app.state()["connected"], "the application is connected")
