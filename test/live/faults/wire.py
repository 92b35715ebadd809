# SPDX-License-Identifier: MIT
"""The protocol of doc/protocol.md from outside the library: a peer that may do wrong.

Credentials are made and opened by the `munge` and `unmunge` commands, as any
user; what a frame holds and in which order is the test's choice.
"""

import json
import pathlib
import re
import socket
import struct
import subprocess

# Of the protocol, as the sources have it.
VERSION = int(re.search(r"kVersion = (\d+);", (pathlib.Path(__file__).resolve().parents[3]
                                               / "src/protocol/message.hpp").read_text()).group(1))


def port_of(cluster):
    """Where the controller listens."""
    return int(re.search("^ListenPort=(.*)$", (cluster.dir / "elastic.conf").read_text(),
                         re.M).group(1))


def _munge(cluster, user, data, program, *options, munge_socket=None):
    command = [program, f"--socket={munge_socket or cluster.env['MUNGE_SOCKET']}", *options]
    if user:
        command = ["setpriv", f"--reuid={user}", f"--regid={user}", "--clear-groups", *command]
    return subprocess.run(command, input=data, capture_output=True, check=True).stdout


def seal(cluster, payload, user=None, munge_socket=None):
    """A MUNGE credential of that user around the bytes, for the controller's user."""
    return _munge(cluster, user, payload, "munge", "--restrict-uid=0",
                  munge_socket=munge_socket).rstrip()


def unseal(cluster, credential, user=None):
    """The bytes inside a credential, opened by that user."""
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
