# SPDX-License-Identifier: MIT
"""A cluster without MUNGE (AuthType=auth/slurm): who somebody is, Slurm's own daemons say.

They do so at a socket, the kiosk: that of the node's slurmd asks an application's library, that of the login node's
sackd `selastic`, and its own slurmctld.  The controller's user is none of those that the tests have.
"""

import base64
import contextlib
import hashlib
import hmac
import json
import os
import re
import shutil
import socket
import subprocess
import time

import minicluster
import pytest
from elastic_live import ELASTIC, MINICLUSTER, Cluster, wait_until
from wire import VERSION, Peer, controller_user, framed, seal, token

pytestmark = pytest.mark.modes("ms")
OPTIONS = ["--auth", "slurm", "--slurm-user", "bin"]

# What a kiosk says of a token that it does not take.
REFUSED_TOKEN = r"decode_jwt|wrap_on_data: .*sack.socket"


@contextlib.contextmanager
def without_munge(*options, **settings):
    """A cluster, where its Slurm can do without."""
    if not minicluster.can_unshare():
        pytest.skip("only root can give each daemon a /run of its own")
    cluster = Cluster("ms", elastic=[f"{key}={value}" for key, value in ELASTIC.items()],
                      options=[*OPTIONS, *options], **settings)
    with contextlib.ExitStack() as ended:
        try:
            yield ended.enter_context(cluster)
        except minicluster.Failure as failure:
            if not re.search("no (auth_slurm|mariadb)", str(failure)):
                raise
            pytest.skip(str(failure))


@pytest.fixture(scope="module")
def cluster(request):
    with without_munge(nodes=4, build=request.config.getoption("--build")) as started:
        yield started


@pytest.fixture
def app(cluster, stranger):
    """The application of an ordinary user."""
    return cluster.actor("malleable+evolving,min=1,max=4", "-N2", user=stranger)


def grows_and_shrinks(cluster, app, user=None):
    """At the word of that user."""
    cluster.run("selastic", "expand", app.job, 3, user=user)
    assert app.take_expand()["size"] == 3
    cluster.run("selastic", "shrink", app.job, 2, user=user)
    assert app.take_shrink()["size"] == 2


def refusals(cluster, since=0):
    return re.findall("elastic: refused.*", cluster.log[since:])


def test_there_is_no_munge(cluster):
    assert not (cluster.dir / "pids/munged").exists()
    assert re.search("^AuthType += auth/slurm$", cluster.run("scontrol", "show", "config").out, re.M)


def test_commands_by_hand(cluster):
    """In the shell that minicluster opens, and a hint for those who only set variables."""
    done = subprocess.run([MINICLUSTER, "shell", "--dir", cluster.dir], input="sinfo --noheader --format=%D && env",
                          env=os.environ | {"SHELL": "/bin/sh"}, capture_output=True, text=True, check=True)
    assert done.stdout.startswith("4\n") and f"SLURM_CONF={cluster.dir}/slurm.conf\n" in done.stdout
    variables = subprocess.run([MINICLUSTER, "env", "--dir", cluster.dir], capture_output=True, text=True, check=True)
    done = subprocess.run(["sh", "-c", variables.stdout], capture_output=True, text=True, check=True)
    assert "'contribs/minicluster shell' alone" in done.stderr


def test_a_job_grows_and_shrinks(cluster, app, stranger):
    for user in (None, stranger):
        grows_and_shrinks(cluster, app, user)
    app.do("request", 1, 1, 10.0)
    app.event("queued")
    assert app.event("resized")["size"] == 3


def test_selastic_knows_who_asks(cluster, app, stranger):
    mine = cluster.actor("malleable,min=1,max=2", "-N1")
    for user in (None, stranger):
        assert {job["job"] for job in cluster.selastic("jobs", user=user)["jobs"]} == {app.job, mine.job}
    for command in (["shrink", mine.job, "1"], ["expand", mine.job, "2"], ["evacuate", "n1"]):
        refused = cluster.run("selastic", *command, user=stranger, check=False)
        assert refused.code == 1 and len(refused.err.splitlines()) == 1, refused
    with Peer(cluster, user=stranger) as peer:
        assert peer.hello(mine.job)["code"] == "denied"
    mine.no_event()


def test_a_token_is_taken_once(cluster, app):
    with Peer(cluster) as first:
        credential = seal(cluster, first.message("hello", version=VERSION, role="application", job=app.job + 1000,
                                                 nonce="n"))
        first.send_raw(framed(credential))
        assert first.receive()["code"] == "unknown_job"
    with Peer(cluster) as second:
        second.send_raw(framed(credential))
        assert second.closed()
    app.no_event()


def base64url(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=")


def signed(claims, key, algorithm="HS256"):
    """A JSON Web Token."""
    text = b".".join(base64url(json.dumps(part).encode()) for part in ({"alg": algorithm, "typ": "JWT"}, claims))
    return text + b"." + base64url(hmac.new(key, text, hashlib.sha256).digest() if key else b"")


def claims_of(of_token):
    text = of_token.split(b".")[1]
    return json.loads(base64.urlsafe_b64decode(text + b"=" * (-len(text) % 4)))


def test_what_is_no_good_token_is_refused(cluster, app, stranger, expect_errors):
    """Another user's claims, another key's, no key's, an old one, one for another reader or message, none at all."""
    expect_errors.append(REFUSED_TOKEN)
    key = (cluster.dir / "slurm.key").read_bytes()
    with Peer(cluster) as peer:
        hello = peer.message("hello", version=VERSION, role="application", job=app.job, nonce="n")
    good = token(cluster, hello, stranger)
    claims = claims_of(good)
    header, _, signature = good.split(b".")
    as_root = base64url(json.dumps(claims | {"uid": 0}).encode())
    bad = {"uid": b".".join([header, as_root, signature]),
           "key": signed(claims, b"k" * len(key)),
           "none": signed(claims, b"", "none"),
           "old": signed(claims | {"exp": int(time.time()) - 1}, key),
           "reader": token(cluster, hello, stranger, reader=controller_user(cluster) + 1),
           "message": token(cluster, hello.replace(b'"n"', b'"m"'), stranger),
           "empty": b"", "text": b"hello"}
    since = len(cluster.log)
    for what, one in bad.items():
        with Peer(cluster) as peer:
            peer.send_raw(framed(one + b"\n" + hello))
            assert peer.closed(), what
    app.no_event()
    assert len(refusals(cluster, since)) <= 1
    with Peer(cluster) as peer:  # so it is the tokens that were wrong, not the rest
        peer.send_raw(framed(signed(claims, key) + b"\n" + hello))
        assert peer.receive()["type"] == "welcome"


def test_a_restart_and_a_reconfiguration_later(cluster, app, elastic):
    for renew in (cluster.restart_controller, lambda: elastic(BackOff=2)):
        renew()
        wait_until(lambda: app.state()["connected"], "the application is connected")
        grows_and_shrinks(cluster, app)


def test_selastic_without_a_kiosk_says_so(cluster):
    cluster.minicluster.kill("sackd")
    try:
        failed = cluster.run("selastic", "jobs", check=False)
    finally:
        cluster.minicluster.start("sackd")
    assert failed.code == 2
    assert re.fullmatch("selastic: error: no answer from the controller: auth/slurm: does slurmd, sackd or slurmctld"
                        " run here\\?( /run/[^:]*/sack.socket: [^:]*[;\n])+", failed.err), failed.err
    cluster.selastic("jobs")


def test_a_login_node_of_several_clusters(cluster):
    """Where /run/slurm is another cluster's, this one's kiosk has a folder of its name (sackd of 25.05 and later)."""
    usual = cluster.dir / "run.d/login/slurm"
    own = usual.with_name("slurm-minicluster")
    usual.rename(own)
    usual.mkdir()
    try:
        with socket.socket(socket.AF_UNIX) as other:
            other.bind(str(usual / "sack.socket"))
            other.listen()
            cluster.selastic("jobs")
    finally:
        shutil.rmtree(usual)
        own.rename(usual)


def test_an_application_without_a_kiosk_comes_back(cluster, app):
    node = cluster.nodes_of(app.job)[0]
    cluster.kill_slurmd(node)
    app.do("request", 1, 1, 60.0)
    wait_until(lambda: "auth/slurm" in app.state()["detail"], lambda: f"the library says why: {app.state()}")
    cluster.start_slurmd(node)
    app.event("queued")
    assert app.event("resized")["size"] == 3


def test_a_controller_without_a_kiosk_says_so_once(cluster, stranger):
    """Of each kind of refusal one line a minute, so what a test before has provoked must not count."""
    cluster.restart_controller()
    app = cluster.actor("malleable,min=1,max=4", "-N2", user=stranger)
    kiosk = cluster.dir / "run.d/slurmctld/slurmctld/sack.socket"
    since = len(cluster.log)
    kiosk.rename(kiosk.with_suffix(".away"))
    try:
        for _ in range(3):
            with Peer(cluster, user=stranger) as peer:
                peer.send("hello", version=VERSION, role="application", job=app.job, nonce="n")
                assert peer.closed()
    finally:
        kiosk.with_suffix(".away").rename(kiosk)
    said, = refusals(cluster, since)
    assert "auth/slurm: does slurmd, sackd or slurmctld run here? /run/slurmctld/sack.socket: No such file" in said
    cluster.wait_connected(app.job)
    grows_and_shrinks(cluster, app)


def test_with_slurmdbd_with_users_names_in_tokens_and_with_other_tokens(request):
    """Nodes need not know the users (use_client_ids), slurmdbd has no MUNGE either, slurmctld takes auth/jwt too."""
    conf = ["AuthInfo=use_client_ids,ttl=30", "AuthAltTypes=auth/jwt", "AuthAltParameters=jwt_key=@DIR@/slurm.key"]
    with without_munge("--accounting", nodes=3, build=request.config.getoption("--build"), conf=conf) as cluster:
        app = cluster.actor("malleable,min=1,max=3", "-N2")
        assert "id" in claims_of(token(cluster, b"text"))
        grows_and_shrinks(cluster, app)
        assert str(app.job) in cluster.run("sacct", "--noheader", "--format=JobID").out
        cluster.check_as_before()
