# SPDX-License-Identifier: MIT
"""torchrun for a job that is resized:

    python3 -m elastic.torch [--nproc-per-node N] [--max-restarts N] [--srun OPTION]... train.py [ARGUMENTS]...

In the batch script of an elastic job it runs PyTorch's elastic agent on each node. When nodes join, and when some are
given up, all processes of train.py are ended and begin again on the nodes that there are then, with the environment
that torchrun gives (RANK, WORLD_SIZE, LOCAL_RANK, MASTER_ADDR, ...). So train.py is as for torchrun: it saves
checkpoints, and begins with the last. A resize is no failure and uses up none of --max-restarts.

The program has to be found on all nodes. As torchrun's, its store is open to whoever reaches the port: use it where the
nodes are among themselves. The nodes are resized by selastic-run: nothing else in the job may do so.

Exit status: 0, or the highest of the agents (1: train.py has failed once more than it may), 2: wrong usage.
"""

from __future__ import annotations

import argparse
import json
import os
import select
import sys

from . import _launcher, node_names

_LOOK = 0.1  # seconds between two looks for agents that are new


class _Rounds:
    """Who takes part: from the first agents to the end."""

    def __init__(self, arguments: argparse.Namespace) -> None:
        from ._torch_store import store_at  # here, so that --help needs no PyTorch
        self._store = store_at("localhost", 0, is_master=True)
        self._members: set[str] = set()
        self._nodes: set[str] = set()  # that the job has and shall keep
        self._leaving: set[str] = set()
        self._number = 0
        self._publish(set())
        settings = {"port": self._store.port, "processes": arguments.nproc_per_node,
                    "restarts": arguments.max_restarts}
        agent = [sys.executable, "-m", "elastic._torch_agent", json.dumps(settings), arguments.program,
                 *arguments.arguments]
        # Workers meet by a store of their own, which needs what Debian's has not.
        self._launcher = _launcher.Launcher(agent, arguments.srun, _launcher.environment({"USE_LIBUV": "0"}))

    def _publish(self, members: set[str]) -> None:
        self._number += 1
        self._members = members
        self._store.set(f"members/{self._number}", json.dumps(sorted(members)))
        self._store.set("round", str(self._number))

    def run(self) -> int:
        """Until all agents have ended; their status."""
        while self._launcher.process.poll() is None:
            waits = self._nodes != self._members
            select.select([self._launcher.control], [], [], _LOOK if waits else 1)
            for line in self._launcher.lines():
                self._hear(*line.split(" ", 1))
            if self._nodes != self._members and all(map(self._is_here, self._nodes - self._members)):
                self._publish(set(self._nodes))
        return self._launcher.process.returncode

    def _hear(self, verb: str, rest: str = "") -> None:
        if verb == "nodes":
            held = set(node_names(rest))
            for gone in self._leaving - held:
                self._store.delete_key(f"here/{gone}")
            self._leaving &= held
            self._nodes = held - self._leaving
        elif verb == "leave":
            self._leaving |= set(node_names(rest))
            self._nodes -= self._leaving
            self._publish(self._members - self._leaving)
            self._launcher.say("left")

    def _is_here(self, node: str) -> bool:
        return int(self._store.add(f"here/{node}", 0)) > 0


def main() -> int:
    parser = argparse.ArgumentParser(prog="python3 -m elastic.torch", allow_abbrev=False,
                                     description="Runs a program of torchrun's on all nodes of a job that is resized.")
    parser.add_argument("--nproc-per-node", type=int, default=1, metavar="N", help="processes on each node (1)")
    parser.add_argument("--max-restarts", type=int, default=3, metavar="N",
                        help="how often it may fail and begin again; resizes do not count (3)")
    parser.add_argument("--srun", action="append", default=[], metavar="OPTION", help="a further option of srun")
    parser.add_argument("program", help="the script, a path that is right on all nodes")
    parser.add_argument("arguments", nargs=argparse.REMAINDER)
    arguments = parser.parse_args()
    if "SLURM_JOB_ID" not in os.environ:
        parser.error("there is no Slurm job here: submit it with sbatch --elastic=...")
    return _Rounds(arguments).run()


if __name__ == "__main__":
    sys.exit(main())
