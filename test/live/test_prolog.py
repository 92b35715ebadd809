# SPDX-License-Identifier: MIT
"""The prolog of the site runs on nodes that join a job, and before the job is told of them if PrologFlags say so."""

import contextlib
import datetime
import time

import pytest
from elastic_live import ELASTIC, Cluster, minicluster, wait_until

pytestmark = pytest.mark.modes("ms")  # a front end has no prolog at the allocation

# Says where it runs and, but for the first nodes, goes on when it may.
PROLOG = """\
#!/bin/sh
echo $SLURM_JOB_ID $SLURMD_NODENAME >>{base}/ran
while [ ! -e {base}/may-end ]; do sleep 0.05; done
[ ! -e {base}/fail-on-$SLURMD_NODENAME ]
"""


def with_prolog(request, flags, key="Prolog"):
    mode, select = request.param
    cluster = Cluster(mode, select, nodes=6, build=request.config.getoption("--build"),
                      elastic=[f"{key}={value}" for key, value in ELASTIC.items()])
    program = cluster.base / "prolog"
    cluster.conf = [f"{key}={program}", *([f"PrologFlags={flags}"] if flags else [])]
    program.write_text(PROLOG.format(base=cluster.base))
    program.chmod(0o755)
    return cluster


@pytest.fixture(scope="module", params=[("ms", "cons_tres")], ids=["ms"])
def at_allocation(request):
    with with_prolog(request, "Alloc") as started:
        yield started


@pytest.fixture(scope="module", params=[("ms", "cons_tres")], ids=["ms"])
def at_first_step(request):
    with with_prolog(request, "") as started:
        yield started


@pytest.fixture(scope="module", params=[("ms", "cons_tres")], ids=["ms"])
def contained(request):
    with with_prolog(request, "Contain") as started:
        started.allowed_errors = ["If using PrologFlags=Contain for pam_slurm_adopt"]
        yield started


@pytest.fixture(scope="module", params=[("ms", "cons_tres")], ids=["ms"])
def at_controller(request):
    with with_prolog(request, "", "PrologSlurmctld") as started:
        yield started


def may_end(cluster, allowed=True):
    flag = cluster.base / "may-end"
    flag.touch() if allowed else flag.unlink()


def ran(cluster, job):
    """The nodes on which the prolog has begun for a job, in that order."""
    lines = (cluster.base / "ran").read_text().split("\n")
    return [line.split()[1] for line in lines if line.startswith(f"{job} ")]


def accept_growth(cluster, app, size):
    cluster.run("selastic", "expand", app.job, size)
    offer = app.event("offer_expand")
    app.do("accept", offer["op"])
    app.event("accepted")
    return offer["op"]


def test_the_job_is_told_when_the_prolog_has_ended(at_allocation):
    cluster = at_allocation
    may_end(cluster)
    app = cluster.actor("malleable,min=1,max=6", "-N2")
    may_end(cluster, False)
    op = accept_growth(cluster, app, 4)
    cluster.wait_size(app.job, 4)
    joined = cluster.nodes_of(app.job)[2:]
    wait_until(lambda: set(ran(cluster, app.job)[2:]) == set(joined), "the prolog runs on the nodes that joined")
    cluster.wait_two_passes()
    app.no_event()
    may_end(cluster)
    resized = app.event("resized")
    assert (resized["op"], resized["size"]) == (op, 4)
    app.do("done", op)
    cluster.wait_journal(app.job, "ready", op=op)
    assert sorted(ran(cluster, app.job)) == sorted(cluster.nodes_of(app.job)), "once on each node"
    cluster.check_as_before()


def test_a_controller_that_dies_meanwhile(at_allocation):
    cluster = at_allocation
    may_end(cluster)
    app = cluster.actor("malleable,min=1,max=6", "-N2")
    may_end(cluster, False)
    op = accept_growth(cluster, app, 3)
    cluster.wait_size(app.job, 3)
    wait_until(lambda: b'"joined"' in cluster.slurm_state("elastic_state"), "the state is saved")
    cluster.kill_controller()
    cluster.start_controller()
    wait_until(lambda: app.state()["connected"], "the application has reconnected")
    wait_until(lambda: "unk" not in " ".join(cluster.node_states().values()), "all nodes have reported")
    resized = app.event("resized")
    assert (resized["op"], resized["size"]) == (op, 3)
    app.do("done", op)
    may_end(cluster)
    assert sorted(ran(cluster, app.job)) == sorted(cluster.nodes_of(app.job)), "once on each node"
    cluster.check_as_before()


def test_without_the_flag_it_runs_with_the_first_step(at_first_step):
    cluster = at_first_step
    may_end(cluster)
    app = cluster.actor("malleable,min=1,max=6", "-N1")
    accept_growth(cluster, app, 2)
    assert app.event("resized")["size"] == 2
    first, second = cluster.nodes_of(app.job)
    assert ran(cluster, app.job) == [first]
    assert app.shell(f"SLURM_JOB_ID={app.job} srun -N1 -n1 -w {second} true")["code"] == 0
    assert ran(cluster, app.job) == [first, second]
    cluster.check_as_before()


def extern_steps(cluster, job):
    """On how many nodes the job's extern step runs; other clusters have jobs of that number, too."""
    def is_one(process):
        with contextlib.suppress(OSError):  # it has ended
            return minicluster.has_open(process, cluster.dir)
        return False

    processes = [line.split(maxsplit=1) for line in cluster.run("ps", "-eo", "pid,args").out.splitlines()]
    return sum(is_one(pid) for pid, name in processes if name.strip() == f"slurmstepd: [{job}.extern]")


def test_the_extern_step_grows_and_shrinks_with_the_job(contained):
    """Its nodes may leave and come back, and Slurm has at most one record of it."""
    cluster = contained
    may_end(cluster)
    app = cluster.actor("malleable,min=1,max=6", "-N2")
    for size in (3, 1, 6, 2, 5):
        command = "expand" if size > len(cluster.nodes_of(app.job)) else "shrink"
        cluster.run("selastic", command, app.job, size)
        if command == "expand":
            assert app.take_expand()["size"] == size
        else:
            app.take_shrink()
        wait_until(lambda: extern_steps(cluster, app.job) == size, f"the extern step runs on {size} nodes")
        assert cluster.run("squeue", "--steps").out.count(".extern") <= 1
    cluster.restart_controller()
    wait_until(lambda: app.state()["connected"], "the application has reconnected")
    cluster.run("scancel", app.job)
    wait_until(lambda: extern_steps(cluster, app.job) == 0, "it has ended everywhere")
    cluster.check_as_before()


def time_of(cluster, job, key):
    return datetime.datetime.fromisoformat(cluster.job(job)[key]).timestamp()


def test_a_job_may_shrink_though_slurm_has_put_its_end_off(at_controller):
    """PrologSlurmctld takes seconds, and Slurm gives the job the time again: nobody has set another limit."""
    cluster = at_controller
    app = cluster.actor("malleable,min=1,max=6", "-N4", "--time=10", wait=False)
    cluster.wait_state(app.job, "CONFIGURING", "RUNNING")
    start, end = (time_of(cluster, app.job, key) for key in ("StartTime", "EndTime"))
    wait_until(lambda: time.time() > start + 2, "seconds have passed")
    may_end(cluster)
    app.wait_connected()
    wait_until(lambda: time_of(cluster, app.job, "EndTime") >= end + 2, "Slurm has put the end off")
    cluster.wait_two_passes()
    left = time_of(cluster, app.job, "EndTime")
    cluster.run("selastic", "shrink", app.job, 2)
    assert app.take_shrink()["size"] == 2
    shrunk = cluster.journal(app.job, "resize")[0]["time"]
    assert abs(time_of(cluster, app.job, "EndTime") - (shrunk + 2 * (left - shrunk))) < 3
    assert "was changed by others" not in cluster.log
    cluster.check_as_before()
