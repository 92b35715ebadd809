# SPDX-License-Identifier: MIT
"""Programs with libelastic-mpi under selastic-run in a cluster of elastic_live, and what they print.

A resize is held in a phase by a process that is stopped in it: all others wait for that one.
"""

import os
import pathlib
import re
import shutil
import signal

from elastic_live import wait_until

MPIS = ("openmpi", "mpich")


def environments(cluster, node):
    """{process: environment} of all that Slurm has started on this cluster's node and that lives; other clusters have
    such nodes too."""
    name, own = f"SLURMD_NODENAME={node}".encode(), str(cluster.base).encode()
    found = {}
    for process in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            text = (process / "environ").read_bytes()
        except OSError:
            continue
        if own in text and name in text.split(b"\0"):
            found[int(process.name)] = dict(line.split("=", 1) for line in text.decode(errors="replace").split("\0")
                                            if "=" in line)
    return found


def processes_of(cluster, node):
    return list(environments(cluster, node))


def established(port):
    """How many processes are connected to a port."""
    entries = [line.split() for table in ("tcp", "tcp6")
               for line in pathlib.Path("/proc/net", table).read_text().splitlines()[1:]]
    return sum(fields[2].endswith(f":{port:04X}") and fields[3] == "01" for fields in entries)


def has_opened_memory(process):
    """Whether it has looked for what is in shared memory."""
    try:
        return any("/elastic-" in os.readlink(entry) for entry in pathlib.Path(f"/proc/{process}/fd").iterdir())
    except OSError:
        return False


class Program:
    started = 0

    def __init__(self, cluster, mpi, name):
        self.cluster, self.mpi = cluster, mpi
        files = self._files(cluster, mpi, name)
        self.path = cluster.tools / files[0].name
        self.launched = self.path
        for source in files:
            if not (cluster.tools / source.name).exists():
                shutil.copy(source, cluster.tools / source.name)

    @staticmethod
    def _files(cluster, mpi, name):
        """The program and the library."""
        return [cluster.build / ".libs" / file for file in (f"{name}_{mpi}", f"libelastic-mpi-{mpi}.so.0")]

    @classmethod
    def is_built(cls, cluster, mpi, name):
        return all(file.exists() for file in cls._files(cluster, mpi, name))

    def submit(self, arguments, nodes, options="", annotation="malleable,min=1,max=8", tasks=1, environment="true",
               more=(), after=""):
        """A job that waits in the midst of its work until it is let go on; more: of sbatch's options; after: what
        stands behind the command."""
        elastic = [f"--elastic={annotation}"] if annotation else []
        Program.started += 1
        go = self.cluster.base / "out" / f"go.{Program.started}"
        script = f"{environment}; selastic-run {options} {self.launched} {arguments} {go} {after}; " \
                 "code=$?; echo status $code; exit $code"
        number = self.cluster.sbatch(f"-N{nodes}", f"--ntasks-per-node={tasks}", "--overcommit", *elastic, *more,
                                     wrap=script)
        return Job(self, number, go)

    def wrap(self, line):
        """Each process runs through this line of shell first, in which $birth is 0.0, or the resize and the attempt."""
        Program.started += 1
        self.launched = self.cluster.base / "out" / f"wrapped.{Program.started}"
        self.launched.write_text("#!/bin/bash\n"
                                 "IFS=: read -r _ _ _ resize attempt <<<\"$ELASTIC_RUN\"; birth=$resize.$attempt\n"
                                 f"{line}\nexec {self.path} \"$@\"\n")
        self.launched.chmod(0o755)

    @property
    def srun_type(self):
        return {"openmpi": "--srun=--mpi=pmix", "mpich": "--srun=--mpi=pmi2"}[self.mpi]

    def result_of_one_process(self, arguments):
        """The line that the program prints in the end, without resizes and without MPI's messages."""
        job = self.submit(arguments, 1, annotation=None)
        return job.finish()


class Job:
    def __init__(self, program, number, go):
        self.program, self.cluster, self.number, self.go = program, program.cluster, number, go

    def output(self):
        return self.cluster.output(self.number)

    def worlds(self):
        """How many processes each of its worlds had."""
        return [int(found) for found in re.findall(r"^\w+: step \d+, (\d+) processes", self.output(), re.M)]

    def wait_worlds(self, *processes):
        """Until it has had these worlds, the last of which computes."""
        wait_until(lambda: self.worlds() == list(processes),
                   lambda: f"it has had worlds of {processes} processes:\n{self.output()[-3000:]}", within=60)

    def wait_steps(self, count):
        """Until its last world has done so many steps, of a program that says when each has ended."""
        wait_until(lambda: self.output().rpartition("processes\n")[2].count("ended ") >= count,
                   lambda: f"{count} more steps end:\n{self.output()[-3000:]}", within=60)

    def resize(self, nodes, wait=True):
        """Returns when the job has so many nodes and another world computes on them."""
        command = "shrink" if nodes < len(self.cluster.nodes_of(self.number)) else "expand"
        before = len(self.worlds())
        offered = []

        def is_offered():
            offered.append(self.cluster.run("selastic", command, self.number, nodes, check=False))
            return offered[-1].code == 0
        wait_until(is_offered, f"job {self.number} is offered {nodes} nodes")
        if wait:
            wait_until(lambda: len(self.cluster.nodes_of(self.number)) == nodes,
                       lambda: f"job {self.number} has {nodes} nodes:\n{offered[-1]}{self.cluster.node_states()}\n"
                               f"{self.output()[-3000:]}", within=60)
            wait_until(lambda: len(self.worlds()) == before + 1, lambda: f"a new world computes: {self.output()}", 60)

    def steps(self):
        """{id: name} of those that Slurm has of it, but for the batch script."""
        listed = self.cluster.run("squeue", "--noheader", "--steps", f"--job={self.number}", "--format=%i|%j")
        lines = listed.out.split("\n")
        return dict(line.split("|") for line in lines if "|" in line and not line.split("|")[0].endswith("batch"))

    def step_of(self, birth):
        """The id of the newest of a world, of the resize of that number or, of 0, of the first; None."""
        found = [step for step, name in self.steps().items()
                 if (name.split("+")[1:] or ["0."])[0].startswith(f"{birth}.")]
        return max(found, default=None, key=lambda step: int(step.split(".")[1]))

    def tasks(self, birth):
        """{node: process} of a world with a process a node; birth: 0.0, or the resize and the attempt."""
        found, name = {}, self.program.path.name
        for node in self.cluster.nodes_of(self.number):
            for process, environment in environments(self.cluster, node).items():
                run = environment.get("ELASTIC_RUN", "").split(":")
                if ".".join(run[-2:]) == birth and environment.get("SLURM_JOB_ID") == str(self.number) and \
                        pathlib.Path(os.readlink(f"/proc/{process}/exe")).name == name:
                    found[node] = process
                    self.port = int(run[0])
        return found

    def hold(self, phase, nodes):
        """Begins its first resize; returns when that is in the phase, with the process that is to be continued."""
        first = self.tasks("0.0")
        held = first[list(first)[-1]]
        os.kill(held, signal.SIGSTOP)
        self.resize(nodes, wait=False)
        wait_until(lambda: established(self.port) == 2, lambda: f"a new world waits:\n{self.output()}", within=60)
        if phase == "evacuates":
            return held
        second = self.tasks("1.1") or self.tasks("1.2")  # Open MPI sometimes dies in MPI_Init()
        restoring = second[list(second)[-1]]
        os.kill(restoring, signal.SIGSTOP)
        os.kill(held, signal.SIGCONT)
        wait_until(lambda: any(map(has_opened_memory, second.values())), lambda: f"it restores:\n{self.output()}")
        if phase == "restores":
            return restoring
        os.kill(held, signal.SIGSTOP)
        os.kill(restoring, signal.SIGCONT)
        self.wait_worlds(len(first), len(second))
        return held

    @staticmethod
    def go_on(process):
        """Unless it is gone."""
        try:
            os.kill(process, signal.SIGCONT)
        except ProcessLookupError:
            pass

    def finish(self, state="COMPLETED"):
        """Lets it go on; the program's last line."""
        self.go.touch()
        found = self.cluster.wait_state(self.number, "COMPLETED", "FAILED", within=120)
        assert found == state, self.output()
        left = self.left_in_memory()
        assert not left, f"{left}\n{self.output()}"
        lines = re.findall(r"^\w+: \d+ steps: .*$", self.output(), re.M)
        return lines[-1] if lines else None

    def left_in_memory(self):
        """Files of the library on any node."""
        left = []
        for node in self.cluster.all_nodes:
            root = pathlib.Path(f"/proc/{self.cluster.minicluster.daemon(node).pid()}/root")
            left += [*root.glob("dev/shm/elastic-*"), *root.glob("tmp/elastic-*")]
        return left
