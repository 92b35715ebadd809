# SPDX-License-Identifier: MIT
"""The agent of elastic.torch on a node: PyTorch's own, with a rendezvous that is what elastic.torch says of the job.

    python3 -m elastic._torch_agent SETTINGS PROGRAM [ARGUMENTS]...

All that is agreed on is in elastic.torch's store: `round`, the number of the present one; `members/ROUND`, its nodes;
`here/NODE`, an agent that waits for a round with it; `arrived/ROUND`, how many have stopped what they had before; and
`done`, once a training has ended. What may not be there yet is a counter, since old stores can only wait for others.

Always holds: workers that fail while the round changes, since those of other nodes have gone, are no failure.
"""

from __future__ import annotations

import json
import os
import socket
import sys
import time
from typing import Any

from torch.distributed import PrefixStore, TCPStore
from torch.distributed.elastic.agent.server.api import RunResult, WorkerSpec, WorkerState
from torch.distributed.elastic.agent.server.local_elastic_agent import LocalElasticAgent
from torch.distributed.elastic.multiprocessing import SignalException
from torch.distributed.elastic.rendezvous import RendezvousClosedError, RendezvousHandler

from ._torch_store import store_at

_LOOK = 0.1  # seconds between two looks at the store
_END = 30  # seconds that agents wait for each other at the end


def own_address(launcher: str) -> str:
    """By which others reach this node, as far as the way to the launcher tells."""
    family = socket.AF_INET6 if ":" in launcher else socket.AF_INET
    with socket.socket(family, socket.SOCK_DGRAM) as probe:
        probe.connect((launcher, 1))
        address: str = probe.getsockname()[0]
        return address


class Rendezvous(RendezvousHandler):
    """What the agent asks: who takes part, and whether that has changed."""

    def __init__(self, store: TCPStore, node: str, address: str) -> None:
        self._store, self._node, self._address = store, node, address
        self._round = 0

    def get_backend(self) -> str:
        return "elastic"

    def get_run_id(self) -> str:
        return os.environ["SLURM_JOB_ID"]

    def _present(self) -> int:
        return int(self._store.get("round"))

    @property
    def changed(self) -> bool:
        """Others take part than in the round that this node is in."""
        return not self.is_closed() and self._present() != self._round

    def next_rendezvous(self) -> Any:
        """Waits until all nodes of a round with this one are there. RendezvousClosedError: the training has ended."""
        self._store.add(f"here/{self._node}", 1)
        while not self.is_closed():
            number = self._present()
            members = json.loads(self._store.get(f"members/{number}"))
            if self._node in members and self._all_arrive(number, len(members)):
                self._round = number
                return self._joined(PrefixStore(f"round/{number}", self._store), members.index(self._node),
                                    len(members))
            time.sleep(_LOOK)
        raise RendezvousClosedError()

    def _all_arrive(self, number: int, count: int) -> bool:
        self._store.add(f"arrived/{number}", 1)
        while int(self._store.add(f"arrived/{number}", 0)) < count:
            if self.is_closed() or self._present() != number:
                return False
            time.sleep(_LOOK)
        return True

    def _joined(self, store: Any, rank: int, size: int) -> Any:
        try:
            from torch.distributed.elastic.rendezvous import RendezvousInfo, RendezvousStoreInfo
        except ImportError:
            return store, rank, size
        return RendezvousInfo(store, rank, size, RendezvousStoreInfo.build(rank, store, self._address))

    def is_closed(self) -> bool:
        return int(self._store.add("done", 0)) > 0

    def set_closed(self) -> None:
        self._store.add("done", 1)

    def num_nodes_waiting(self) -> int:
        return int(self.changed)

    def shutdown(self) -> bool:
        return True


class Agent(LocalElasticAgent):
    """Takes for a change of the round what is one."""

    failed = False  # its processes, the last time that they ended

    def _monitor_workers(self, worker_group: Any) -> RunResult:
        result = super()._monitor_workers(worker_group)
        rendezvous = worker_group.spec.rdzv_handler
        if result.state == WorkerState.SUCCEEDED:
            self.failed = False
            rendezvous.set_closed()
        elif result.state in (WorkerState.FAILED, WorkerState.UNHEALTHY):
            time.sleep(2 * _LOOK)  # what has made them fail may be told a moment later
            if rendezvous.changed:
                return RunResult(state=WorkerState.HEALTHY)
            self.failed = True
        return result


def main() -> int:
    settings, *program = json.loads(sys.argv[1]), *sys.argv[2:]
    launcher = os.environ["SLURM_LAUNCH_NODE_IPADDR"]
    address = own_address(launcher)
    store = store_at(launcher, settings["port"])
    rendezvous = Rendezvous(store, os.environ["SLURMD_NODENAME"], address)
    spec = WorkerSpec(role="default", local_world_size=settings["processes"], entrypoint=sys.executable,
                      args=("-u", *program), rdzv_handler=rendezvous, max_restarts=settings["restarts"],
                      monitor_interval=_LOOK, master_addr=address)
    agent = Agent(spec, exit_barrier_timeout=_END)
    try:
        result = agent.run()
    except RendezvousClosedError:
        return int(agent.failed)  # others have ended the training
    except SignalException:
        return 0  # the node is given up
    if result.is_failed():
        rendezvous.set_closed()
        for rank, failure in result.failures.items():
            print(f"elastic.torch: process {rank} has failed: {failure.message}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
