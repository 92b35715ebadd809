# SPDX-License-Identifier: MIT
"""A cluster on which MPI works: each node has a host name, /tmp and /dev/shm of its own.

A test is run with each MPI that is installed. After it nothing is left in any node's shared memory.
"""

import os

import pytest
from elastic_live import ELASTIC, Cluster
from mpi_programs import MPIS, Program


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
def many_objects(cluster, mpi):
    return program(cluster, mpi, "many_objects")
