# SPDX-License-Identifier: MIT
"""A cluster on which MPI works: each node has a host name, /tmp and /dev/shm of its own.

A test is run with each MPI that is installed. After it nothing is left in any node's shared memory.
"""

import importlib.util
import os
import pathlib
import re
import shutil

import pytest
from elastic_live import CLONE, ELASTIC, Cluster, wait_until

MPIS = ("openmpi", "mpich")


def pytest_generate_tests(metafunc):
    if "mpi" in metafunc.fixturenames:
        metafunc.parametrize("mpi", MPIS, scope="session")


@pytest.fixture(scope="session")
def cluster(request):
    mode, select = request.param
    if mode != "ms":
        pytest.skip("behind a front end all processes are on one node")
    if os.getuid() != 0:
        pytest.skip("only root can give nodes a /dev/shm of their own")
    with Cluster(mode, select, build=request.config.getoption("--build"),
                 elastic=[f"{key}={value}" for key, value in ELASTIC.items()],
                 options=["--private-tmp"]) as started:
        yield started


@pytest.fixture
def stencil(cluster, mpi):
    """stencil2d as it is built for an MPI."""
    return Program(cluster, mpi, "stencil2d")


@pytest.fixture
def wave(cluster, mpi):
    return Program(cluster, mpi, "wave2d")


@pytest.fixture
def heat(cluster):
    """The example in Python, with mpi4py's MPI."""
    return Script(cluster, "elastic_heat.py")


@pytest.fixture
def many_objects(cluster, mpi):
    return Program(cluster, mpi, "many_objects")


class Program:
    started = 0

    def __init__(self, cluster, mpi, name):
        self.cluster, self.mpi = cluster, mpi
        built = cluster.build / ".libs" / f"{name}_{mpi}"
        library = cluster.build / ".libs" / f"libelastic-mpi-{mpi}.so.0"
        if not built.exists() or not library.exists():
            pytest.skip(f"libelastic-mpi is not built for {mpi}: contribs/install-deps --applications, configure")
        self.path = cluster.tools / built.name
        self.launched = self.path
        for source in (built, library):
            if not (cluster.tools / source.name).exists():
                shutil.copy(source, cluster.tools / source.name)

    def submit(self, arguments, nodes, options="", annotation="malleable,min=1,max=8", tasks=1, environment="true"):
        """A job that waits in the midst of its work until it is let go on."""
        elastic = [f"--elastic={annotation}"] if annotation else []
        Program.started += 1
        go = self.cluster.base / "out" / f"go.{Program.started}"
        script = f"{environment}; selastic-run {options} {self.launched} {arguments} {go}; " \
                 "code=$?; echo status $code; exit $code"
        number = self.cluster.sbatch(f"-N{nodes}", f"--ntasks-per-node={tasks}", "--overcommit", *elastic, wrap=script)
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


class Script(Program):
    """A program of the examples in Python, held in the midst of its steps."""

    def __init__(self, cluster, name):
        for module in ("mpi4py", "numpy"):
            if not importlib.util.find_spec(module):
                pytest.skip(f"there is no python3-{module}: contribs/install-deps --applications")
        from mpi4py import rc
        rc.initialize = False
        from mpi4py import MPI
        super().__init__(cluster, {"Open MPI": "openmpi", "MPICH": "mpich"}[MPI.get_vendor()[0]], "stencil2d")
        self.held, self.script = cluster.tools / "held.py", cluster.tools / name
        shutil.copy(pathlib.Path(__file__).parent / "programs/held.py", self.held)
        shutil.copy(CLONE / "contribs/examples" / name, self.script)
        self.launched = f"/usr/bin/python3 {self.held} {self.script}"

    def submit(self, arguments, nodes, options="", **more):
        """As any program; selastic-run cannot see what its MPI is."""
        return super().submit(arguments, nodes, f"{self.srun_type} {options}", **more)


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

    def resize(self, nodes, wait=True):
        """Returns when the job has so many nodes and another world computes on them."""
        command = "shrink" if nodes < len(self.cluster.nodes_of(self.number)) else "expand"
        before = len(self.worlds())
        wait_until(lambda: self.cluster.run("selastic", command, self.number, nodes, check=False).code == 0,
                   f"job {self.number} is offered {nodes} nodes")
        if wait:
            wait_until(lambda: len(self.cluster.nodes_of(self.number)) == nodes,
                       lambda: f"job {self.number} has {nodes} nodes:\n{self.output()[-3000:]}", within=60)
            wait_until(lambda: len(self.worlds()) == before + 1, lambda: f"a new world computes: {self.output()}", 60)

    def finish(self, state="COMPLETED"):
        """Lets it go on; the program's last line."""
        self.go.touch()
        found = self.cluster.wait_state(self.number, "COMPLETED", "FAILED", within=120)
        assert found == state, self.output()
        assert not self.left_in_memory(), self.output()
        lines = re.findall(r"^\w+: \d+ steps: .*$", self.output(), re.M)
        return lines[-1] if lines else None

    def left_in_memory(self):
        """Files of the library on any node."""
        left = []
        for node in self.cluster.all_nodes:
            root = pathlib.Path(f"/proc/{self.cluster.minicluster.daemon(node).pid()}/root")
            left += [*root.glob("dev/shm/elastic-*"), *root.glob("tmp/elastic-*")]
        return left
