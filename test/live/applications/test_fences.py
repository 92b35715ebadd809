# SPDX-License-Identifier: MIT
"""The processes of a step of selastic-run wait for each other where PMIx says so."""

import pathlib
import shutil
import subprocess

import pytest

LATE = 2000  # milliseconds, in which processes that do not wait would have gone on


@pytest.fixture
def fences(cluster):
    """fences.c, compiled."""
    if not shutil.which("pkg-config") or subprocess.run(["pkg-config", "pmix"], check=False).returncode != 0:
        pytest.skip("there are no development files of PMIx: contribs/install-deps --applications")
    flags = subprocess.run(["pkg-config", "--cflags", "--libs", "pmix"], capture_output=True, text=True, check=True)
    source, target = pathlib.Path(__file__).parent / "fences.c", cluster.tools / "fences"
    subprocess.run(["cc", "-std=c11", "-D_GNU_SOURCE", "-Wall", "-o", target, source, *flags.stdout.split()],
                   check=True)
    return target


def run(cluster, wrap):
    """What a job on three nodes prints, in lines."""
    job = cluster.sbatch("-N3", "--ntasks-per-node=1", "--elastic=malleable,min=1,max=4", wrap=wrap)
    assert cluster.wait_state(job, "COMPLETED", "FAILED") == "COMPLETED", cluster.output(job)
    return cluster.output(job).splitlines()


def test_fences_wait_for_all(cluster, fences):
    """Also those without data, which Slurm's tree of nodes does not hold up: there is none of so few."""
    said = cluster.new_folder("fences") / "said"
    run(cluster, f"selastic-run --srun=--mpi=pmix {fences} {said} {LATE}")
    lines = said.read_text().splitlines()
    assert sorted(lines[:3]) == ["0 comes", "1 comes", "2 comes"] and lines[2] == "2 comes", lines
    assert sorted(lines[3:]) == ["0 goes on", "1 goes on", "2 goes on"], lines


@pytest.mark.parametrize("environment, option, expected", [
    ("true", "--srun=--mpi=pmix", "ring"),
    ("export SLURM_MPI_TYPE=pmix", "", "ring"),
    ("export SLURM_MPI_TYPE=pmix SLURM_PMIX_FENCE=tree", "--srun=--export=NONE", "tree"),
    ("true", "", "ring"),  # MpiDefault may be pmix
    ("true", "--srun=--mpi=pmi2", "unset"),
    ("export SLURM_MPI_TYPE=pmix", "--srun=--mpi=none", "unset"),
])
def test_how_fences_are_made_is_said_for_pmix(cluster, environment, option, expected):
    """Unless the user says it, or has said that another MPI is to be started."""
    command = f"{environment}; selastic-run {option} /bin/sh -c 'echo fences ${{SLURM_PMIX_FENCE:-unset}}'"
    lines = run(cluster, command)
    assert [line for line in lines if line.startswith("fences")] == 3 * [f"fences {expected}"], lines
