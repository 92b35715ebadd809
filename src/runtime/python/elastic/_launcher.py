# SPDX-License-Identifier: MIT
"""selastic-run with workers on all nodes of the job, and its control connection, by which a program asks for nodes.

What the two say to each other is in src/tools/selastic-run/control.hpp.
"""

from __future__ import annotations

import os
import pathlib
import socket
import subprocess
from collections.abc import Mapping, Sequence


def environment(more: Mapping[str, str]) -> dict[str, str]:
    """That of workers: they find this package, and what the variables say."""
    package = str(pathlib.Path(__file__).parent.parent)
    path = os.pathsep.join(filter(None, [package, os.environ.get("PYTHONPATH")]))
    env = {**os.environ, **more, "PYTHONPATH": path}
    if "SLURM_EXPORT_ENV" in env:  # what sbatch was told not to bring along is not there
        env["SLURM_EXPORT_ENV"] = "ALL"
    return env


def command(worker: Sequence[str], srun: Sequence[str], *options: str) -> list[str]:
    """The command line that runs a worker on each node; srun: further options of each srun."""
    return ["selastic-run", "--workers", *options, *(f"--srun={option}" for option in srun), *worker]


class Launcher:
    """selastic-run as a child; `control` is a socket to it, which does not block.

    Raises FileNotFoundError: there is none in PATH.
    """

    def __init__(self, worker: Sequence[str], srun: Sequence[str], env: Mapping[str, str]) -> None:
        self.control, theirs = socket.socketpair()
        with theirs:
            self.process = subprocess.Popen(command(worker, srun, f"--control={theirs.fileno()}"), env=env,
                                            pass_fds=[theirs.fileno()], stdin=subprocess.DEVNULL)
        self.control.setblocking(False)
        self._text = b""

    def lines(self) -> list[str]:
        """What it has said since the last call."""
        try:
            while part := self.control.recv(65536):
                self._text += part
        except BlockingIOError:
            pass
        *lines, self._text = self._text.split(b"\n")
        return [line.decode() for line in lines]

    def say(self, line: str) -> None:
        """To one that has ended: nothing."""
        try:
            self.control.send(line.encode() + b"\n")
        except OSError:
            pass
