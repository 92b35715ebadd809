# SPDX-License-Identifier: MIT
"""PyTorch's TCPStore, as elastic.torch and its agents use it, in all its versions."""

from __future__ import annotations

import datetime
import inspect
from typing import Any

from torch.distributed import TCPStore

_PATIENCE = datetime.timedelta(seconds=300)


def store_at(host: str, port: int, is_master: bool = False) -> TCPStore:
    """A client of the one at a port, or the one itself; port 0: any."""
    # Since 2.4 the default wants libuv, without which Debian builds it.
    old: dict[str, Any] = {"use_libuv": False} if "use_libuv" in (inspect.getdoc(TCPStore.__init__) or "") else {}
    return TCPStore(host, port, is_master=is_master, timeout=_PATIENCE, wait_for_workers=False, **old)
