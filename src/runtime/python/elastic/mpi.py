# SPDX-License-Identifier: MIT
"""A program's part in resizes, over libelastic-mpi; `elastic.Session` is imported from here when it is first used.

The library is the one that was built for mpi4py's MPI, since communicators are handed to it.

Always holds: what the library refers to, values and their memory, lives as long as its handle; arrays stay mapped after
that, so that no numpy array ever refers to memory that is gone.
"""

import ctypes
import math
import sys

import numpy
from mpi4py import MPI

from . import Error, _library

_GREEDY, _KEEP = 1, 2  # enum elastic_mpi_open_flags
_LIBRARIES = {"Open MPI": ("openmpi", ctypes.c_void_p), "MPICH": ("mpich", ctypes.c_int)}  # and what a communicator is
_Handle = ctypes.c_void_p


class MpiError(Error):
    """A call has failed, in all processes alike; `code` is one of enum elastic_mpi_error."""


def _load():
    vendor = MPI.get_vendor()[0]
    if vendor not in _LIBRARIES:
        raise ImportError(f"mpi4py is of {vendor}; libelastic-mpi is for {' and '.join(_LIBRARIES)}")
    name, communicator = _LIBRARIES[vendor]
    library = _library.find(f"libelastic-mpi-{name}.so.0")
    pointer, text, position = ctypes.POINTER, ctypes.c_char_p, ctypes.POINTER(ctypes.c_uint64)
    for function, arguments in {
            "open": [pointer(_Handle), communicator, ctypes.c_uint], "reborn": [_Handle],
            "array": [_Handle, text, ctypes.c_size_t, ctypes.c_uint64, pointer(ctypes.c_void_p), position, position],
            "value": [_Handle, text, ctypes.c_void_p, ctypes.c_size_t],
            "sync": [_Handle], "close": [_Handle], "detail": [_Handle]}.items():
        getattr(library, f"elastic_mpi_{function}").argtypes = arguments
    library.elastic_mpi_detail.restype = text
    return library


_lib = _load()


class Block(numpy.ndarray):
    """The block [lo, hi) that this process has of an array; what is made out of it has neither."""
    lo = hi = None


class Value:
    """A variable that all processes have alike: `value` is read and assigned to."""

    def __init__(self, data):
        self._data = data

    @property
    def value(self):
        """A number, or an array if the initial value was one."""
        return self._data[()] if self._data.ndim else self._data.item()

    @value.setter
    def value(self, new):
        self._data[...] = new

    def __repr__(self):
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
    are collective. A process whose exception leaves the block does not wait for the others.
    """

    def __init__(self, comm=None, greedy=False):
        self._handle, self._values = _Handle(), []
        comm = MPI.COMM_WORLD if comm is None else comm
        flags = _KEEP | (_GREEDY if greedy else 0)
        self._check(_lib.elastic_mpi_open(ctypes.byref(self._handle), MPI._handleof(comm), flags))

    def close(self):
        """Ends the program's part; arrays and values stay what they are. Again: nothing."""
        handle, self._handle = self._handle, _Handle()
        self._check(_lib.elastic_mpi_close(handle))
        self._values.clear()

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        if kind is None:
            self.close()

    def array(self, name, shape, dtype=float):
        """A numpy array over this process's block of an array in shared memory, with the block's `lo` and `hi`.

        shape: how many elements all blocks have together, or a tuple: it is divided along the first axis. Zero if it is
        new.
        """
        rows, *rest = map(int, (shape,) if numpy.ndim(shape) == 0 else shape)
        dtype = _plain(numpy.dtype(dtype))
        data, lo, hi = ctypes.c_void_p(), ctypes.c_uint64(), ctypes.c_uint64()
        row = dtype.itemsize * math.prod(rest)
        self._check(_lib.elastic_mpi_array(self._opened(), name.encode(), row, _natural(rows), ctypes.byref(data),
                                           ctypes.byref(lo), ctypes.byref(hi)))
        count = hi.value - lo.value
        memory = (ctypes.c_char * (row * count)).from_address(data.value) if count else b""
        block = numpy.ndarray((count, *rest), dtype, memory).view(Block)
        block.lo, block.hi = lo.value, hi.value
        return block

    def value(self, name, initial):
        """A Value: `initial` in a program that begins, in one that is reborn what it was. A number or a numpy array."""
        data = numpy.array(initial)
        _plain(data.dtype)
        self._values.append(data)
        self._check(_lib.elastic_mpi_value(self._opened(), name.encode(), data.ctypes.data, data.nbytes))
        return Value(data)

    def sync(self):
        """Where a resize may happen. If it does, the process ends here: standard output is written, but other files
        are to be flushed before, and no `finally` is run."""
        sys.stdout.flush()
        sys.stderr.flush()
        self._check(_lib.elastic_mpi_sync(self._opened()))

    def steps(self, name, count):
        """range(count) of all the program's lives, with a sync() before each: the number is a value with this name."""
        step = self.value(name, 0)
        while step.value < count:
            self.sync()
            yield step.value
            step.value += 1

    reborn = property(lambda self: _lib.elastic_mpi_reborn(self._opened()) == 1,
                      doc="the program was resized: it goes on")
    detail = property(lambda self: _lib.elastic_mpi_detail(self._opened()).decode(),
                      doc='why the last resize did not happen; "" if nothing went wrong')

    def _opened(self):
        if not self._handle:
            raise MpiError(-1, "the session is closed")
        return self._handle

    def _check(self, code):
        if code < 0:
            raise MpiError(code, _lib.elastic_mpi_detail(self._handle).decode())


def _plain(dtype):
    if dtype.hasobject:
        raise MpiError(-1, "only what numpy has as bytes can be moved, no Python objects")
    return dtype


def _natural(count):
    if not 0 < count < 1 << 62:  # ctypes would take it modulo 2**64
        raise MpiError(-1, "an array has at least one element and at most 2^62 bytes")
    return count
