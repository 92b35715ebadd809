# SPDX-License-Identifier: MIT
"""A program's part in resizes, over libelastic-mpi.

The library is the one that was built for mpi4py's MPI, since communicators are handed to it. mpi4py and numpy are
imported by the first Session, since the one starts MPI and programs without MPI have neither.

Always holds: what the library refers to, values and their memory, lives as long as its handle; arrays stay mapped after
that, so that no numpy array ever refers to memory that is gone.
"""

from __future__ import annotations


import ctypes
import functools
import math
import sys
from collections.abc import Iterator
from types import TracebackType
from typing import TYPE_CHECKING, Any

from . import _library
from ._errors import Error

if TYPE_CHECKING:
    import numpy
    from mpi4py import MPI

__all__ = ["MpiError", "Session", "Value"]

_GREEDY, _KEEP = 1, 2  # enum elastic_mpi_open_flags
_LIBRARIES: dict[str, tuple[str, Any]] = {  # and what a communicator is
    "Open MPI": ("openmpi", ctypes.c_void_p), "MPICH": ("mpich", ctypes.c_int)}
_Handle = ctypes.c_void_p


class MpiError(Error):
    """A call has failed, in all processes alike; `code` is one of enum elastic_mpi_error."""


class _Mpi:
    """What a Session needs of others: libelastic-mpi, mpi4py and numpy."""

    def __init__(self) -> None:
        import numpy
        from mpi4py import MPI

        class Block(numpy.ndarray):
            """The block [lo, hi) that this process has of an array; what is made out of it has neither."""
            lo: int | None = None
            hi: int | None = None

        self.MPI, self.numpy, self.Block = MPI, numpy, Block
        self.library = self._load()

    def _load(self) -> ctypes.CDLL:
        vendor = self.MPI.get_vendor()[0]
        if vendor not in _LIBRARIES:
            raise ImportError(f"mpi4py is of {vendor}; libelastic-mpi is for {' and '.join(_LIBRARIES)}")
        name, communicator = _LIBRARIES[vendor]
        library = _library.find(f"libelastic-mpi-{name}.so.0")
        text, position, memory = ctypes.c_char_p, ctypes.POINTER(ctypes.c_uint64), ctypes.POINTER(ctypes.c_void_p)
        functions: dict[str, list[Any]] = {
            "open": [ctypes.POINTER(_Handle), communicator, ctypes.c_uint], "reborn": [_Handle],
            "array": [_Handle, text, ctypes.c_size_t, ctypes.c_uint64, memory, position, position],
            "value": [_Handle, text, ctypes.c_void_p, ctypes.c_size_t],
            "sync": [_Handle], "close": [_Handle], "detail": [_Handle]}
        for function, arguments in functions.items():
            getattr(library, f"elastic_mpi_{function}").argtypes = arguments
        library.elastic_mpi_detail.restype = text
        return library


@functools.cache
def _mpi() -> _Mpi:
    return _Mpi()


class Value:
    """A variable that all processes have alike: `value` is read and assigned to."""

    def __init__(self, data: numpy.ndarray) -> None:
        self._data = data

    @property
    def value(self) -> Any:
        """A number, or an array if the initial value was one."""
        return self._data[()] if self._data.ndim else self._data.item()

    @value.setter
    def value(self, new: Any) -> None:
        self._data[...] = new

    def __repr__(self) -> str:
        return f"Value({self.value!r})"


class Session:
    """What a program needs to be resized by rebirth: libelastic-mpi(3) says how.

        with elastic.Session() as e:
            u = e.array("u", N)
            if not e.reborn:
                u[:] = ...
            for step in e.steps("step", STEPS):
                ...

    comm: all processes of the program, MPI.COMM_WORLD if it is not given. greedy: see ELASTIC_MPI_GREEDY. All methods
    are collective, and raise MpiError in all processes alike. A process whose exception leaves the block does not wait
    for the others. ImportError: there is no mpi4py, no numpy, or no libelastic-mpi for mpi4py's MPI.
    """

    def __init__(self, comm: MPI.Comm | None = None, greedy: bool = False) -> None:
        self._mpi = _mpi()
        self._handle = _Handle()
        self._values: list[numpy.ndarray] = []
        comm = self._mpi.MPI.COMM_WORLD if comm is None else comm
        flags = _KEEP | (_GREEDY if greedy else 0)
        self._check(self._mpi.library.elastic_mpi_open(ctypes.byref(self._handle), self._mpi.MPI._handleof(comm),
                                                       flags))

    def close(self) -> None:
        """Ends the program's part; arrays and values stay what they are. Again: nothing."""
        handle, self._handle = self._handle, _Handle()
        self._check(self._mpi.library.elastic_mpi_close(handle))
        self._values.clear()

    def __enter__(self) -> Session:
        return self

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None,
                 trace: TracebackType | None) -> None:
        if kind is None:
            self.close()

    def array(self, name: str, shape: int | tuple[int, ...], dtype: Any = float) -> Any:
        """A numpy array over this process's block of an array in shared memory, with the block's `lo` and `hi`.

        shape: how many elements all blocks have together, or a tuple: it is divided along the first axis. Zero if it is
        new.
        """
        numpy = self._mpi.numpy
        given: Any = shape
        rows, *rest = map(int, (given,) if numpy.ndim(given) == 0 else given)
        kind = _plain(numpy.dtype(dtype))
        data, lo, hi = ctypes.c_void_p(), ctypes.c_uint64(), ctypes.c_uint64()
        row = kind.itemsize * math.prod(rest)
        self._check(self._mpi.library.elastic_mpi_array(self._opened(), name.encode(), row, _natural(rows),
                                                        ctypes.byref(data), ctypes.byref(lo), ctypes.byref(hi)))
        count = hi.value - lo.value
        memory: Any = (ctypes.c_char * (row * count)).from_address(data.value or 0) if count else b""
        block = numpy.ndarray((count, *rest), kind, memory).view(self._mpi.Block)
        block.lo, block.hi = lo.value, hi.value
        return block

    def value(self, name: str, initial: Any) -> Value:
        """A Value: `initial` in a program that begins, in one that is reborn what it was. A number or a numpy array."""
        data = self._mpi.numpy.array(initial)
        _plain(data.dtype)
        self._values.append(data)
        self._check(self._mpi.library.elastic_mpi_value(self._opened(), name.encode(), data.ctypes.data, data.nbytes))
        return Value(data)

    def sync(self) -> None:
        """Where a resize may happen. If it does, the process ends here: standard output is written, but other files
        are to be flushed before, and no `finally` is run."""
        sys.stdout.flush()
        sys.stderr.flush()
        self._check(self._mpi.library.elastic_mpi_sync(self._opened()))

    def steps(self, name: str, count: int) -> Iterator[int]:
        """range(count) of all the program's lives, with a sync() before each: the number is a value with this name."""
        step = self.value(name, 0)
        while step.value < count:
            self.sync()
            yield step.value
            step.value += 1

    @property
    def reborn(self) -> bool:
        """The program was resized: it goes on."""
        return int(self._mpi.library.elastic_mpi_reborn(self._opened())) == 1

    @property
    def detail(self) -> str:
        """Why the last resize did not happen; "" if nothing went wrong."""
        text: bytes = self._mpi.library.elastic_mpi_detail(self._opened())
        return text.decode()

    def _opened(self) -> ctypes.c_void_p:
        if not self._handle:
            raise MpiError(-1, "the session is closed")
        return self._handle

    def _check(self, code: int) -> None:
        if code < 0:
            raise MpiError(code, self._mpi.library.elastic_mpi_detail(self._handle).decode())


def _plain(kind: Any) -> Any:
    if kind.hasobject:
        raise MpiError(-1, "only what numpy has as bytes can be moved, no Python objects")
    return kind


def _natural(count: int) -> int:
    if not 0 < count < 1 << 62:  # ctypes would take it modulo 2**64
        raise MpiError(-1, "an array has at least one element and at most 2^62 bytes")
    return count
