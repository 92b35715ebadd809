# SPDX-License-Identifier: MIT
"""Clusters for the live tests, and what holds after each of them.

One cluster a mode for the whole session, since starting one costs seconds, but of a module's own.
After every test all its jobs are ended and the cluster must be as before:
nothing in the queue, every node idle, slurmctld the same process.  After every
module the journal must replay without a violation, and no daemon's log may have
an error but those that the tests have announced (`expect_errors`).  Where this does
not hold another cluster takes its place, so that one failure is not all the later ones' too.
"""

import os
import signal
import sys
import time
from collections import Counter

import pytest

sys.dont_write_bytecode = True

from elastic_live import BESIDE_SLURM, CLONE, ELASTIC, Cluster  # noqa: E402

# What tests want to find in slurm.conf.
CONF = [
    "Licenses=beer:2",
    "GresTypes=gpu",
    "PrivateData=events",
    "JobCompType=jobcomp/filetxt",
    "JobCompLoc=@DIR@/log/jobcomp",
    "PartitionName=left Nodes=n[1-4] MaxTime=3 DefaultTime=1 State=UP",
    "PartitionName=shared Nodes=n[1-8] OverSubscribe=NO DefaultTime=1 State=UP",
    "PriorityType=priority/basic",
    "ScronParameters=enable",
]

# The session's cluster goes on as long as the parameter is the same object.
CONFIGURATIONS = {(mode, select): (mode, select)
                  for mode in ("ms", "fe") for select in ("cons_tres", "linear")}


def pytest_addoption(parser):
    group = parser.getgroup("live")
    group.addoption("--mode", action="append", choices=["ms", "fe"],
                    help="one slurmd a node, or the front-end emulator (default: both)")
    group.addoption("--select", action="append", choices=["cons_tres", "linear"],
                    help="default: cons_tres, and the tests marked smoke with linear too")
    group.addoption("--build", default=os.environ.get("ELASTIC_BUILD", str(CLONE / "build")),
                    help="the build tree (default: $ELASTIC_BUILD, else the clone's build)")


# When contribs/check has no more minutes for another test, as time.time(); unset, there is always time.
UNTIL = float(os.environ.get("ELASTIC_CHECK_UNTIL", "inf"))
left_out = Counter()  # tests, by their file


def pytest_configure():
    """Whatever ends the tests, the clusters are taken down: as after Ctrl-C."""
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.default_int_handler)


def pytest_collection_modifyitems(items):
    """Beside Slurm's loops, what is about starts of our own has no meaning: the marker says why."""
    for item in items if BESIDE_SLURM else []:
        marker = item.get_closest_marker("starts_itself")
        if marker:
            item.add_marker(pytest.mark.skip(reason=f"beside Slurm: {marker.args[0]}"))


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item):
    """Before any fixture, since a cluster takes seconds."""
    if time.time() >= UNTIL:
        left_out[item.path.name] += 1
        pytest.skip("left out: its minutes are over")


def pytest_generate_tests(metafunc):
    if "cluster" not in metafunc.fixturenames:
        return
    smoke = metafunc.definition.get_closest_marker("smoke")
    selects = metafunc.config.getoption("--select")
    if not selects:
        selects = ["cons_tres", "linear"] if smoke else ["cons_tres"]
    marker = metafunc.definition.get_closest_marker("modes")
    modes = metafunc.config.getoption("--mode") or ["ms", "fe"]
    if marker:
        modes = [mode for mode in modes if mode in marker.args]
    parameters = [CONFIGURATIONS[mode, select] for select in selects for mode in modes]
    # A cluster that a module makes for itself goes with it: idle ones would take processors from all later tests.
    scope = "module" if hasattr(metafunc.module, "cluster") else "session"
    metafunc.parametrize("cluster", parameters, indirect=True, scope=scope,
                         ids=["-".join(parameter) for parameter in parameters])


def pytest_terminal_summary(terminalreporter):
    """What a test said that was tried once more: its second try does not show it."""
    for report in terminalreporter.getreports("rerun"):
        terminalreporter.section(f"tried once more: {report.nodeid} ({report.when})", sep="_")
        terminalreporter.line(report.longreprtext)
    if left_out:
        files = ", ".join(f"{number} of {name}" for name, number in left_out.items())
        terminalreporter.line(f"left out: {left_out.total()} tests, the minutes are over: {files}")
    if Cluster.deaths:
        terminalreporter.section(f"slurmctld has died {Cluster.deaths} times", sep="_")


def pytest_sessionfinish(session):
    """A controller that has died is a failure even where the test's second try went well."""
    if Cluster.deaths:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


@pytest.fixture(scope="session")
def cluster(request):
    mode, select = request.param
    with Cluster(mode, select, build=request.config.getoption("--build"), conf=CONF,
                 elastic=[f"{key}={value}" for key, value in ELASTIC.items()]) as started:
        yield started


@pytest.fixture
def elastic(cluster):
    """elastic(Key=value...): settings besides the usual ones, for this test only."""
    changed = []

    def change(**settings):
        changed.append(True)
        cluster.set_elastic(**{**ELASTIC, **settings})

    yield change
    if changed:
        cluster.set_elastic(**ELASTIC)


@pytest.fixture
def expect_errors(cluster):
    """A list to which a test adds regular expressions of log lines it provokes."""
    allowed = []
    cluster.allowed_errors = allowed
    return allowed


@pytest.fixture(autouse=True)
def as_before(request):
    """The cluster after a test is as it was before."""
    if "cluster" not in request.fixturenames:
        yield
        return
    cluster = request.getfixturevalue("cluster")
    cluster.allowed_errors = []
    yield
    try:
        cluster.check_as_before()
    except BaseException:
        cluster.renew()
        raise


def is_root():
    return os.getuid() == 0


@pytest.fixture
def stranger():
    """An ordinary user who is not the tests' own. Newer Slurms take nobody for no user."""
    if not is_root():
        pytest.skip("only root can act as another user")
    return "daemon"
