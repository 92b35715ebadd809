# SPDX-License-Identifier: MIT
"""Programs that know nothing of resizes, in a folder that all nodes see, under selastic-run.

A program that is held can be short: its processes are stopped while it is told of a resize, so that it is not over
before that.
"""

import os
import pathlib
import re
import shutil
import signal

import pytest
from elastic_live import wait_until
from mpi_programs import environments

PROGRAMS = pathlib.Path(__file__).parent / "programs"
PATIENCE = 180  # seconds: torch takes some to load


def skip_without(program, package):
    if not shutil.which(program):
        pytest.skip(f"there is no {package}: contribs/install-deps --applications")


class Run:
    """A job that runs commands in the folder."""

    def __init__(self, cluster, folder, nodes, commands):
        self.cluster, self.folder = cluster, folder
        script = folder / "job.sh"
        script.write_text(f"#!/bin/bash\ncd {folder}\nexport OMP_NUM_THREADS=1 GLOO_SOCKET_IFNAME=lo "
                          f"SELASTIC_PROFILES={folder}/profiles\n{commands}\n")
        self.job = cluster.sbatch(f"-N{nodes}", "--ntasks-per-node=1", "--elastic=malleable,min=1,max=4", str(script))

    def output(self):
        return self.cluster.output(self.job)

    def read(self, name):
        path = self.folder / name
        return path.read_text() if path.exists() else ""

    def wait(self, condition, what):
        wait_until(condition, lambda: f"{what}:\n{self.output()[-3000:]}", within=PATIENCE)

    def resize(self, nodes):
        command = "shrink" if nodes < len(self.cluster.nodes_of(self.job)) else "expand"
        self.wait(lambda: self.cluster.run("selastic", command, self.job, nodes, check=False).code == 0,
                  f"job {self.job} is offered {nodes} nodes")
        self.cluster.wait_size(self.job, nodes, within=PATIENCE)

    def finish(self):
        state = self.cluster.wait_state(self.job, "COMPLETED", "FAILED", within=PATIENCE)
        assert state == "COMPLETED", self.output()
        return self.output()

    def held(self, name):
        return Held(self, name)


class Held:
    """The processes of a program, which do nothing until they have been told of a resize."""

    def __init__(self, run, name):
        self.run, self.name = run, name

    def processes(self):
        return [process for node in self.run.cluster.nodes_of(self.run.job)
                for process in environments(self.run.cluster, node) if self._is_one(process)]

    def _is_one(self, process):
        try:
            return pathlib.Path(f"/proc/{process}/comm").read_text().strip() == self.name[:15]
        except OSError:
            return False

    def resize(self, nodes, told):
        """told: whether selastic-run has said so to this process."""
        processes = self.processes()
        assert processes, f"no {self.name} runs: {self.run.output()}"
        for process in processes:
            os.kill(process, signal.SIGSTOP)
        command = "shrink" if nodes < len(self.run.cluster.nodes_of(self.run.job)) else "expand"
        self.run.wait(lambda: self.run.cluster.run("selastic", command, self.run.job, nodes, check=False).code == 0,
                      f"job {self.run.job} is offered {nodes} nodes")
        self.run.wait(lambda: all(map(told, processes)), f"{self.name} is told to stop")
        for process in processes:
            os.kill(process, signal.SIGCONT)
        self.run.cluster.wait_size(self.run.job, nodes, within=PATIENCE)


def has_signal(process):
    """Whether a signal waits for a process that is stopped."""
    status = pathlib.Path(f"/proc/{process}/status").read_text()
    return any(int(mask, 16) for mask in re.findall(r"^(?:SigPnd|ShdPnd):\s*(\w+)", status, re.M))
