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

Session is for programs with mpi4py that selastic-run(1) resizes, and needs that and numpy; nothing else does.

A Job is for one thread at a time, and is not used after a fork.  Nothing is done between calls: a program that does
not call poll() answers nobody.
"""

import ctypes
import dataclasses
import enum
import time

from . import _library

__all__ = ["Error", "Event", "EventType", "Job", "Kind", "Outcome", "node_names", "version"]

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


class Error(Exception):
    """A call was refused; `code` is one of enum elastic_error."""

    def __init__(self, code, detail=""):
        super().__init__(detail or _lib.elastic_strerror(code).decode())
        self.code = code


class Job:
    """The job in whose environment the process runs.

    wait: wait for the controller, at most about five seconds; if it is out of reach by then, the job is opened all the
    same and connects later.
    """

    def __init__(self, wait=True):
        self._handle = _library.Handle()
        code = _lib.elastic_open(ctypes.byref(self._handle), 0 if wait else _NO_WAIT)
        if not self._handle:
            raise Error(code)
        self.is_elastic = code != _NOT_ELASTIC

    def close(self):
        """Sends what is left to send, at most a second; again: nothing."""
        _lib.elastic_close(self._handle)
        self._handle = _library.Handle()
        self.is_elastic = False

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def __del__(self):
        if getattr(self, "_handle", None):
            self.close()

    # ---- events

    def poll(self, timeout=0):
        """The next Event, or None if there is none within `timeout` seconds; None: wait as long as it takes.

        Raises Error if it would wait for ever for an event that never comes.  A signal's handler runs meanwhile.
        """
        deadline = None if timeout is None else time.monotonic() + timeout
        filled = _library.Event()
        while True:
            left = -1 if deadline is None else max(0, round((deadline - time.monotonic()) * 1000))
            code = _lib.elastic_poll(self._handle, left, ctypes.byref(filled))
            if code < 0:
                raise Error(code, self._detail())
            event = _read(filled) if code == 1 else None
            if event or left == 0:
                return event

    def events(self):
        """Events one by one, until the controller wants no more of this job; none outside an elastic job."""
        while self.is_elastic:
            event = self.poll(None)
            yield event
            if event.type is EventType.CLOSED:
                self.is_elastic = False

    def fileno(self):
        """A descriptor for select() and event loops: readable when poll() has something to do."""
        return _lib.elastic_fd(self._handle)

    # ---- answers

    def accept(self, op, count=None):
        """Accept an offer; count: only so many of the nodes that an expansion offers."""
        if count is None:
            self._check(_lib.elastic_accept(self._handle, op))
        else:
            self._check(_lib.elastic_accept_size(self._handle, op, count))

    def decline(self, op, reason=""):
        """Decline an offer."""
        self._check(_lib.elastic_decline(self._handle, op, reason.encode()))

    def done(self, op):
        """Of an accepted shrink: the nodes are empty; of an expansion: they are in use."""
        self._check(_lib.elastic_done(self._handle, op))

    # ---- wishes

    def request(self, nodes, least=None, timeout=0):
        """Ask for `nodes` more, content with `least`, and wait for them up to `timeout` seconds."""
        self._check(_lib.elastic_request(self._handle, nodes, nodes if least is None else least, timeout))

    def release(self, nodes):
        """Give nodes back that are empty: a node list, or a number, which means the last ones of `node_list`."""
        by_name = isinstance(nodes, str)
        self._check(_lib.elastic_release(self._handle, 0 if by_name else nodes, nodes.encode() if by_name else None))

    def cancel(self, op=0):
        """Withdraw what is in flight; 0: the request."""
        self._check(_lib.elastic_cancel(self._handle, op))

    def step(self, nodes=0, within=0):
        """The next step of the evolution profile begins in `within` seconds with `nodes` nodes; 0: as planned."""
        self._check(_lib.elastic_step(self._handle, nodes, within))

    def progress(self, remaining):
        """How many seconds the job goes on at its present size."""
        self._check(_lib.elastic_progress(self._handle, remaining))

    # ---- what there is

    nodes = property(lambda self: _lib.elastic_nodes(self._handle), doc="how many nodes the job has")
    min = property(lambda self: _lib.elastic_min(self._handle), doc="how few it may have")
    max = property(lambda self: _lib.elastic_max(self._handle), doc="how many it may have")
    sizes = property(lambda self: _lib.elastic_sizes(self._handle).decode(), doc="in that range, as sizes=")

    def allows(self, nodes):
        """May it have so many nodes."""
        return _lib.elastic_allows(self._handle, nodes) == 1

    node_list = property(lambda self: _lib.elastic_nodelist(self._handle).decode(), doc="which, in Slurm's notation")
    batch_host = property(lambda self: _lib.elastic_batch_host(self._handle).decode(), doc="which is never given up")
    malleable = property(lambda self: _lib.elastic_malleable(self._handle) == 1, doc="may the scheduler resize it")
    evolving = property(lambda self: _lib.elastic_evolving(self._handle) == 1, doc="may it ask for nodes")
    connected = property(lambda self: _lib.elastic_connected(self._handle) == 1, doc="is the controller there now")

    def _detail(self):
        return _lib.elastic_detail(self._handle).decode()

    def _check(self, code):
        if code < 0 and (self.is_elastic or code != _NOT_ELASTIC):
            raise Error(code, self._detail())


def _read(filled):
    """An Event, or None for a type that this package does not know, as the library asks of its users."""
    if filled.type not in EventType.__members__.values():
        return None
    return Event(EventType(filled.type), Kind(filled.kind), Outcome(filled.outcome), filled.nodes, filled.size,
                 filled.op, filled.deadline, filled.node_list.decode(), filled.reason.decode())


def node_names(node_list):
    """The names in a node list: n[1-3] is n1, n2 and n3."""
    names = _library.Names()
    count = _lib.elastic_node_names(node_list.encode(), ctypes.byref(names))
    if count < 0:
        raise Error(count, f"not a node list: {node_list}")
    try:
        return [names[i].decode() for i in range(count)]
    finally:
        _free(names)


def version():
    """The library's version."""
    return _lib.elastic_version().decode()


def __getattr__(name):
    """What needs MPI is imported when it is used."""
    if name not in ("MpiError", "Session"):
        raise AttributeError(f"module 'elastic' has no attribute '{name}'")
    from . import mpi
    return getattr(mpi, name)
