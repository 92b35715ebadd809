#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""An application that does as it is told: actor.py SOCKET LIBRARY

Runs in a job as its batch script, connects to the test's socket, and opens
libelastic.  From then on every line from the test is a command (JSON), every
one is answered by a line, and every event of the library is a line of its own
with "event".  It never decides anything, so whatever an application does in a
test, the test has said.

  {"call": "elastic", "function": F, "arguments": [...]}  elastic_F(handle, ...)
  {"call": "state"}                       what the library says of the job
  {"call": "shell", "command": C}         a shell command in the job's environment
  {"call": "listen", "on": false}         stop (true: go on) calling elastic_poll
  {"call": "open"}                        open a handle again, after "close"
  {"call": "close"}                       elastic_close
  {"call": "exit", "code": N}             no answer
  {"call": "die"}                         SIGKILL itself; no answer

It ends when the test closes the socket.
"""

import ctypes
import json
import os
import select
import signal
import socket
import subprocess
import sys

from elastic import _library

EVENTS = {1: "offer_shrink", 2: "offer_expand", 3: "accepted", 4: "resized", 5: "queued",
          6: "ended", 7: "closed", 8: "step", 9: "planned"}
KINDS = {0: "", 1: "shrink", 2: "expand"}
OUTCOMES = {0: "", 1: "declined", 2: "expired", 3: "cancelled", 4: "denied"}


class Actor:
    """The program."""

    def __init__(self, path, library):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.connect(path)
        self.library = _library.load(library)
        self.handle = ctypes.c_void_p()
        self.polling = True
        self.text = b""

    def say(self, message):
        self.socket.sendall(json.dumps(message).encode() + b"\n")

    def run(self):
        self.open()
        while True:
            waiting = [self.socket]
            if self.handle and self.polling:
                waiting.append(self.library.elastic_fd(self.handle))
            ready = select.select(waiting, [], [])[0]
            self.poll()
            if self.socket in ready and not self.read():
                return

    def poll(self):
        event = _library.Event()
        while self.handle and self.polling \
                and self.library.elastic_poll(self.handle, 0, ctypes.byref(event)) == 1:
            self.say({"event": EVENTS.get(event.type, event.type), "kind": KINDS[event.kind],
                      "outcome": OUTCOMES[event.outcome], "nodes": event.nodes,
                      "size": event.size, "op": event.op, "deadline": event.deadline,
                      "node_list": event.node_list.decode(), "reason": event.reason.decode()})

    def read(self):
        data = self.socket.recv(65536)
        self.text += data
        while b"\n" in self.text:
            line, self.text = self.text.split(b"\n", 1)
            command = json.loads(line)
            getattr(self, command.pop("call"))(**command)
            self.poll()
        return data

    # ---- commands

    def open(self):
        result = self.library.elastic_open(ctypes.byref(self.handle), 0)
        self.say({"result": result, **self.description()})

    def close(self):
        self.library.elastic_close(self.handle)
        self.handle = ctypes.c_void_p()
        self.say({"result": 0})

    def elastic(self, function, arguments):
        arguments = [text.encode() if isinstance(text, str) else text for text in arguments]
        result = getattr(self.library, f"elastic_{function}")(self.handle, *arguments)
        self.poll()  # what was said is sent there
        self.say({"result": result, "detail": self.library.elastic_detail(self.handle).decode()})

    def description(self):
        values = {name: getattr(self.library, f"elastic_{name}")(self.handle)
                  for name in ("nodes", "min", "max", "malleable", "evolving", "connected")}
        for name in ("nodelist", "batch_host", "detail"):
            values[name] = getattr(self.library, f"elastic_{name}")(self.handle).decode()
        return values

    def state(self):
        self.say(self.description())

    def shell(self, command):
        done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=False,
                              stdin=subprocess.DEVNULL)
        self.say({"code": done.returncode, "out": done.stdout, "err": done.stderr})

    def listen(self, on):
        self.polling = on
        self.say({"result": 0})

    def exit(self, code):
        if self.handle:
            self.library.elastic_close(self.handle)
        os._exit(code)

    def die(self):
        os.kill(os.getpid(), signal.SIGKILL)


if __name__ == "__main__":
    Actor(sys.argv[1], sys.argv[2]).run()
