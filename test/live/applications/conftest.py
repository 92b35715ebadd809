# SPDX-License-Identifier: MIT
"""A cluster on which MPI works: each node has a host name, /tmp and /dev/shm of its own.

A test is run with each MPI that is installed. After it nothing is left in any node's shared memory.
"""

import importlib.util
import os
import pathlib
import shutil

import pytest
from elastic_live import CLONE, ELASTIC, Cluster
from mpi_programs import MPIS, Program
from unchanged_programs import PROGRAMS


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


def program(cluster, mpi, name):
    if not Program.is_built(cluster, mpi, name):
        pytest.skip(f"libelastic-mpi is not built for {mpi}: contribs/install-deps --applications, configure")
    return Program(cluster, mpi, name)


@pytest.fixture
def stencil(cluster, mpi):
    """stencil2d as it is built for an MPI."""
    return program(cluster, mpi, "stencil2d")


@pytest.fixture
def wave(cluster, mpi):
    return program(cluster, mpi, "wave2d")


@pytest.fixture
def heat(cluster):
    """The example in Python, with mpi4py's MPI."""
    return Script(cluster, "elastic_heat.py")


@pytest.fixture
def asks(cluster, mpi):
    return program(cluster, mpi, "asks")


@pytest.fixture
def many_objects(cluster, mpi):
    return program(cluster, mpi, "many_objects")


@pytest.fixture
def folder(cluster):
    """A folder that all nodes see, with what unchanged programs need."""
    made = cluster.new_folder("unchanged")
    shutil.copytree(PROGRAMS, made, dirs_exist_ok=True)
    shutil.copytree(CLONE / "src/tools/selastic-run/profiles", made / "profiles")
    return made


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
