# SPDX-License-Identifier: MIT
"""libelastic's C interface (elastic.h) as ctypes has it: types, arguments and nothing else.

ctypes, so that one package serves every Python and nothing has to be compiled.  Always holds: each function that is
called anywhere has its argument types here, since ctypes would pass a pointer as an int.
"""

from __future__ import annotations


import ctypes
import functools
from typing import Any

SONAME = "libelastic.so.0"


class Event(ctypes.Structure):
    """struct elastic_event"""
    _fields_ = [("type", ctypes.c_int), ("kind", ctypes.c_int), ("outcome", ctypes.c_int),
                ("nodes", ctypes.c_int), ("size", ctypes.c_int), ("reserved", ctypes.c_int),
                ("op", ctypes.c_int64), ("deadline", ctypes.c_double),
                ("node_list", ctypes.c_char_p), ("reason", ctypes.c_char_p),
                ("reserved_pointers", ctypes.c_void_p * 4)]


Handle = ctypes.c_void_p
Names = ctypes.POINTER(ctypes.c_char_p)

_OF_HANDLE: dict[str, list[Any]] = {
    "close": [], "poll": [ctypes.c_int, ctypes.POINTER(Event)], "fd": [],
    "accept": [ctypes.c_int64], "accept_size": [ctypes.c_int64, ctypes.c_int],
    "decline": [ctypes.c_int64, ctypes.c_char_p], "done": [ctypes.c_int64],
    "request": [ctypes.c_int, ctypes.c_int, ctypes.c_double],
    "release": [ctypes.c_int, ctypes.c_char_p], "cancel": [ctypes.c_int64],
    "step": [ctypes.c_int, ctypes.c_double], "progress": [ctypes.c_double],
    "nodes": [], "nodelist": [], "batch_host": [], "min": [], "max": [],
    "sizes": [], "allows": [ctypes.c_int],
    "malleable": [], "evolving": [], "connected": [], "detail": [],
}
_TEXTS = ("nodelist", "batch_host", "sizes", "detail", "strerror", "version")


def find(path: str) -> ctypes.CDLL:
    """The library; an ImportError that says what to do if it is not found."""
    try:
        return ctypes.CDLL(path)
    except OSError as error:
        raise ImportError(f"{error}; run ldconfig after make install, or name its folder in LD_LIBRARY_PATH") from None


@functools.cache
def load(path: str = SONAME) -> ctypes.CDLL:
    """The library with its functions' types."""
    library = find(path)
    for name, arguments in _OF_HANDLE.items():
        getattr(library, f"elastic_{name}").argtypes = [Handle, *arguments]
    library.elastic_open.argtypes = [ctypes.POINTER(Handle), ctypes.c_uint]
    library.elastic_node_names.argtypes = [ctypes.c_char_p, ctypes.POINTER(Names)]
    library.elastic_strerror.argtypes = [ctypes.c_int]
    library.elastic_version.argtypes = []
    library.elastic_close.restype = None
    for name in _TEXTS:
        getattr(library, f"elastic_{name}").restype = ctypes.c_char_p
    return library


def free() -> Any:
    """free(3) of the C library, for what libelastic has allocated."""
    function = ctypes.CDLL(None).free
    function.argtypes, function.restype = [ctypes.c_void_p], None
    return function
