# SPDX-License-Identifier: MIT
"""Jobs that may preempt others: malleable ones shrink first, whoever starts jobs."""

import re

import pytest
from elastic_live import ELASTIC, Cluster, wait_until

pytestmark = [pytest.mark.modes("ms")]
CONF = ["PreemptType=preempt/elastic_partition_prio", "PreemptMode=REQUEUE",
        "PartitionName=urgent Nodes=n[1-8] PriorityTier=10 DefaultTime=1 State=UP",
        "PartitionName=cheap Nodes=n[1-8] PriorityTier=1 PreemptMode=CANCEL DefaultTime=1 State=UP",
        "PartitionName=polite Nodes=n[1-8] PriorityTier=1 GraceTime=5 DefaultTime=1 State=UP",
        "PartitionName=spared Nodes=n[1-8] PriorityTier=1 PreemptMode=OFF DefaultTime=1 State=UP"]
OF_SLURM = ["SchedulerParameters=bf_interval=1,sched_interval=2,batch_sched_delay=0"]
ASKED_FOR = 30  # PreemptShrinkTime, in the tests that do not wait for it


@pytest.fixture(scope="module", params=["slurm", "elastic"])
def starts(request):
    """Who starts jobs."""
    return request.param


@pytest.fixture(scope="module")
def cluster(request, starts):
    mode, select = request.param
    settings = {**ELASTIC, "Policy": "easy", "Starts": starts, "PreemptShrinkTime": ASKED_FOR}
    with Cluster(mode, select, build=request.config.getoption("--build"),
                 conf=CONF + (OF_SLURM if starts == "slurm" else []),
                 elastic=[f"{key}={value}" for key, value in settings.items()]) as started:
        started.settings = settings
        yield started


@pytest.fixture
def ask_for(cluster):
    """ask_for(seconds): PreemptShrinkTime, for this test."""
    changed = []

    def change(seconds):
        changed.append(seconds)
        cluster.set_elastic(**{**cluster.settings, "PreemptShrinkTime": seconds})

    yield change
    if changed:
        cluster.set_elastic(**cluster.settings)


def urgent(cluster, nodes, *arguments):
    return cluster.sbatch("-p", "urgent", f"-N{nodes}", "--exclusive", "--time=1", *arguments, wrap="sleep 600")


def rigid(cluster, nodes, *arguments):
    job = cluster.sbatch(f"-N{nodes}", "--exclusive", "--time=5", *arguments, wrap="sleep 600")
    cluster.wait_state(job, "RUNNING")
    return job


def runs(cluster, *jobs):
    return all(cluster.state(job) == "RUNNING" for job in jobs)


def restarts(cluster, job):
    return int(cluster.job(job)["Restarts"])


def wait_preempted(cluster, victim, preemptor):
    """Slurm looks for times that are over every half a minute."""
    wait_until(lambda: restarts(cluster, victim) == 1, f"job {victim} is requeued", within=60)
    cluster.wait_state(preemptor, "RUNNING")


def offers(cluster, job):
    return [offer for offer in cluster.journal(job, "offer") if offer["kind"] == "shrink"]


def test_who_would_be_preempted_shrinks_instead(cluster):
    app = cluster.actor("malleable,min=2,max=8", "-N8")
    job = urgent(cluster, 4)
    assert app.take_shrink()["size"] == 4
    cluster.wait_state(job, "RUNNING")
    assert runs(cluster, app.job) and restarts(cluster, app.job) == 0
    assert offers(cluster, app.job)[0]["reason"] == f"a job that may preempt it needs the nodes: job {job}"


def test_rigid_jobs_are_not_preempted_in_place_of_who_is_asked(cluster):
    others = [rigid(cluster, 2), rigid(cluster, 2)]
    app = cluster.actor("malleable,min=2,max=8", "-N4")
    job = urgent(cluster, 2)
    offer = app.event("offer_shrink")
    cluster.wait_two_passes()
    assert cluster.state(job) == "PENDING" and runs(cluster, app.job, *others)
    app.do("accept", offer["op"])
    app.event("accepted")
    app.do("done", offer["op"])
    cluster.wait_state(job, "RUNNING")
    assert runs(cluster, app.job, *others)


def test_idle_nodes_are_taken_besides(cluster):
    app = cluster.actor("malleable,min=2,max=8", "-N6")
    job = urgent(cluster, 4)
    assert app.take_shrink()["size"] == 4
    cluster.wait_state(job, "RUNNING")


@pytest.mark.parametrize("minimum", [6, 8])
def test_who_cannot_give_enough_is_preempted_at_once(cluster, minimum):
    app = cluster.actor(f"malleable,min={minimum},max=8", "-N8", "--requeue")
    job = urgent(cluster, 4)
    wait_preempted(cluster, app.job, job)
    assert not offers(cluster, app.job)


def test_who_declines_is_preempted(cluster):
    app = cluster.actor("malleable,min=2,max=8", "-N8", "--requeue")
    job = urgent(cluster, 4)
    app.do("decline", app.event("offer_shrink")["op"], None)
    wait_preempted(cluster, app.job, job)


def test_who_is_deaf_is_preempted_in_time(cluster, ask_for):
    ask_for(2)
    app = cluster.actor("malleable,min=2,max=8", "-N8", "--requeue")
    app.ask("listen", on=False)
    since = len(cluster.log)
    job = urgent(cluster, 4)
    wait_preempted(cluster, app.job, job)
    assert f"job {job}: may preempt malleable jobs: they have not shrunk within PreemptShrinkTime=2" \
        in cluster.log[since:]


def test_who_takes_too_long_to_leave_is_preempted(cluster, ask_for):
    ask_for(3)
    app = cluster.actor("malleable,min=2,max=8", "-N8", "--requeue")
    job = urgent(cluster, 4)
    app.do("accept", app.event("offer_shrink")["op"])
    app.event("accepted")
    wait_preempted(cluster, app.job, job)


def test_nobody_is_asked_where_that_is_off(cluster, ask_for):
    ask_for(0)
    app = cluster.actor("malleable,min=2,max=8", "-N8", "--requeue")
    job = urgent(cluster, 4)
    wait_preempted(cluster, app.job, job)
    assert not offers(cluster, app.job)


def test_one_shrinks_and_the_other_is_deaf(cluster, ask_for):
    """So the one that has shrunk may be spared, and is never asked in vain twice."""
    ask_for(3)
    first = cluster.actor("malleable,min=2,max=4", "-N4", "--requeue")
    second = cluster.actor("malleable,min=2,max=4", "-N4", "--requeue")
    second.ask("listen", on=False)
    job = urgent(cluster, 4)
    offer = first.event("offer_shrink")
    first.do("accept", offer["op"])
    first.event("accepted")
    first.do("done", offer["op"])
    cluster.wait_state(job, "RUNNING")
    assert restarts(cluster, first.job) + restarts(cluster, second.job) == 1
    cluster.end_jobs()  # a deaf one does not come back after a reconfiguration


def test_two_that_may_preempt_get_a_part_each(cluster):
    app = cluster.actor("malleable,min=2,max=8", "-N8")
    jobs = [urgent(cluster, 3), urgent(cluster, 3)]
    for size in (5, 2):
        assert app.take_shrink()["size"] == size
    for job in jobs:
        cluster.wait_state(job, "RUNNING")
    assert restarts(cluster, app.job) == 0


def test_two_malleable_jobs_give_a_part_each(cluster):
    apps = [cluster.actor("malleable,min=2,max=4", "-N4") for _ in range(2)]
    job = urgent(cluster, 4)
    offers = [app.event("offer_shrink") for app in apps]
    for app, offer in zip(apps, offers):
        app.do("accept", offer["op"])
        app.event("accepted")
        app.do("done", offer["op"])
    assert [app.event("resized")["size"] for app in apps] == [2, 2]
    cluster.wait_state(job, "RUNNING")
    assert runs(cluster, *(app.job for app in apps))


def test_neither_jobs_of_the_same_tier_nor_spared_ones_are_asked(cluster):
    apps = [cluster.actor("malleable,min=2,max=4", "-N4", "-p", partition) for partition in ("urgent", "spared")]
    job = urgent(cluster, 2)
    cluster.wait_two_passes()
    cluster.wait_two_passes()
    for app in apps:
        app.no_event()
    assert cluster.state(job) == "PENDING"


def test_a_cancelled_victim_is_cancelled_only_in_vain(cluster):
    """PreemptMode=CANCEL of its partition."""
    app = cluster.actor("malleable,min=2,max=8", "-N8", "-p", "cheap")
    job = urgent(cluster, 4)
    assert app.take_shrink()["size"] == 4
    cluster.wait_state(job, "RUNNING")
    another = urgent(cluster, 4)
    cluster.wait_state(another, "RUNNING")
    cluster.wait_state(app.job, "PREEMPTED")


def test_the_grace_time_is_slurms(cluster):
    """A job that cannot shrink so far is told, and has that time."""
    app = cluster.actor("malleable,min=6,max=8", "-N8", "-p", "polite", "--requeue")
    job = urgent(cluster, 4)
    wait_until(lambda: cluster.job(app.job)["PreemptEligibleTime"] != "Unknown"
               and cluster.job(app.job).get("PreemptTime") not in (None, "None"), "it is being preempted")
    wait_preempted(cluster, app.job, job)


def test_an_element_of_an_array_shrinks(cluster):
    app = cluster.actor("malleable,min=2,max=8", "-N8", "--array=7")
    job = urgent(cluster, 4)
    assert app.take_shrink()["size"] == 4
    cluster.wait_state(job, "RUNNING")


def test_elements_of_an_array_preempt_one_after_another(cluster):
    app = cluster.actor("malleable,min=2,max=8", "-N8")
    array = urgent(cluster, 3, "--array=1-2")
    for size in (5, 2):
        assert app.take_shrink()["size"] == size
    wait_until(lambda: sum("RUNNING" in line for line in cluster.queue() if line.startswith(f"{array}")) == 2
               or len(re.findall(r"RUNNING", cluster.run("squeue", "-h", "-j", array, "-o", "%T").out)) == 2,
               "both elements run")
    assert restarts(cluster, app.job) == 0


def test_what_is_in_flight_is_waited_for(cluster):
    """An operator's order, then what is asked for the job that may preempt."""
    app = cluster.actor("malleable,min=2,max=8", "-N8")
    cluster.run("selastic", "shrink", app.job, 7)
    ordered = app.event("offer_shrink")
    job = urgent(cluster, 4)
    cluster.wait_two_passes()
    assert runs(cluster, app.job)
    app.do("accept", ordered["op"])
    app.event("accepted")
    app.do("done", ordered["op"])
    assert app.event("resized")["size"] == 7
    assert app.take_shrink()["size"] == 4
    cluster.wait_state(job, "RUNNING")
    assert restarts(cluster, app.job) == 0


def test_a_controller_that_is_killed_meanwhile_preempts_nobody(cluster):
    app = cluster.actor("malleable,min=2,max=8", "-N8")
    job = urgent(cluster, 4)
    offer = app.event("offer_shrink")
    app.do("accept", offer["op"])
    app.event("accepted")
    wait_until(lambda: all(mark.encode() in cluster.slurm_state("job_state") for mark in (app.path, "urgent")),
               "Slurm has saved both jobs")
    cluster.kill_controller()
    cluster.start_controller()
    cluster.wait_connected(app.job)
    app.do("done", offer["op"])
    cluster.wait_state(job, "RUNNING")
    assert runs(cluster, app.job) and restarts(cluster, app.job) == 0


def test_a_controller_that_is_killed_before_the_answer_takes_it(cluster):
    app = cluster.actor("malleable,min=2,max=8", "-N8")
    job = urgent(cluster, 4)
    offer = app.event("offer_shrink")
    wait_until(lambda: all(mark.encode() in cluster.slurm_state("job_state") for mark in (app.path, "urgent")),
               "Slurm has saved both jobs")
    cluster.kill_controller()
    cluster.start_controller()
    cluster.wait_connected(app.job)
    app.do("accept", offer["op"])
    app.event("accepted")
    app.do("done", offer["op"])
    cluster.wait_state(job, "RUNNING")
    assert runs(cluster, app.job) and restarts(cluster, app.job) == 0


def test_who_is_cancelled_meanwhile_takes_nothing(cluster):
    app = cluster.actor("malleable,min=2,max=8", "-N8")
    job = urgent(cluster, 4)
    offer = app.event("offer_shrink")
    cluster.run("scancel", job)
    assert app.event("ended")["op"] == offer["op"]
    assert runs(cluster, app.job)


def test_a_job_that_waits_for_another_asks_nobody(cluster):
    app = cluster.actor("malleable,min=2,max=8", "-N8")
    first = cluster.sbatch("--hold", wrap="true")
    job = urgent(cluster, 4, f"--dependency=afterany:{first}")
    cluster.wait_two_passes()
    app.no_event()
    cluster.run("scancel", first)
    assert app.take_shrink()["size"] == 4
    cluster.wait_state(job, "RUNNING")


def test_who_is_held_meanwhile_asks_anew(cluster):
    app = cluster.actor("malleable,min=2,max=8", "-N8")
    job = urgent(cluster, 4)
    offer = app.event("offer_shrink")
    cluster.run("scontrol", "hold", job)
    assert app.event("ended")["op"] == offer["op"]
    cluster.run("scontrol", "release", job)
    assert app.take_shrink()["size"] == 4
    cluster.wait_state(job, "RUNNING")
    assert restarts(cluster, app.job) == 0


def test_who_wants_more_meanwhile_asks_for_the_rest(cluster):
    app = cluster.actor("malleable,min=2,max=8", "-N8")
    job = urgent(cluster, 4)
    offer = app.event("offer_shrink")
    cluster.run("scontrol", "update", f"JobId={job}", "NumNodes=6-6")
    app.do("accept", offer["op"])
    app.event("accepted")
    app.do("done", offer["op"])
    assert app.event("resized")["size"] == 4
    assert app.take_shrink()["size"] == 2
    cluster.wait_state(job, "RUNNING")
    assert len(cluster.nodes_of(job)) == 6 and restarts(cluster, app.job) == 0


def test_the_nodes_that_it_requires_are_given_up(cluster):
    app = cluster.actor("malleable,min=2,max=8", "-N8")
    required = cluster.nodes_of(app.job)[2:4]  # not those that are left first
    job = urgent(cluster, 2, "-w", ",".join(required))
    assert app.take_shrink()["size"] == 6
    cluster.wait_state(job, "RUNNING")
    assert cluster.nodes_of(job) == required and restarts(cluster, app.job) == 0


def test_workers_of_selastic_run_are_ended_on_some_nodes(cluster):
    def workers():
        return cluster.run("squeue", "-h", "--steps", "-j", job, "-o", "%j").out.count("sleep")

    job = cluster.sbatch("--elastic=malleable,min=2,max=8", "-N8", "--requeue", "--time=5",
                         wrap="selastic-run --workers sleep 600")
    wait_until(lambda: workers() == 8, "all workers run")
    other = urgent(cluster, 4)
    cluster.wait_state(other, "RUNNING")
    cluster.wait_size(job, 4)
    assert runs(cluster, job) and restarts(cluster, job) == 0
    wait_until(lambda: workers() == 4, lambda: f"four workers are left, not {workers()}")
