# SPDX-License-Identifier: MIT
"""The protocol of doc/protocol.md from outside the library: a peer that may do wrong.

Credentials are made as any user, by the `munge` command or by a kiosk of auth/slurm; what a frame holds and in which
order is the test's choice.
"""

import hashlib
import json
import os
import pathlib
import pwd
import re
import socket
import struct
import subprocess
import sys

# Of the protocol, as the sources have it.
VERSION = int(re.search(r"kVersion = (\d+);", (pathlib.Path(__file__).resolve().parents[2]
                                               / "src/protocol/message.hpp").read_text()).group(1))


def port_of(cluster):
    """Where the controller listens."""
    return int(re.search("^ListenPort=(.*)$", (cluster.dir / "elastic.conf").read_text(),
                         re.M).group(1))


def _munge(cluster, user, data, program, *options, munge_socket=None):
    command = [program, f"--socket={munge_socket or cluster.env['MUNGE_SOCKET']}", *options]
    return _output_as(user, command, data)


def _output_as(user, command, data):
    if user:
        command = ["setpriv", f"--reuid={user}", f"--regid={user}", "--clear-groups", *command]
    return subprocess.run(command, input=data, capture_output=True, check=True).stdout


# A question to the kiosk at this socket, and its whole answer.
ASK_KIOSK = """
import socket, sys
with socket.socket(socket.AF_UNIX) as kiosk:
    kiosk.connect(sys.argv[1])
    kiosk.sendall(sys.stdin.buffer.read())
    while part := kiosk.recv(65536):
        sys.stdout.buffer.write(part)
"""


def token(cluster, payload, user=None, reader=None):
    """What the login node's kiosk gives that user for the bytes, for the controller's user or another."""
    about = hashlib.sha256(payload).digest() + os.urandom(8)
    request = struct.pack(">III", 64001, controller_user(cluster) if reader is None else reader, len(about)) + about
    message = struct.pack(">HI", 42 << 8, 4 + len(request)) + request
    socket_path = cluster.dir / "run.d/login/slurm/sack.socket"
    return _output_as(user, [sys.executable, "-c", ASK_KIOSK, str(socket_path)], message)[4:-1]


def controller_user(cluster):
    """The number of SlurmUser."""
    return pwd.getpwnam(cluster.minicluster.settings.slurm_user).pw_uid


def without_munge(cluster):
    """Whether the cluster has auth/slurm."""
    return cluster.minicluster.settings.auth == "slurm"


def seal(cluster, payload, user=None, munge_socket=None):
    """A credential of that user around the bytes, for the controller's user."""
    if without_munge(cluster):
        return token(cluster, payload, user) + b"\n" + payload
    return _munge(cluster, user, payload, "munge", f"--restrict-uid={controller_user(cluster)}",
                  munge_socket=munge_socket).rstrip()


def unseal(cluster, credential, user=None):
    """The bytes inside a credential, opened by that user; what auth/slurm signs anybody can read."""
    if without_munge(cluster):
        return credential.partition(b"\n")[2]
    return _munge(cluster, user, credential, "unmunge", "--metadata=/dev/null")


def framed(data):
    """With its length in front."""
    return struct.pack(">I", len(data)) + data


class Peer:
    """A connection to the controller."""

    def __init__(self, cluster, user=None):
        self.cluster, self.user = cluster, user
        self.socket = socket.create_connection(("127.0.0.1", port_of(cluster)), timeout=30)
        self.session, self.sequence = "", 0
        self.munge_socket = None  # the cluster's own

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.close()

    def send_raw(self, data):
        """Bytes as they are; the other end may have closed."""
        try:
            self.socket.sendall(data)
        except (BrokenPipeError, ConnectionResetError):
            pass

    def message(self, kind, **fields):
        """The envelope of the next message, as bytes."""
        self.sequence += 1
        return json.dumps({"type": kind, "session": self.session, "sequence": self.sequence,
                           **fields}).encode()

    def send(self, kind, **fields):
        """A proper message."""
        self.send_raw(framed(seal(self.cluster, self.message(kind, **fields), self.user,
                                  self.munge_socket)))

    def hello(self, job, **fields):
        """The first message; the answer."""
        self.send("hello", **{"version": VERSION, "role": "application", "job": job,
                              "nonce": "n", **fields})
        answer = self.receive()
        if answer and answer["type"] == "welcome":
            self.session = answer["new_session"]
        return answer

    def _exactly(self, size):
        data = b""
        while len(data) < size:
            try:
                part = self.socket.recv(size - len(data))
            except ConnectionResetError:
                part = b""
            if not part:
                return None
            data += part
        return data

    def receive(self):
        """The next message; None when the controller has closed."""
        head = self._exactly(4)
        if head is None:
            return None
        credential = self._exactly(struct.unpack(">I", head)[0])
        return json.loads(unseal(self.cluster, credential, self.user))

    def closed(self):
        """Whether the controller closes without another message."""
        return self.receive() is None
