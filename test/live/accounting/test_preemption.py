# SPDX-License-Identifier: MIT
"""Preemption by QOS: malleable jobs shrink first, and what QOS say of preemption holds."""

import pytest
from conftest import OPTIONS, USER, Account, skip_without_what_it_needs
from elastic_live import ELASTIC, Cluster, wait_until

pytestmark = [pytest.mark.modes("ms")]
CONF = ["PriorityType=priority/multifactor", "PriorityWeightQOS=1000", "PreemptType=preempt/elastic_qos",
        "PreemptMode=REQUEUE"]
LOOPS = "SchedulerParameters=bf_interval=1,sched_interval=2,batch_sched_delay=0"


@pytest.fixture(scope="module", params=["slurm", "elastic"])
def starts(request):
    """Who starts jobs."""
    return request.param


@pytest.fixture(scope="module")
def cluster(request, starts):
    skip_without_what_it_needs()
    mode, select = request.param
    settings = {**ELASTIC, "Policy": "easy", "Starts": starts, "PreemptShrinkTime": 30}
    with Cluster(mode, select, build=request.config.getoption("--build"),
                 conf=CONF + ([LOOPS] if starts == "slurm" else []),
                 elastic=[f"{key}={value}" for key, value in settings.items()], options=OPTIONS) as started:
        for qos, more in [("low", []), ("polite", ["GraceTime=4"]), ("gone", ["PreemptMode=cancel"]),
                          ("new", ["PreemptExemptTime=1:00:00"]), ("high", ["Preempt=low,polite,gone,new"])]:
            started.run("sacctmgr", "--immediate", "add", "qos", qos,
                        f"Priority={1000 if qos == 'high' else 0}", *more)
        yield started


@pytest.fixture
def account(cluster):
    made = Account(cluster)
    made.sacctmgr("modify", "user", USER, "where", f"account={made.name}", "set",
                  "qos=normal,low,polite,gone,new,high")
    return made


def high(account, nodes):
    return account.sbatch("-q", "high", f"-N{nodes}", "--exclusive", "--time=1", wrap="sleep 600")


def restarts(cluster, job):
    return int(cluster.job(job)["Restarts"])


def test_who_would_be_preempted_shrinks_instead(cluster, account):
    app = account.actor("malleable,min=2,max=8", "-N8", "-q", "low")
    job = high(account, 4)
    assert app.take_shrink()["size"] == 4
    cluster.wait_state(job, "RUNNING")
    assert restarts(cluster, app.job) == 0


def test_a_qos_that_may_not_be_preempted_is_not_asked(cluster, account):
    app = account.actor("malleable,min=2,max=8", "-N8", "-q", "normal")
    high(account, 4)
    cluster.wait_two_passes()
    cluster.wait_two_passes()
    app.no_event()


def test_who_is_exempt_is_not_asked(cluster, account):
    app = account.actor("malleable,min=2,max=8", "-N8", "-q", "new")
    job = high(account, 4)
    cluster.wait_two_passes()
    cluster.wait_two_passes()
    app.no_event()
    assert cluster.state(job) == "PENDING"


def test_the_grace_time_is_slurms(cluster, account):
    app = account.actor("malleable,min=6,max=8", "-N8", "-q", "polite", "--requeue")
    job = high(account, 4)
    wait_until(lambda: restarts(cluster, app.job) == 1, "it is requeued", within=60)
    cluster.wait_state(job, "RUNNING")


def test_the_mode_of_a_qos_is_slurms(cluster, account):
    app = account.actor("malleable,min=6,max=8", "-N8", "-q", "gone")
    job = high(account, 4)
    cluster.wait_state(job, "RUNNING")
    cluster.wait_state(app.job, "PREEMPTED")


def test_two_of_different_qos_are_asked_for_a_part_each(cluster, account):
    apps = [account.actor("malleable,min=2,max=4", "-N4", "-q", qos) for qos in ("low", "gone")]
    job = high(account, 4)
    offers = [app.event("offer_shrink") for app in apps]
    for app, offer in zip(apps, offers):
        app.do("accept", offer["op"])
        app.event("accepted")
        app.do("done", offer["op"])
    cluster.wait_state(job, "RUNNING")
    assert [app.event("resized")["size"] for app in apps] == [2, 2]
