# SPDX-License-Identifier: MIT
"""Take part in the resizing of a Slurm job, from Python.

    import elastic

    with elastic.Job() as job:
        for event in job.events():
            if event.type is elastic.EventType.OFFER_SHRINK:
                job.accept(event.op)
            elif event.type is elastic.EventType.ACCEPTED and event.kind is elastic.Kind.SHRINK:
                leave(elastic.node_names(event.node_list))
                job.done(event.op)
            ...

libelastic(3) says what the events mean and what may be called when; here its functions are methods of Job, its codes
the exception Error, its constants enumerations.  Outside an elastic job `Job().is_elastic` is False and everything
else is harmless: there are no events, and what is said is heard by nobody.  Times are in seconds.

Session is for programs with mpi4py that selastic-run(1) resizes; only who makes one needs mpi4py and numpy.

A Job is for one thread at a time, and is not used after a fork.  Nothing is done between calls: a program that does
not call poll() answers nobody.  `python3 -m elastic` says what is seen of the job, and takes part in nothing.
"""

from __future__ import annotations


import ctypes
import dataclasses
import enum
import time
from collections.abc import Iterator
from types import TracebackType

from . import _library
from ._errors import Error
from .mpi import MpiError, Session

__all__ = ["Error", "Event", "EventType", "Job", "Kind", "MpiError", "Outcome", "Session", "node_names", "version"]

_lib = _library.load()
_free = _library.free()

_NOT_ELASTIC = -1  # ELASTIC_ENOTELASTIC
_NO_WAIT = 1  # ELASTIC_OPEN_NOWAIT


class EventType(enum.IntEnum):
    """enum elastic_event_type"""
    OFFER_SHRINK = 1
    OFFER_EXPAND = 2
    ACCEPTED = 3
    RESIZED = 4
    QUEUED = 5
    ENDED = 6
    CLOSED = 7
    STEP = 8
    PLANNED = 9


class Kind(enum.IntEnum):
    """enum elastic_kind"""
    NONE = 0
    SHRINK = 1
    EXPAND = 2


class Outcome(enum.IntEnum):
    """enum elastic_outcome"""
    NONE = 0
    DECLINED = 1
    EXPIRED = 2
    CANCELLED = 3
    DENIED = 4


@dataclasses.dataclass(frozen=True)
class Event:
    """What has happened; fields that a type does not name are 0 or ""."""
    type: EventType
    kind: Kind
    outcome: Outcome
    nodes: int  # how many come or go
    size: int  # the job's nodes afterwards
    op: int  # the operation; 0: none
    deadline: float  # seconds from when the message arrived
    node_list: str  # which come or go, in Slurm's notation: n[1-4,7]
    reason: str


def __dir__() -> list[str]:
    return __all__


class Job:
    """The job in whose environment the process runs.

    wait: wait for the controller, at most about five seconds; if it is out of reach by then, the job is opened all the
    same and connects later.

    Raises Error where the environment cannot be read or the job is not this user's. Of a job the controller listens to
    the process that has opened it last, so it is opened once: not beside selastic-run.
    """

    def __init__(self, wait: bool = True) -> None:
        self._handle = _library.Handle()
        code: int = _lib.elastic_open(ctypes.byref(self._handle), 0 if wait else _NO_WAIT)
        if not self._handle:
            raise Error(code)
        self.is_elastic = code != _NOT_ELASTIC

    def close(self) -> None:
        """Sends what is left to send, at most a second; again: nothing."""
        _lib.elastic_close(self._handle)
        self._handle = _library.Handle()
        self.is_elastic = False

    def __enter__(self) -> Job:
        return self

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None,
                 trace: TracebackType | None) -> None:
        self.close()

    def __del__(self) -> None:
        if getattr(self, "_handle", None):
            self.close()

    # ---- events

    def poll(self, timeout: float | None = 0) -> Event | None:
        """The next Event, or None if there is none within `timeout` seconds; None: wait as long as it takes.

        Raises Error if it would wait for ever for an event that never comes.  A signal's handler runs meanwhile.
        """
        deadline = None if timeout is None else time.monotonic() + timeout
        filled = _library.Event()
        while True:
            left = -1 if deadline is None else max(0, round((deadline - time.monotonic()) * 1000))
            code: int = _lib.elastic_poll(self._handle, left, ctypes.byref(filled))
            if code < 0:
                raise Error(code, self._detail())
            event = _read(filled) if code == 1 else None
            if event or left == 0:
                return event

    def events(self) -> Iterator[Event]:
        """Events one by one, until the controller wants no more of this job; none outside an elastic job."""
        while self.is_elastic:
            event = self.poll(None)
            assert event
            yield event
            if event.type is EventType.CLOSED:
                self.is_elastic = False

    def fileno(self) -> int:
        """A descriptor for select() and event loops: readable when poll() has something to do."""
        return int(_lib.elastic_fd(self._handle))

    # ---- answers; each raises Error where the operation `op` is not in flight or may not be answered so

    def accept(self, op: int, count: int | None = None) -> None:
        """Accept an offer; count: only so many of the nodes that an expansion offers."""
        if count is None:
            self._check(_lib.elastic_accept(self._handle, op))
        else:
            self._check(_lib.elastic_accept_size(self._handle, op, count))

    def decline(self, op: int, reason: str = "") -> None:
        """Decline an offer; the reason goes into the journal."""
        self._check(_lib.elastic_decline(self._handle, op, reason.encode()))

    def done(self, op: int) -> None:
        """Of an accepted shrink: the nodes are empty; of an expansion: they are in use."""
        self._check(_lib.elastic_done(self._handle, op))

    # ---- wishes

    def request(self, nodes: int, least: int | None = None, timeout: float = 0) -> None:
        """Ask for `nodes` more, content with `least`, and wait for them up to `timeout` seconds.

        Returns at once; RESIZED or ENDED follows. Raises Error for a job that is not evolving, for a size that it may
        not have, and while another request is in flight.
        """
        self._check(_lib.elastic_request(self._handle, nodes, nodes if least is None else least, timeout))

    def release(self, nodes: int | str) -> None:
        """Give nodes back that are empty: a node list, or a number, which means the last ones of `node_list`.

        Raises Error for a job that is not evolving, and for nodes that it does not have or has to keep.
        """
        if isinstance(nodes, str):
            self._check(_lib.elastic_release(self._handle, 0, nodes.encode()))
        else:
            self._check(_lib.elastic_release(self._handle, nodes, None))

    def cancel(self, op: int = 0) -> None:
        """Withdraw what is in flight; 0: the request."""
        self._check(_lib.elastic_cancel(self._handle, op))

    def step(self, nodes: int = 0, within: float = 0) -> None:
        """The next step of the evolution profile begins in `within` seconds with `nodes` nodes; 0: as planned."""
        self._check(_lib.elastic_step(self._handle, nodes, within))

    def progress(self, remaining: float) -> None:
        """How many seconds the job goes on at its present size."""
        self._check(_lib.elastic_progress(self._handle, remaining))

    # ---- what there is

    @property
    def nodes(self) -> int:
        """How many nodes the job has; 1 outside an elastic job."""
        return int(_lib.elastic_nodes(self._handle))

    @property
    def min(self) -> int:
        """How few nodes it may have."""
        return int(_lib.elastic_min(self._handle))

    @property
    def max(self) -> int:
        """How many nodes it may have."""
        return int(_lib.elastic_max(self._handle))

    @property
    def sizes(self) -> str:
        """Which numbers of nodes in that range, as sizes= of --elastic."""
        return _text(_lib.elastic_sizes(self._handle))

    def allows(self, nodes: int) -> bool:
        """May it have so many nodes."""
        return int(_lib.elastic_allows(self._handle, nodes)) == 1

    @property
    def node_list(self) -> str:
        """Which nodes it has, in Slurm's notation; "" outside an elastic job."""
        return _text(_lib.elastic_nodelist(self._handle))

    @property
    def batch_host(self) -> str:
        """The node of the batch script, which is never given up."""
        return _text(_lib.elastic_batch_host(self._handle))

    @property
    def malleable(self) -> bool:
        """May the scheduler resize it."""
        return int(_lib.elastic_malleable(self._handle)) == 1

    @property
    def evolving(self) -> bool:
        """May it ask for nodes."""
        return int(_lib.elastic_evolving(self._handle)) == 1

    @property
    def connected(self) -> bool:
        """Is the controller there now."""
        return int(_lib.elastic_connected(self._handle)) == 1

    def _detail(self) -> str:
        return _text(_lib.elastic_detail(self._handle))

    def _check(self, code: int) -> None:
        if code < 0 and (self.is_elastic or code != _NOT_ELASTIC):
            raise Error(code, self._detail())


def _text(given: bytes) -> str:
    return given.decode()


def _read(filled: _library.Event) -> Event | None:
    """An Event, or None for a type that this package does not know, as the library asks of its users."""
    if filled.type not in EventType.__members__.values():
        return None
    return Event(EventType(filled.type), Kind(filled.kind), Outcome(filled.outcome), filled.nodes, filled.size,
                 filled.op, filled.deadline, filled.node_list.decode(), filled.reason.decode())


def node_names(node_list: str) -> list[str]:
    """The names in a node list: n[1-3] is n1, n2 and n3. Raises Error if it is none."""
    names = _library.Names()
    count: int = _lib.elastic_node_names(node_list.encode(), ctypes.byref(names))
    if count < 0:
        raise Error(count, f"not a node list: {node_list}")
    try:
        return [_text(names[i]) for i in range(count)]
    finally:
        _free(names)


def version() -> str:
    """The library's version."""
    return _text(_lib.elastic_version())
