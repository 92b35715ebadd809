# SPDX-License-Identifier: MIT
"""Each benchmark ends and prints the table that README.md says it prints: a short run of it, no times looked at.

$ELASTIC_BUILD names the build (default: the clone's build).
"""

import os
import pathlib
import re
import shutil
import subprocess

import pytest

HERE = pathlib.Path(__file__).resolve().parent
BUILD = pathlib.Path(os.environ.get("ELASTIC_BUILD", HERE.parent.parent / "build")).resolve()
README = (HERE / "README.md").read_text().splitlines()
PATIENCE = 300  # seconds

NUMBER = r"\d[\d,]*(\.\d+)?(e[-+]\d+)?"
MEASURED = re.compile(rf"{NUMBER}( to {NUMBER})?( (ms|s|MB))?")
# Columns of words and of what is asked for.
WORDS = {"growth by one idle node", "held jobs", "nodes / running / pending", "policy", "run", "log", "aim", "jobs",
         "MPI", "preemption", "who starts jobs", "", "a step"}


def tables(text):
    """Each table as its rows of cells, the head first."""
    found, before = [], ""
    for line in text.splitlines():
        if line.startswith("|"):
            if not before.startswith("|"):
                found.append([])
            found[-1].append([cell.strip() for cell in line.strip("|").split("|")])
        before = line
    return found


def head_line(cells):
    return f"| {' | '.join(cells)} |".replace("|  |", "| |")


def check_table(table, rows):
    head, rule, *body = table
    begin = head_line(head)[:-2]
    assert any(line.startswith(begin) for line in README), f"README.md has no table that begins with {begin}"
    assert set(rule) == {"---"} and len(rule) == len(head)
    assert len(body) == rows, body
    for row in body:
        assert len(row) == len(head), row
        for column, cell in zip(head, row):
            assert column in WORDS or MEASURED.fullmatch(cell), f"{column}: {cell}"


def check(program, arguments, *rows):
    """It ends in time and well, and prints tables of so many rows."""
    done = subprocess.run(["timeout", "--kill-after=60", str(PATIENCE), program, *arguments.split()], text=True,
                          env={**os.environ, "ELASTIC_BUILD": str(BUILD)}, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE)
    assert done.returncode == 0, f"{done.returncode}\n{done.stdout}{done.stderr}"
    found = tables(done.stdout)
    assert len(found) == len(rows), done.stdout
    for table, count in zip(found, rows):
        check_table(table, count)


def test_resize_latency():
    check(HERE / "resize_latency", "--rounds 3 --again 1 --by-hand 1", 6)


def test_resize_latency_frontend():
    check(HERE / "resize_latency", "--held 0 --held 3 --rounds 3", 2)


def test_planning_pass_frontend():
    check(HERE / "planning_pass", "--nodes 40 --running 8 --pending 20 --passes 3 --seed 71", 1)


def test_planning_pass_frontend_with_applications():
    scraped = "--scraped" if (BUILD / "selastic-serve").exists() else ""  # not built without libmicrohttpd
    check(HERE / "planning_pass",
          f"--nodes 20 --running 6 --pending 9 --passes 3 --connected 2 {scraped} --reservation --seed 5", 1)


def test_preemption():
    check(HERE / "preemption", "--urgent 2", 4)


def test_planning_pass_frontend_beside_slurm():
    check(HERE / "planning_pass", "--nodes 20 --running 6 --pending 9 --passes 3 --beside-slurm --seed 5", 1)


@pytest.mark.skipif(not shutil.which("faketime"), reason="faketime is not installed")
def test_starts_frontend():
    check(HERE / "starts", "--jobs 6", 3)


def test_plan_bench():
    check(BUILD / "plan_bench", "easy", 5)


def test_scaling_bench():
    check(BUILD / "scaling_bench", "--most 10000", 2)


def test_simulator_bench():
    check(HERE / "simulator_bench", "--runs 1 --share 0.01", 2, 7, 1)


@pytest.mark.skipif(os.getuid() != 0, reason="only root can give nodes a shared memory of their own")
@pytest.mark.skipif(not list(BUILD.glob("rebirth_probe_*")), reason="built without MPI")
def test_rebirth_bench():
    mpis = [path.name for path in BUILD.glob("rebirth_probe_*") if path.name in
            ("rebirth_probe_openmpi", "rebirth_probe_mpich")]
    check(HERE / "rebirth_bench", "--megabytes 8 --nodes 1 2 --resizes 2", 2 * len(mpis), len(mpis))
