# SPDX-License-Identifier: MIT
"""What selastic serve says to programs and to monitoring, and what it does with clients that mean ill."""

import contextlib
import os
import re
import shutil
import signal
import socket
import subprocess
import time

import pytest
from elastic_live import wait_until
from watching import need

pytestmark = pytest.mark.modes("ms")


def shrink(cluster, served, nodes=1):
    """A job gives up some of its four nodes; the job."""
    app = cluster.actor("malleable,min=1,max=4", "-N4", "--job-name=shown")
    cluster.run("selastic", "shrink", app.job, 4 - nodes)
    served.wait("/api/jobs.json", lambda jobs: any("agreement" in job for job in jobs["jobs"]), "the offer is shown")
    app.take_shrink()
    return app


def test_documents(cluster, serve):
    served = serve()
    empty = served.wait("/api/nodes.json", lambda nodes: len(nodes["nodes"]) == 8, "all nodes are shown")
    assert {node["state"] for node in empty["nodes"]} == {"idle"}
    app = shrink(cluster, served)
    jobs = served.wait("/api/jobs.json", lambda jobs: jobs["jobs"] and jobs["jobs"][0]["nodes"] == 3, "it is smaller")
    assert jobs["version"] == 1
    job = jobs["jobs"][0]
    assert (job["job"], job["name"], job["class"], job["min"], job["max"]) == (app.job, "shown", "malleable", 1, 4)
    nodes = served.wait("/api/nodes.json", lambda nodes: sum(node["state"] == "in use" for node in nodes["nodes"]) == 3,
                        "three nodes are in use")
    assert [node["name"] for node in nodes["nodes"] if node["jobs"] == [app.job]] == cluster.nodes_of(app.job)
    cluster.run("scontrol", "update", "NodeName=n8", "State=DRAIN", "Reason=test")
    served.wait("/api/nodes.json", lambda nodes: nodes["nodes"][7]["state"] == "unavailable", "n8 is drained")
    cluster.run("scontrol", "update", "NodeName=n8", "State=RESUME")
    served.wait("/api/nodes.json", lambda nodes: nodes["nodes"][7]["state"] == "idle", "n8 is back")


def test_a_waiting_job_has_a_promised_start(cluster, serve):
    served = serve()
    cluster.sbatch("-N8", "-t1", "--exclusive", wrap="sleep 60")
    waits = cluster.sbatch("-N8", "-t1", "--exclusive", wrap="true")
    jobs = served.wait("/api/jobs.json", lambda jobs: any("promised" in job for job in jobs["jobs"]), "it has one")
    shown = next(job for job in jobs["jobs"] if job["job"] == waits)
    assert shown["state"] == "PENDING" and time.time() < shown["promised"] < time.time() + 180


def test_the_journal_is_read_on(cluster, serve):
    served = serve()
    begin = served.wait("/api/journal.json", lambda journal: not journal["more"], "the journal is there")
    app = shrink(cluster, served)
    kinds, token = [], begin["next"]

    def read_on():
        nonlocal token
        part = served.get(f"/api/journal.json?since={token}").json
        assert not part["gap"]
        kinds.extend(event["event"] for event in part["events"] if event.get("job") == app.job)
        token = part["next"]
        return "resize" in kinds
    wait_until(read_on, lambda: f"the resize is told; {kinds}")
    assert kinds == ["submit", "start", "offer", "accept", "release", "resize"]
    assert served.get("/api/journal.json?since=strange").json["gap"]


def test_what_has_not_changed_is_not_sent_again(serve):
    served = serve()
    served.wait("/api/nodes.json", lambda nodes: nodes["nodes"], "nodes are shown")
    tag = served.get("/api/nodes.json").headers["ETag"]
    again = served.get("/api/nodes.json", If_None_Match=tag)
    assert (again.status, again.text) == (304, "")


def test_metrics(cluster, serve):
    need("promtool")
    served = serve()
    served.wait_metric("slurm_elastic_up", lambda up: up == 1, "the controller answers")
    key = 'slurm_elastic_resizes_total{event="%s",kind="shrink",reason="asked for by a user"}'
    before = served.metrics()
    shrink(cluster, served)
    served.wait_metric(key % "applied", lambda count: count == before.get(key % "applied", 0) + 1, "it is counted")
    after = served.metrics()
    for event in ("asked", "accepted"):
        assert after[key % event] == before.get(key % event, 0) + 1
    for name in ('slurm_elastic_job_wait_seconds_count{class="malleable"}',
                 'slurm_elastic_resize_duration_seconds_count{kind="shrink"}',
                 'slurm_elastic_jobs_started_total{class="malleable"}'):
        assert after[name] == before.get(name, 0) + 1, name
    assert after['slurm_elastic_nodes{state="in_use"}'] == 3
    assert after["slurm_elastic_pass_duration_seconds_count"] > 0
    given = "slurm_elastic_given_node_seconds_total"
    served.wait_metric(given, lambda seconds: seconds > after[given], "the node that it gave up is counted on")
    later = served.metrics()
    fallen = [name for name in after if re.search("_(total|count|sum|bucket)", name) and later[name] < after[name]]
    assert not fallen
    checked = subprocess.run(["promtool", "check", "metrics"], input=served.get("/metrics").text, text=True,
                             capture_output=True, check=False)
    assert (checked.returncode, checked.stdout + checked.stderr) == (0, "")
    said = served.get("/metrics", Accept="application/openmetrics-text; version=1.0.0")
    assert said.headers["Content-Type"].startswith("application/openmetrics-text") and said.text.endswith("\n# EOF\n")


def test_counters_begin_with_the_controller(cluster, serve):
    served = serve()
    shrink(cluster, served)
    began = "slurm_elastic_controller_start_time_seconds"
    started = 'slurm_elastic_jobs_started_total{class="malleable"}'
    served.wait_metric(started, bool, "the start is counted")
    before = served.metrics()
    cluster.kill_controller()
    served.wait_metric("slurm_elastic_up", lambda up: up == 0, "it is seen that the controller is away")
    assert began not in served.metrics()
    assert served.get("/api/jobs.json").status == 200  # as it was last
    cluster.start_controller()
    served.wait_metric(began, lambda since: since and since > before[began], "the new controller is asked")
    assert started not in served.metrics()


def test_browsers_are_told_what_to_keep_to(serve):
    served = serve()
    page = served.get("/")
    assert page.status == 200
    policy = page.headers["Content-Security-Policy"]
    assert policy.startswith("default-src 'none'") and "unsafe" not in policy and policy.count("'sha256-") == 2
    for answer in (page, served.get("/metrics"), served.get("/nothing")):
        assert answer.headers["X-Content-Type-Options"] == "nosniff"
        assert answer.headers["Referrer-Policy"] == "no-referrer"
    assert served.get("/nothing").status == 404
    for method in ("POST", "PUT", "DELETE", "OPTIONS"):
        refused = served.get("/api/jobs.json", method)
        assert (refused.status, refused.headers["Allow"]) == (405, "GET, HEAD")
    assert served.get("/", "HEAD").text == ""


def test_a_strangers_name_is_not_answered(serve):
    served = serve("--name", "watch.example")
    for host, status in [("evil.example", 421), ("evil.example:80", 421), ("", 421), ("127.0.0.1.evil.example", 421),
                         ("watch.example", 200), ("WATCH.example:443", 200), ("localhost:1", 200), ("[::1]:5", 200)]:
        assert served.get("/", Host=host).status == status, host


def test_a_socket_of_the_file_system(cluster, serve):
    folder = cluster.new_folder("socket")
    os.chmod(folder, 0o777)
    path = f"{folder}/s"
    for how in (signal.SIGKILL, signal.SIGTERM):  # what the first leaves is no obstacle to the second
        served = serve(where=("--socket", path))
        with contextlib.closing(socket.socket(socket.AF_UNIX)) as client:
            client.connect(path)
            client.sendall(b"GET / HTTP/1.0\r\n\r\n")
            assert client.recv(100).startswith(b"HTTP/1.1 200")
        served.process.send_signal(how)
        served.process.wait(20)
    assert not os.path.exists(path)


def test_what_cannot_be_listened_at_is_said(cluster, serve):
    taken = serve()
    for where, word in [(("--listen", "nowhere"), "ADDRESS:PORT"),
                        (("--listen", "127.0.0.1:65536"), "up to 65535"),
                        (("--listen", f"127.0.0.1:{taken.port}"), "in use; --listen ADDRESS:PORT names another port"),
                        (("--listen", "192.0.2.77:0"), "an address of this host"),
                        (("--socket", "/nowhere/s"), "No such file or directory; its folder has to be there"),
                        (("--socket", "/dev/null"), "it is no socket"),
                        (("--socket", "/tmp/" + 103 * "x"), "at most 107 bytes"),
                        (("--socket", ""), "--socket: it is empty")]:
        said = cluster.run("selastic", "serve", *where, check=False)
        assert said.code == 2 and word in said.err and said.err.count("\n") == 1, str(said)


def controller_connections(served):
    """Connections of the server that it has made itself."""
    ours = {os.readlink(f"/proc/{served.process.pid}/fd/{fd}") for fd in os.listdir(f"/proc/{served.process.pid}/fd")}
    with open("/proc/net/tcp", encoding="ascii") as table:
        rows = [line.split() for line in list(table)[1:]]
    local = f":{served.port:04X}"
    return sum(f"socket:[{row[9]}]" in ours and not row[1].endswith(local) for row in rows)


def connect(served):
    return socket.create_connection((served.host, served.port), timeout=20)


def test_a_thousand_connections_and_slow_clients(cluster, serve):
    """Others are served meanwhile, the controller has one connection for all, and no memory is lost."""
    served = serve()
    served.wait("/api/jobs.json", lambda jobs: True, "the controller is asked")
    with contextlib.ExitStack() as stack:
        def crowd():
            clients = [stack.enter_context(contextlib.closing(connect(served))) for _ in range(1000)]
            for number, client in enumerate(clients):
                client.sendall([b"GET /api/events HTTP/1.1\r\nHost: localhost\r\n\r\n",  # follows and never reads
                                b"GET / HTTP/1.1\r\nHost: localhost\r\nX: ",  # never ends
                                b"GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n" * 20,  # asks ahead, never reads
                                b"\0\xff\r\n\r\n"][number % 4])
            served.wait_metric("slurm_elastic_serve_streams", lambda count: count and count > 200, "they are there")
            assert served.get("/api/jobs.json").status == 200
            for client in clients:
                client.close()
        # How much a crowd takes at a time is chance, so the first ones may each need more than those before.
        sizes = []
        while len(sizes) < 2 or sizes[-1] > sizes[-2] * 1.02 + 200:
            assert len(sizes) < 12, sizes
            crowd()
            served.wait_metric("slurm_elastic_serve_connections", lambda count: count < 50, "they are forgotten")
            sizes.append(served.memory)
        assert sizes[-1] < 40_000, sizes
    assert controller_connections(served) <= 1


@pytest.mark.skipif(not shutil.which("curl"), reason="there is no curl")
def test_a_stream_tells_of_changes(cluster, serve):
    served = serve()
    with subprocess.Popen(["curl", "-sN", f"{served.url}api/events"], stdout=subprocess.PIPE, text=True) as follower:
        try:
            assert follower.stdout.readline() == "event: state\n"
            first = follower.stdout.readline()
            cluster.sbatch("-N1", wrap="sleep 60")
            wait_until(lambda: (line := follower.stdout.readline()).startswith("data: ") and line != first,
                       "a change is told")
        finally:
            follower.kill()
