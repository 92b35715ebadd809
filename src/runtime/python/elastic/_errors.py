# SPDX-License-Identifier: MIT
"""What all of the package raises, in a module of its own so that none needs another for it."""

from __future__ import annotations


from . import _library


class Error(Exception):
    """A call was refused; `code` is one of enum elastic_error."""

    def __init__(self, code: int, detail: str = "") -> None:
        super().__init__(detail or _library.load().elastic_strerror(code).decode())
        self.code = code
