# SPDX-License-Identifier: MIT
"""An executor of concurrent.futures over the nodes of a job, which grows and shrinks with it.

    import elastic.pool

    if __name__ == "__main__":
        with elastic.pool.Pool() as pool:
            for result in pool.map(work, range(1000)):
                ...

In the batch script of an elastic job (sbatch --elastic=malleable,min=1,max=8) it has workers on all nodes that the job
has. Nodes that join get workers and tasks. On nodes that are given up running tasks may end within the grace time; what
has not ended then is done again on another node, from its beginning. So a task may be begun more than once, its result
is one. The same holds for a node that is lost where the job goes on without it, and for a task that ends its worker, of
which it is done three times at most.

The workers are started by selastic-run, which answers the controller: nothing else in the job may do so. In a job that
is not elastic there are workers on its nodes, and outside a job on this machine.

What a worker is told and answers is pickled, and functions are found by their names: the program is imported in each
worker, so what it does by itself stands behind `if __name__ == "__main__":`. Who knows the key, which workers have in
their environment, is trusted; the system shows it to the job's user alone.
"""

from __future__ import annotations

import atexit
import collections
import concurrent.futures
import multiprocessing.connection
import multiprocessing.spawn
import os
import pickle
import secrets
import socket
import struct
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from . import _launcher, _pool_worker

if TYPE_CHECKING:
    from typing import ParamSpec
    P = ParamSpec("P")
T = TypeVar("T")

__all__ = ["BrokenPool", "Pool", "TaskError", "WorkerDied"]

_TRIES = 3
_HANDSHAKE = 10  # seconds that a connection has to show that it knows the key
_LOST = 60  # seconds without a sign of a node until it is held to be lost


class BrokenPool(concurrent.futures.BrokenExecutor):
    """There are no workers any more, or none can start: what is left to do is not done."""


class WorkerDied(concurrent.futures.BrokenExecutor):
    """A task has ended its worker whenever it was tried, by a crash or for want of memory."""


class TaskError(Exception):
    """The cause of what a task has raised: where that was, in its text."""


class _Task:
    def __init__(self, future: concurrent.futures.Future[Any], payload: bytes) -> None:
        self.future, self.payload = future, payload
        self.begun, self.deaths = False, 0


class _Worker:
    """A connection to one; `task` is what it was sent last and has not answered."""

    def __init__(self, link: socket.socket) -> None:
        self.link = link
        self.connection = multiprocessing.connection.Connection(os.dup(link.fileno()))
        self.node = ""
        self.task: _Task | None = None
        self.started = self.leaving = False

    def shake_hands(self, key: bytes) -> None:
        """Raises what is no worker of ours."""
        self.link.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, struct.pack("ll", _HANDSHAKE, 0))
        multiprocessing.connection.deliver_challenge(self.connection, key)
        multiprocessing.connection.answer_challenge(self.connection, key)
        self.link.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, struct.pack("ll", 0, 0))
        self.link.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.link.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        for option, value in (("TCP_KEEPIDLE", _LOST // 4), ("TCP_KEEPINTVL", _LOST // 4), ("TCP_KEEPCNT", 3),
                              ("TCP_USER_TIMEOUT", _LOST * 1000)):
            if hasattr(socket, option):
                self.link.setsockopt(socket.IPPROTO_TCP, getattr(socket, option), value)

    def send(self, what: Any) -> None:
        """To one that is gone: nothing; who receives from it sees that."""
        try:
            self.connection.send(what)
        except OSError:
            pass

    def close(self) -> None:
        """The end of it, by the thread that receives from it."""
        self.connection.close()
        self.link.close()


def _listener() -> socket.socket:
    if socket.has_dualstack_ipv6():
        return socket.create_server(("", 0), family=socket.AF_INET6, dualstack_ipv6=True)
    return socket.create_server(("", 0))


def _preparation() -> dict[str, Any]:
    """What multiprocessing's own children are told, so that they find the program's functions."""
    told: dict[str, Any] = multiprocessing.spawn.get_preparation_data("elastic.pool")
    return {key: value for key, value in told.items() if key not in ("authkey", "name", "start_method")}


class Pool(concurrent.futures.Executor):
    """Workers on all nodes of the job.

    workers_per_node: processes on each, by default as many as the job's --ntasks-per-node. srun: further options of the
    sruns that start them. Outside a job there are `workers_per_node` on this machine, one by default.

    Raises RuntimeError in a worker: the program is not to begin anew there. FileNotFoundError: no selastic-run in PATH.
    """

    def __init__(self, workers_per_node: int | None = None, *, srun: Sequence[str] = ()) -> None:
        if _pool_worker.MEETING in os.environ:
            raise RuntimeError("the program makes a pool when a worker imports it: it does what makes one behind "
                               "'if __name__ == \"__main__\":' only")
        self._changed = threading.Condition()
        self._tasks: collections.deque[_Task] = collections.deque()
        self._workers: set[_Worker] = set()
        self._idle: collections.deque[_Worker] = collections.deque()
        self._closing = self._ended = False
        self._broken: BaseException | None = None
        self._key, self._preparation = secrets.token_bytes(32), _preparation()
        self._listener = _listener()
        self._launchers = self._launch(workers_per_node, srun)
        self._threads = [threading.Thread(target=target, daemon=True)
                         for target in (self._accept, self._dispatch, self._watch)]
        for thread in self._threads:
            thread.start()
        atexit.register(self.shutdown)

    # ---- what users call

    def submit(self, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> concurrent.futures.Future[T]:
        """A Future of fn(*args, **kwargs), done on some node.

        Raises what pickle raises of what cannot be sent; RuntimeError after shutdown(); BrokenPool. The future raises
        what the function does, with a TaskError as its cause, WorkerDied or BrokenPool.
        """
        task = _Task(concurrent.futures.Future(), pickle.dumps((fn, args, kwargs)))
        with self._changed:
            if self._broken:
                raise self._broken
            if self._closing:
                raise RuntimeError("cannot schedule new futures after shutdown")
            self._tasks.append(task)
            self._changed.notify_all()
        return task.future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """No more tasks; wait: return when all are done and the workers have ended. Again: nothing."""
        with self._changed:
            self._closing = True
            for task in list(self._tasks) if cancel_futures else ():
                if task.future.cancel():
                    self._tasks.remove(task)
            self._changed.notify_all()
        if wait:
            for thread in self._threads:
                thread.join()
            atexit.unregister(self.shutdown)

    @property
    def nodes(self) -> list[str]:
        """The names of the nodes that have workers which take tasks now, "" for this machine outside a job."""
        with self._changed:
            return sorted({worker.node for worker in self._workers if not worker.leaving})

    @property
    def workers(self) -> int:
        """How many workers take tasks now."""
        with self._changed:
            return sum(not worker.leaving for worker in self._workers)

    # ---- the workers' processes

    def _launch(self, per_node: int | None, srun: Sequence[str]) -> list[subprocess.Popen[bytes]]:
        port = self._listener.getsockname()[1]
        env = _launcher.environment({_pool_worker.MEETING: f"{port}:{self._key.hex()}"})
        run = [sys.executable, "-m", "elastic._pool_worker"]
        copies = per_node or 1
        if "SLURM_JOB_ID" in os.environ:
            options = [] if per_node is None else [f"--tasks-per-node={per_node}"]
            run, copies = _launcher.command(run, srun, *options), 1
        return [subprocess.Popen(run, env=env, stdin=subprocess.DEVNULL) for _ in range(copies)]

    def _watch(self) -> None:
        """Until all of them have ended, as they were told or by themselves."""
        status = max(launcher.wait() for launcher in self._launchers)
        with self._changed:
            if not self._ended:
                self._break(BrokenPool(f"there are no workers any more: what has started them ended with {status}"))
            self._ended = True
            self._changed.notify_all()
        self._listener.shutdown(socket.SHUT_RDWR)  # which wakes who accepts

    def _break(self, why: BaseException) -> None:
        self._broken = self._broken or why
        tasks = [worker.task for worker in self._workers if worker.task] + list(self._tasks)
        for worker in self._workers:
            worker.task = None
        self._tasks.clear()
        for task in tasks:
            if task.begun or task.future.set_running_or_notify_cancel():
                task.future.set_exception(self._broken)

    # ---- the workers' connections

    def _accept(self) -> None:
        while True:
            try:
                link, _ = self._listener.accept()
            except OSError:
                return self._listener.close()
            threading.Thread(target=self._serve, args=(_Worker(link),), daemon=True).start()

    def _serve(self, worker: _Worker) -> None:
        try:
            worker.shake_hands(self._key)
            worker.send(self._preparation)
            while True:
                said = worker.connection.recv()
                with self._changed:
                    self._heard(worker, *said)
                    self._changed.notify_all()
        except (EOFError, OSError, multiprocessing.AuthenticationError):
            pass
        with self._changed:
            self._lost(worker)
            self._changed.notify_all()
        worker.close()

    def _heard(self, worker: _Worker, verb: str, *rest: Any) -> None:
        if verb == "ready":
            worker.node = rest[0]
            self._workers.add(worker)
            if self._ended:
                worker.send(None)
            else:
                self._idle.append(worker)
        elif verb == "started":
            worker.started = True
        elif verb == "leaving":
            worker.leaving = True
        elif verb == "broken":
            worker.send(None)
            self._break(_outcome(rest[0])[1])
        elif worker.task:
            task, worker.task = worker.task, None
            if verb == "again":
                self._tasks.appendleft(task)
            else:
                _answer(task.future, rest[0])
            if not worker.leaving:
                self._idle.append(worker)

    def _lost(self, worker: _Worker) -> None:
        self._workers.discard(worker)
        if worker in self._idle:
            self._idle.remove(worker)
        task, worker.task = worker.task, None
        if not task:
            return
        task.deaths += worker.started and not worker.leaving
        if task.deaths < _TRIES:
            self._tasks.appendleft(task)
        else:
            task.future.set_exception(WorkerDied(f"the task has ended {_TRIES} workers, the last on {worker.node}"))

    # ---- tasks to workers

    def _dispatch(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(self._something_to_do)
                if self._ended:
                    return
                if not self._tasks:
                    return self._end()
                task = self._tasks.popleft()
                if not task.begun and not task.future.set_running_or_notify_cancel():
                    continue
                task.begun = True
                worker = self._idle.popleft()
                worker.task, worker.started = task, False
            worker.send(task.payload)

    def _something_to_do(self) -> bool:
        over = self._closing and not self._tasks and not any(worker.task for worker in self._workers)
        return self._ended or over or bool(self._tasks and self._idle)

    def _end(self) -> None:
        self._ended = True
        for worker in self._workers:
            worker.send(None)


def _outcome(packed: bytes) -> tuple[bool, Any]:
    """What a task has returned, or what it has raised."""
    try:
        worked, value, text = pickle.loads(packed)
    except Exception as error:
        return False, error
    if not worked and text:
        value.__cause__ = TaskError(text)
    return worked, value


def _answer(future: concurrent.futures.Future[Any], packed: bytes) -> None:
    worked, value = _outcome(packed)
    if worked:
        future.set_result(value)
    else:
        future.set_exception(value)
