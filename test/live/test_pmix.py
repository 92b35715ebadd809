# SPDX-License-Identifier: MIT
"""selastic-run --pmix: a program that is linked with PMIx and nothing of ours has its job grow and shrink in place.

It asks by PMIx_Allocation_request_nb(), and is told by the answer and by an event.
"""
import pathlib
import subprocess

import pytest

from elastic_live import wait_until

HERE = pathlib.Path(__file__).parent


@pytest.fixture
def asks(cluster):
    """Starts the program with what it is to ask; the job."""
    if cluster.run("selastic-run", "--pmix", "--dry-run", "prog", check=False).code == 2:
        pytest.skip("selastic-run is built without PMIx (libpmix-dev)")
    flags = subprocess.run(["pkg-config", "--cflags", "--libs", "pmix"], stdout=subprocess.PIPE, text=True, check=True)
    program = cluster.tools / "pmix_asks"
    if not program.exists():
        subprocess.run(["cc", "-std=c11", "-D_GNU_SOURCE", "-O1", str(HERE / "pmix_asks.c"), "-o", str(program),
                        "-pthread", *flags.stdout.split()], check=True)

    def start(*what, nodes=1, annotation="evolving,min=1,max=6"):
        return cluster.sbatch(f"-N{nodes}", f"--elastic={annotation}",
                              wrap=f"selastic-run --pmix {program} {' '.join(map(str, what))}")
    return start


def name(status):
    """PMIx 4 says NOT-SUPPORTED, and ERR-... of some; later ones PMIX_ERR_NOT_SUPPORTED."""
    return status.replace("_", "-").removeprefix("PMIX-").removeprefix("ERR-").removeprefix("ERROR-")


def finish(cluster, job):
    assert cluster.wait_state(job, "COMPLETED", "FAILED", within=60) == "COMPLETED", cluster.output(job)
    return cluster.output(job).splitlines()


def test_extend_release_and_reacquire(cluster, asks):
    job = asks("extend", 2, "release", 1, "reacquire", 0)
    lines = finish(cluster, job)
    told = [line.split() for line in lines if line.split()[0] in ("answer", "event")]
    assert [(words[0], name(words[1])) for words in told] == [("answer", "SUCCESS"), ("event", "resized")] * 3, lines
    for words in told:
        assert f"job={job}" in words, lines
    assert [words[-1] for words in told] == ["nodes=2"] * 2 + ["nodes=1"] * 4, lines
    for (answer, event), what in zip(zip(told[::2], told[1::2]), ("extend", "release", "reacquire")):
        assert f"id={what}" in answer and f"id={what}" in event and answer[2:] == event[2:], lines
    sizes = [(entry["kind"], entry["from"], entry["to"]) for entry in cluster.journal(job, "resize")]
    assert sizes == [("expand", 1, 3), ("shrink", 3, 2), ("expand", 2, 3)], sizes


def test_all_processes_have_the_server(cluster, asks):
    lines = finish(cluster, asks("extend", 1, nodes=3))
    assert {f"rank {rank} of 3" for rank in range(3)} <= set(lines), lines
    assert not [line for line in lines if line.startswith("fence")], lines


def test_what_cannot_be(cluster, asks):
    job = asks("extend", 9, "release", 1, "new", 1)
    lines = finish(cluster, job)
    statuses = [name(line.split()[1]) for line in lines if line.startswith("answer")]
    assert statuses == ["OUT-OF-RESOURCE", "BAD-PARAM", "NOT-SUPPORTED"], lines
    assert not cluster.journal(job, "resize")


def test_a_request_that_waits_ends_with_the_program(cluster, asks):
    """The program is killed while it waits; nothing is left of what it asked for."""
    blocker = cluster.sbatch("-N7", wrap="sleep 600")
    cluster.wait_state(blocker, "RUNNING")
    job = asks("extend", 2)
    cluster.wait_journal(job, "request")
    cluster.run("scancel", job)
    cluster.wait_state(job, "CANCELLED")
    cluster.run("scancel", blocker)
    wait_until(lambda: not cluster.queue(), "the queue is empty")
    assert not cluster.journal(job, "resize")
