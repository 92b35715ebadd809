# SPDX-License-Identifier: MIT
"""A worker of elastic.pool: a process that does one task after another, and its guardian, which forks another one where
a task has ended it.

TERM says that the node is given up. Slurm sends it to all processes of the step, so also to what a task has started: a
task that fails then has not failed, it is done again elsewhere. What notices TERM is a thread, since a handler would
wait for the end of a long call into C.

Always holds: a worker says `started` before it begins a task, so what it was sent and has not begun may be given to
another; with the lock held it is either idle, and may end at once, or has a task to answer for.
"""

from __future__ import annotations

import multiprocessing.connection
import multiprocessing.spawn
import os
import pickle
import signal
import socket
import sys
import threading
import traceback
from typing import Any

MEETING = "ELASTIC_POOL"  # in the environment: the pool's port and key
_GONE = 0  # the status of a worker that was told to end, or whose pool is gone


def _connect() -> multiprocessing.connection.Connection | None:
    port, key = os.environ[MEETING].split(":")
    address = (os.environ.get("SLURM_LAUNCH_NODE_IPADDR", "127.0.0.1"), int(port))
    try:
        link = socket.create_connection(address)
        link.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        connection = multiprocessing.connection.Connection(link.detach())
        multiprocessing.connection.answer_challenge(connection, bytes.fromhex(key))
        multiprocessing.connection.deliver_challenge(connection, bytes.fromhex(key))
    except (OSError, EOFError):
        return None
    return connection


def outcome_of(error: BaseException) -> bytes:
    """An exception with where it was raised, whatever can be sent of it."""
    text = "".join(traceback.format_exception(type(error), error, error.__traceback__))
    try:
        packed = pickle.dumps((False, error, text))
        pickle.loads(packed)
        return packed
    except Exception:
        return pickle.dumps((False, RuntimeError(repr(error)), text))


class _Worker:
    def __init__(self, connection: multiprocessing.connection.Connection) -> None:
        self._connection = connection
        self._lock = threading.Lock()
        self._idle, self._leaving = True, False
        self._signalled, signals = socket.socketpair()
        signals.setblocking(False)
        self._signals = signals  # kept open
        signal.set_wakeup_fd(signals.fileno(), warn_on_full_buffer=False)
        signal.signal(signal.SIGTERM, lambda *_: None)
        threading.Thread(target=self._watch, daemon=True).start()

    def _watch(self) -> None:
        while signal.SIGTERM not in self._signalled.recv(100):
            pass
        with self._lock:
            self._leaving = True
            if self._idle:
                os._exit(_GONE)
            self._connection.send(("leaving",))

    def run(self) -> None:
        """Tasks, until there is none any more."""
        self._connection.send(("ready", os.environ.get("SLURMD_NODENAME", ""), os.getpid()))
        while True:
            task: bytes | None = self._connection.recv()
            if task is None:
                return
            with self._lock:
                self._idle = False
                self._connection.send(("started",))
            answer = self._do(task)
            sys.stdout.flush()
            sys.stderr.flush()
            with self._lock:
                self._connection.send(answer)
                if self._leaving:
                    return
                self._idle = True

    def _do(self, task: bytes) -> tuple[Any, ...]:
        try:
            function, arguments, named = pickle.loads(task)
            return "done", pickle.dumps((True, function(*arguments, **named), ""))
        except BaseException as error:
            return ("again",) if self._leaving else ("done", outcome_of(error))


def _work() -> None:
    connection = _connect()
    if not connection:
        return
    try:
        preparation = connection.recv()
        try:
            multiprocessing.spawn.prepare(preparation)
        except BaseException as error:
            connection.send(("broken", outcome_of(error)))
            connection.recv()
            return
        _Worker(connection).run()
    except (EOFError, OSError):
        return  # the pool is gone


def main() -> int:
    """Forks a worker, and another one whenever one has died of its task."""
    leaving: list[int] = []
    signal.signal(signal.SIGTERM, lambda number, _: leaving.append(number))
    while not leaving:
        child = os.fork()
        if child == 0:
            signal.signal(signal.SIGTERM, signal.SIG_DFL)
            _work()
            sys.stdout.flush()
            os._exit(_GONE)
        if os.waitpid(child, 0)[1] == _GONE:
            break
    return 0


if __name__ == "__main__":
    sys.exit(main())
