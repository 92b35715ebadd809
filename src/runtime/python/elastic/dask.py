# SPDX-License-Identifier: MIT
"""A Dask cluster on the nodes of this job, which grows and shrinks with it, and which asks Slurm for nodes of this job.

    import distributed
    import elastic.dask

    with elastic.dask.Cluster() as cluster:
        cluster.adapt(minimum=1, maximum=8)
        client = distributed.Client(cluster)
        ...

Runs in the batch script of an elastic job. There is a worker on each node, named as the node. `scale(n)` asks for the
nodes that n workers need, and gives back those of workers that are too many; `adapt()` does so as Dask finds it right.
For both the job has to be evolving: sbatch --elastic=malleable+evolving,min=1,max=8, where the scheduler may resize it
as well. What Dask keeps on a node that is given up goes to others first, as far as the grace time allows; what was
computed there is computed again.

The node of the batch script, and with it its worker, is never given up. The workers are started by selastic-run, which
answers the controller: nothing else in the job may do so.
"""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Iterable, Sequence
from typing import Any

import distributed
from distributed.core import Status, rpc
from distributed.deploy.adaptive import Adaptive as DaskAdaptive
from distributed.deploy.cluster import Cluster as DaskCluster

from . import _launcher, node_names
from .__main__ import look

__all__ = ["Adaptive", "Cluster"]

_PATIENCE = 30  # seconds for workers to end


class Adaptive(DaskAdaptive):
    """Dask's, which does not choose the worker on the node of the batch script."""

    async def workers_to_close(self, target: int) -> list[str]:
        """The names of workers that are too many for `target` of them."""
        names: list[str] = await self.cluster.spare(len(self.plan) - target)
        return names

    async def scale_down(self, workers: Iterable[str]) -> None:
        """Leaves it to the cluster to retire them, once it is known that their nodes may go."""
        await self.cluster.scale_down(workers)


class Cluster(DaskCluster):
    """A scheduler in this process, and workers on all nodes of the job.

    worker_options: words for `dask worker`, such as ["--nthreads", "4"]; it uses all processors of a node otherwise.
    srun: further options of the sruns that start workers. scheduler: options of distributed.Scheduler. All others are
    those of Dask's own clusters.

    Raises RuntimeError outside a Slurm job, FileNotFoundError where no selastic-run is in PATH.
    """

    status: Any

    def __init__(self, worker_options: Sequence[str] = (), *, srun: Sequence[str] = (),
                 scheduler: dict[str, Any] | None = None, asynchronous: bool = False, loop: Any = None,
                 name: str | None = None, quiet: bool = True) -> None:
        if "SLURM_JOB_ID" not in os.environ:
            raise RuntimeError("there is no Slurm job here: submit the program with sbatch --elastic=...")
        seen = look(os.environ["SLURM_JOB_ID"])
        self._evolving = "evolving" in seen.get("class", "")
        self._least, self._most = seen.get("min", 1), seen.get("max", 1)
        self._batch_host = os.environ.get("SLURMD_NODENAME", "")
        self._worker_options, self._srun = list(worker_options), srun
        self._scheduler_options = {"host": "", "port": 0, "dashboard": False, **(scheduler or {})}
        self._nodes: set[str] = set()  # that the job has and shall keep
        self._going: set[str] = set()  # that it has and is to give up, or wants to
        self._asked = 0  # how many more are asked for
        self._withdrawn = False  # but not any more
        self._wanted: int | None = None  # what the last scale() wanted, until it is there
        self._working: set[asyncio.Task[None]] = set()
        self.scheduler: Any = None
        super().__init__(asynchronous=asynchronous, loop=loop, name=name, quiet=quiet)
        if not self.asynchronous:
            self._loop_runner.start()
            self.sync(self._start)

    # ---- start and end

    async def _start(self) -> None:
        if self.status != Status.created:
            return
        self.status = Status.starting
        self.scheduler = await distributed.Scheduler(**self._scheduler_options)
        self.scheduler_comm = rpc(self.scheduler.address)
        worker = [sys.executable, "-m", "elastic._dask_worker", str(self.scheduler.port), "--no-dashboard",
                  *self._worker_options]
        self._launcher = _launcher.Launcher(worker, self._srun, _launcher.environment({}))
        if self._evolving or "SLURM_JOB_NODELIST" not in os.environ:
            self._nodes = {self._batch_host}
        else:
            self._nodes = set(node_names(os.environ["SLURM_JOB_NODELIST"]))
        asyncio.get_running_loop().add_reader(self._launcher.control, self._listen)
        await super()._start()

    def __await__(self) -> Any:
        async def started() -> Cluster:
            await self._start()
            return self
        return started().__await__()

    async def _close(self) -> None:
        if self.status in (Status.closing, Status.closed):
            return
        if self._adaptive:
            self._adaptive.stop()
        if self.scheduler:
            asyncio.get_running_loop().remove_reader(self._launcher.control)
            await self.scheduler.close()  # which ends the workers
            await self._end_launcher()
        await super()._close()

    async def _end_launcher(self) -> None:
        ended = asyncio.get_running_loop().run_in_executor(None, self._launcher.process.wait)
        try:
            await asyncio.wait_for(asyncio.shield(ended), _PATIENCE)
        except asyncio.TimeoutError:
            self._launcher.process.terminate()
            await ended
        self._launcher.control.close()

    # ---- what selastic-run says

    def _listen(self) -> None:
        for line in self._launcher.lines():
            verb, _, rest = line.partition(" ")
            if verb == "nodes":
                held = set(node_names(rest))
                self._going &= held
                self._nodes, self._asked, self._withdrawn = held - self._going, 0, False
                self._go_on()
            elif verb == "leave":
                self._begin(self._leave(set(node_names(rest))))
            elif verb == "denied":
                self._denied(rest)
        if self._launcher.process.poll() is not None:
            asyncio.get_running_loop().remove_reader(self._launcher.control)

    def _denied(self, why: str) -> None:
        """What was asked for, or what was to be given back; another scale(), or adapt(), tries again."""
        if not self._withdrawn:
            self._log(f"Slurm: {why}")
            self._wanted = None
        self._nodes, self._going = self._nodes | self._going, set()
        self._asked, self._withdrawn = 0, False
        self._go_on()

    def _begin(self, what: Any) -> None:
        task = asyncio.ensure_future(what)
        self._working.add(task)
        task.add_done_callback(self._working.discard)

    async def _leave(self, names: set[str]) -> None:
        """Saves what is on nodes that are given up."""
        self._nodes -= names
        self._going |= names
        await self.scheduler.retire_workers(names=list(names), close_workers=True, remove=True)
        self._launcher.say("left")

    # ---- what Dask asks

    @property
    def plan(self) -> set[str]:
        """The workers that there are or shall be, by name; those on nodes that have no name yet are numbered."""
        return self._nodes | {f"asked-{number}" for number in range(self._asked)}

    requested = plan

    @property
    def observed(self) -> set[str]:
        """The workers that have reported."""
        return {worker["name"] for worker in self.scheduler_info["workers"].values()} & self._nodes

    async def spare(self, count: int) -> list[str]:
        """The names of `count` workers that Dask needs least, none of which has to stay."""
        names = self.scheduler.workers_to_close(n=max(0, count) + 1, attribute="name")
        free = [name for name in names if name != self._batch_host and name in self._nodes]
        others = sorted(self._nodes - {self._batch_host} - set(free))
        return (free + others)[:max(0, count)]

    def scale(self, n: int) -> Any:
        """Asks for nodes for n workers in all, or gives back those of workers that are too many.

        Within the job's min and max, and as Slurm can: cluster.get_logs() has what it denied. Raises ValueError for a
        job that is not evolving.
        """
        if not self._evolving:
            raise ValueError("the job may not ask for nodes: submit it with --elastic=malleable+evolving,min=M,max=N")
        self.loop.add_callback(self._scale_to, min(max(n, self._least), self._most))
        return distributed.utils.NoOpAwaitable() if self.asynchronous else None

    def adapt(self, Adaptive: Any = Adaptive, **kwargs: Any) -> Any:
        """As Dask's own clusters; minimum and maximum are the job's if they are not given. Raises what scale() does."""
        if not self._evolving:
            return self.scale(self._least)
        return super().adapt(Adaptive=Adaptive, **{"minimum": self._least, "maximum": self._most, **kwargs})

    async def _scale_to(self, n: int) -> None:
        self._wanted = n
        if self._asked and self._asked != n - len(self._nodes):
            self._withdraw()  # the answer goes on
        if n < len(self._nodes):
            self._give_back(await self.spare(len(self._nodes) - n))
        self._go_on()

    def _go_on(self) -> None:
        """Asks for what is still wanted, unless something is asked for."""
        more = (self._wanted or 0) - len(self._nodes)
        if more > 0 and not self._asked and self.status == Status.running:
            self._asked = more
            self._launcher.say(f"expand {more} 1")

    def _withdraw(self) -> None:
        self._withdrawn = True
        self._launcher.say("withdraw")

    async def scale_down(self, workers: Iterable[str]) -> None:
        """Gives back the nodes of these workers."""
        names = set(workers)
        self._wanted = None
        if self._asked and names - self._nodes:
            self._withdraw()
        self._give_back(sorted(names & self._nodes - {self._batch_host}))

    def _give_back(self, names: list[str]) -> None:
        if names:
            self._nodes -= set(names)
            self._going |= set(names)
            self._launcher.say(f"shrink {','.join(names)}")
