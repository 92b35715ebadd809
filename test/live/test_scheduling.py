# SPDX-License-Identifier: MIT
"""Jobs start in Slurm's order, with EASY backfilling, within every constraint of Slurm."""

import time
from contextlib import contextmanager
from datetime import datetime, timedelta

import pytest

from elastic_live import wait_until


def start_of(cluster, job):
    """When the journal says the job started."""
    return cluster.wait_journal(job, "start")["time"]


def reason(cluster, job, *reasons):
    """Until the job is pending with one of these reasons."""
    wait_until(lambda: cluster.job(job).get("Reason") in reasons,
               lambda: f"job {job} waits for {reasons}: {cluster.job(job)}")
    assert cluster.state(job) == "PENDING"


def fill(cluster, nodes=8, limit=10, seconds=60):
    """A job on so many nodes, running."""
    job = cluster.sbatch(f"-N{nodes}", "--exclusive", f"--time={limit}", wrap=f"sleep {seconds}")
    cluster.wait_state(job, "RUNNING")
    return job


@pytest.mark.smoke
def test_in_order_of_priority(cluster):
    filler = fill(cluster)
    low = cluster.sbatch("-N8", "--exclusive", "--nice=200", wrap="true")
    middle = cluster.sbatch("-N8", "--exclusive", "--nice=100", wrap="true")
    high = cluster.sbatch("-N8", "--exclusive", wrap="true")
    cluster.run("scancel", filler)
    for job in (low, middle, high):
        cluster.wait_state(job, "COMPLETED")
    started = [entry["job"] for entry in cluster.journal(event="start")]
    assert [job for job in started if job in (low, middle, high)] == [high, middle, low]


@pytest.mark.smoke
def test_backfilling(cluster):
    """A short job overtakes the head, a long one that would delay it does not."""
    fill(cluster, nodes=6, limit=10)
    head = cluster.sbatch("-N8", "--exclusive", "--time=5", wrap="sleep 60")
    reason(cluster, head, "Resources")
    long = cluster.sbatch("-N2", "--exclusive", "--time=60", wrap="sleep 60")
    short = cluster.sbatch("-N2", "--exclusive", "--time=5", wrap="true")
    cluster.wait_state(short, "COMPLETED")
    reason(cluster, long, "Priority")
    assert cluster.state(head) == "PENDING"


def test_a_range_of_nodes(cluster):
    """As many as can be had without waiting, as by Slurm's own schedulers."""
    filler = fill(cluster, nodes=3)
    wide = cluster.sbatch("-N2-8", "--exclusive", wrap="sleep 60")
    cluster.wait_size(wide, 5)
    waits = cluster.sbatch("-N2-4", "--exclusive", wrap="sleep 60")
    reason(cluster, waits, "Resources")
    # The filler's nodes come free one after the other, and two would do.
    cluster.run("scontrol", "hold", waits)
    cluster.run("scancel", filler)
    wait_until(lambda: list(cluster.node_states().values()).count("idle") == 3,
               lambda: f"three nodes are idle: {cluster.node_states()}")
    cluster.run("scontrol", "release", waits)
    cluster.wait_size(waits, 3)
    cluster.run("scancel", wide)
    narrow = cluster.sbatch("-N1-8", "--use-min-nodes", "--exclusive", wrap="sleep 60")
    cluster.wait_size(narrow, 1)


def test_a_reserved_start_is_shown(cluster):
    filler = fill(cluster, limit=10)
    head = cluster.sbatch("-N8", "--exclusive", wrap="true")
    reason(cluster, head, "Resources")
    wait_until(lambda: cluster.job(head)["StartTime"] == cluster.job(filler)["EndTime"],
               lambda: f"the head's start is the filler's end: {cluster.job(head)}")


@pytest.mark.starts_itself("backfill tells when jobs start, and goes by limits")
def test_what_an_application_said_of_its_end_counts_until_then(cluster):
    app = cluster.actor("malleable,min=8,max=8", "-N8", "--time=10")
    head = cluster.sbatch("-N8", "--exclusive", wrap="true")
    reason(cluster, head, "Resources")

    def start_is_the_limit():
        return cluster.job(head)["StartTime"] == cluster.job(app.job)["EndTime"]
    wait_until(start_is_the_limit, "the head's start is the limit of the job before it")
    app.do("progress", 4.0)
    wait_until(lambda: not start_is_the_limit(), "the head's start is sooner")
    wait_until(start_is_the_limit, "the head's start is the limit again")


def test_without_backfilling(cluster, elastic):
    elastic(Policy="fcfs")
    fill(cluster, nodes=6)
    head = cluster.sbatch("-N8", "--exclusive", wrap="true")
    short = cluster.sbatch("-N2", "--exclusive", "--time=1", wrap="true")
    reason(cluster, head, "Resources")
    reason(cluster, short, "Priority")


def test_overlapping_partitions(cluster):
    left = [cluster.node_name(number) for number in range(1, 5)]
    first = cluster.sbatch("-N4", "--exclusive", "-p", "left", wrap="sleep 60")
    cluster.wait_state(first, "RUNNING")
    assert cluster.nodes_of(first) == left
    blocked = cluster.sbatch("-N1", "--exclusive", "-p", "left", wrap="true")
    other = cluster.sbatch("-N4", "--exclusive", "-p", "debug", wrap="sleep 60")
    cluster.wait_state(other, "RUNNING")
    assert not set(cluster.nodes_of(other)) & set(left)
    reason(cluster, blocked, "Resources", "Priority")


def test_a_growth_stays_in_the_partition(cluster):
    app = cluster.actor("malleable,min=1,max=4", "-N2", "-p", "left")
    cluster.run("selastic", "expand", app.job, 4)
    assert app.take_expand()["size"] == 4
    assert cluster.nodes_of(app.job) == [cluster.node_name(number) for number in range(1, 5)]


def test_either_partition(cluster):
    left = cluster.sbatch("-N4", "--exclusive", "-p", "left", wrap="sleep 60")
    cluster.wait_state(left, "RUNNING")
    either = cluster.sbatch("-N2", "--exclusive", "-p", "left,debug", "--time=1", wrap="true")
    cluster.wait_state(either, "COMPLETED")


@pytest.fixture
def fast(cluster):
    """The nodes that have this feature."""
    def set_features(features):
        cluster.run("scontrol", "update", "NodeName=n[6-7]", f"AvailableFeatures={features}",
                    f"ActiveFeatures={features}")

    set_features("fast")
    yield ["n6", "n7"]
    cluster.clean()
    set_features("")


def test_features(cluster, fast):
    job = cluster.sbatch("-N2", "--exclusive", "--constraint=fast", wrap="sleep 60")
    cluster.wait_state(job, "RUNNING")
    assert cluster.nodes_of(job) == fast
    waits = cluster.sbatch("-N1", "--exclusive", "--constraint=fast", wrap="true")
    reason(cluster, waits, "Resources", "Priority")


@pytest.mark.parametrize("sharing", [["--exclusive"], []], ids=["whole", "shared"])
def test_a_count_of_features(cluster, fast, sharing):
    """Which the plan does not know: it takes the first nodes there are."""
    job = cluster.sbatch("-N2", *sharing, "--constraint=fast*2", wrap="sleep 60")
    cluster.wait_state(job, "RUNNING")
    assert cluster.nodes_of(job) == fast


@contextmanager
def reservation(cluster, name, nodes, **settings):
    """It begins now and lasts ten minutes if nothing else is said.  Its jobs end before it does."""
    settings = {"StartTime": "now", "Duration": 10, "Users": "root", "Flags": "IGNORE_JOBS"} | settings
    cluster.run("scontrol", "create", "reservation", f"ReservationName={name}", f"Nodes={nodes}",
                *(f"{key}={value}" for key, value in settings.items()))
    try:
        yield
    finally:
        cluster.end_jobs()  # its idle nodes may be shown as reserved, so this is all to wait for
        cluster.run("scontrol", "delete", f"ReservationName={name}")


RESERVED = {"n1", "n2", "n3"}


def test_reservations(cluster):
    with reservation(cluster, "kept", "n[1-3]"):
        outside = cluster.sbatch("-N5", "--exclusive", wrap="sleep 60")
        cluster.wait_state(outside, "RUNNING")
        assert not set(cluster.nodes_of(outside)) & RESERVED
        waits = cluster.sbatch("-N1", "--exclusive", wrap="true")
        inside = cluster.sbatch("-N3", "--exclusive", "--reservation=kept", wrap="sleep 60")
        cluster.wait_state(inside, "RUNNING")
        assert set(cluster.nodes_of(inside)) == RESERVED
        assert cluster.state(waits) == "PENDING"


def test_a_growth_keeps_out_of_reservations(cluster):
    with reservation(cluster, "kept", "n[1-5]", Duration=120, Users="daemon"):
        app = cluster.actor("malleable,min=1,max=8", "-N1")
        cluster.run("selastic", "expand", app.job, 8)
        assert app.take_expand()["size"] == 3
        assert cluster.nodes_of(app.job) == ["n6", "n7", "n8"]


def test_a_growth_passes_a_reservation_behind_its_end(cluster):
    """What counts is when the job ends, not its limit from now on."""
    app = cluster.actor("malleable,min=1,max=8", "-N1", "--time=5")
    began = cluster.wait_journal(app.job, "start")["time"]
    wait_until(lambda: time.time() > began + 3, lambda: "three seconds of the job")
    behind = datetime.fromisoformat(cluster.job(app.job)["EndTime"]) + timedelta(seconds=1)
    with reservation(cluster, "later", "n[1-8]", StartTime=behind.isoformat(), Users="daemon"):
        cluster.run("selastic", "expand", app.job, 8)
        assert app.take_expand()["size"] == 8


def test_a_magnetic_reservation_draws_jobs(cluster):
    """Those that may use it and fit (since 25.11.1 into its time, too), without being asked; others start elsewhere."""
    with reservation(cluster, "drawn", "n[1-3]", Flags="MAGNETIC,IGNORE_JOBS"):
        larger = cluster.sbatch("-N5", "--exclusive", "--time=5", wrap="sleep 60")
        fits = cluster.sbatch("-N2", "--exclusive", "--time=5", wrap="sleep 60")
        waits = cluster.sbatch("-N2", "--exclusive", "--time=5", wrap="sleep 60")
        for job in (larger, fits):
            cluster.wait_state(job, "RUNNING")
        assert not set(cluster.nodes_of(larger)) & RESERVED
        assert set(cluster.nodes_of(fits)) < RESERVED
        assert cluster.job(fits)["Reservation"] == "drawn"
        reason(cluster, waits, "Resources", "Priority")
        assert cluster.job(waits).get("Reservation", "(null)") == "(null)"
        cluster.run("scancel", larger)
        cluster.wait_state(waits, "RUNNING")
        assert not set(cluster.nodes_of(waits)) & RESERVED


def test_one_of_several_reservations(cluster):
    with reservation(cluster, "small", "n[1-2]"), reservation(cluster, "large", "n[3-6]"):
        job = cluster.sbatch("-N4", "--exclusive", "--reservation=small,large", wrap="sleep 60")
        cluster.wait_state(job, "RUNNING")
        assert cluster.nodes_of(job) == ["n3", "n4", "n5", "n6"]


def test_preferred_features(cluster, fast):
    """The nodes with them if there are enough, else any."""
    first = cluster.sbatch("-N2", "--exclusive", "--prefer=fast", wrap="sleep 60")
    cluster.wait_state(first, "RUNNING")
    assert cluster.nodes_of(first) == fast
    second = cluster.sbatch("-N2", "--exclusive", "--prefer=fast", wrap="sleep 60")
    cluster.wait_state(second, "RUNNING")
    assert not set(cluster.nodes_of(second)) & set(fast)


def test_the_other_partition_if_one_refuses(cluster):
    """For a reason that only Slurm knows, when the job is about to start."""
    cluster.run("scontrol", "update", "PartitionName=left", "PriorityTier=9", "MaxCPUsPerNode=1")
    try:
        job = cluster.sbatch("-N2", "--exclusive", "-p", "left,debug", wrap="sleep 60")
        cluster.wait_state(job, "RUNNING")
        assert cluster.job(job)["Partition"] == "debug"
        cluster.run("scancel", job)
        cluster.wait_quiet_queue()
    finally:
        cluster.run("scontrol", "update", "PartitionName=left", "PriorityTier=1",
                    "MaxCPUsPerNode=UNLIMITED")


def test_dependencies(cluster):
    first = cluster.sbatch("-N1", wrap="sleep 0.5")
    after = cluster.sbatch("-N1", f"--dependency=afterok:{first}", wrap="true")
    never = cluster.sbatch("-N1", f"--dependency=afternotok:{first}", wrap="true")
    assert cluster.state(after) == "PENDING"
    cluster.wait_state(after, "COMPLETED")
    assert start_of(cluster, after) >= cluster.wait_journal(first, "end")["time"]
    reason(cluster, never, "DependencyNeverSatisfied")


def test_holds(cluster):
    held = cluster.sbatch("-N1", "--hold", wrap="true")
    later = cluster.sbatch("-N1", wrap="true")
    cluster.wait_state(later, "COMPLETED")
    assert cluster.state(held) == "PENDING"
    cluster.run("scontrol", "release", held)
    cluster.wait_state(held, "COMPLETED")


def test_a_begin_time(cluster):
    job = cluster.sbatch("-N1", "--begin=now+2", wrap="true")
    submitted = time.time()
    cluster.wait_state(job, "COMPLETED")
    assert start_of(cluster, job) >= submitted + 0.9


def test_arrays(cluster):
    array = cluster.sbatch("--array=1-20%3", "-N1", "--exclusive", wrap="sleep 0.1")

    def done():
        text = cluster.run("squeue", "--noheader", "--array", "--states=all", "--format=%T",
                           "--job", array).out.split()
        assert text.count("RUNNING") <= 3
        return text.count("COMPLETED") == 20
    wait_until(done, "all elements are complete", within=60)


def test_elements_of_an_array_wait_as_one_entry(cluster, elastic):
    """But for the one that others shrink for; all of them run in the end."""
    app = cluster.actor("malleable,min=2,max=8", "-N8")
    elastic(Policy="lina-default", ResizeGap=0)
    array = cluster.sbatch("--array=1-3", "-N2", "--exclusive", wrap="sleep 60")

    def copies():
        pending = cluster.selastic("snapshot")["snapshot"]["pending"]
        return [(job.get("claimed", False), job.get("copies", 1)) for job in pending if job["id"] == array]
    wait_until(lambda: copies() == [(True, 1), (False, 2)], lambda: f"one of three is claimed: {copies()}")

    def running():
        return cluster.run("squeue", "--noheader", "--array", "--job", array, "--states=R").out.count("\n")
    while running() < 3:
        app.take_shrink()
    assert len(cluster.nodes_of(app.job)) == 2
    assert running() == 3


def test_for_each_element_of_an_array_one_job_is_asked_to_shrink(cluster, elastic):
    """Who could help besides is left in peace while the first one makes up its mind."""
    apps = [cluster.actor("malleable,min=1,max=2", "-N2") for _ in range(4)]
    elastic(Policy="lina-default", ResizeGap=0)
    array = cluster.sbatch("--array=1-2", "-N1", "--exclusive", wrap="sleep 60")

    def asked():
        return [offer["job"] for offer in cluster.journal(event="offer") if offer.get("beneficiary") == array]
    for number in (1, 2):
        wait_until(lambda: len(asked()) == number, lambda: f"{number} have been asked: {asked()}")
        cluster.wait_two_passes()
        assert len(asked()) == number
        next(app for app in apps if app.job == asked()[-1]).take_shrink()
    cluster.wait_state(array, "RUNNING")
    cluster.wait_two_passes()
    assert len(asked()) == 2


@pytest.mark.parametrize("state", ["DRAIN", "DOWN"])
def test_unusable_nodes(cluster, state):
    cluster.run("scontrol", "update", "NodeName=n[2-4]", f"State={state}", "Reason=test")
    try:
        job = cluster.sbatch("-N5", "--exclusive", wrap="sleep 60")
        cluster.wait_state(job, "RUNNING")
        assert not set(cluster.nodes_of(job)) & {"n2", "n3", "n4"}
        waits = cluster.sbatch("-N6", "--exclusive", wrap="sleep 60")
        assert cluster.state(waits) == "PENDING"
        cluster.run("scancel", job)
    finally:
        cluster.run("scontrol", "update", "NodeName=n[2-4]",
                    "State=RESUME" if state == "DRAIN" else "State=IDLE")
    cluster.wait_state(waits, "RUNNING")


def test_licences(cluster):
    first, second, third = [cluster.sbatch("-N1", "-L", "beer:1", wrap="sleep 60")
                            for _ in range(3)]
    cluster.wait_state(first, "RUNNING")
    cluster.wait_state(second, "RUNNING")
    other = cluster.sbatch("-N1", wrap="true")
    cluster.wait_state(other, "COMPLETED")
    reason(cluster, third, "Licenses")
    cluster.run("scancel", first)
    cluster.wait_state(third, "RUNNING")


def test_jobs_held_back_block_nobody(cluster):
    """However many of them there are in front: a licence, a limit of an array."""
    licensed = [cluster.sbatch("-N2", "--exclusive", "-L", "beer:2", wrap="sleep 60")
                for _ in range(15)]
    limited = cluster.sbatch("-N2", "--exclusive", "--array=1-20%1", wrap="sleep 60")
    other = cluster.sbatch("-N2", "--exclusive", wrap="sleep 60")
    cluster.wait_state(other, "RUNNING")
    cluster.wait_state(licensed[0], "RUNNING")
    for job in licensed[1:]:
        reason(cluster, job, "Licenses")
    cluster.run("scancel", other, limited, *licensed)


def test_processors_without_a_number_of_nodes(cluster):
    job = cluster.sbatch("-n6", "--exclusive", wrap="sleep 60")
    cluster.wait_state(job, "RUNNING")
    assert len(cluster.nodes_of(job)) == 2


def test_rigid_jobs_share_a_node(cluster):
    if cluster.select == "linear":
        pytest.skip("select/linear gives whole nodes only")
    jobs = [cluster.sbatch("-n1", "-N1", "-w", "n5", wrap="sleep 60") for _ in range(4)]
    for job in jobs:
        cluster.wait_state(job, "RUNNING")
        assert cluster.nodes_of(job) == ["n5"]
    fifth = cluster.sbatch("-n1", "-N1", "-w", "n5", wrap="sleep 60")
    reason(cluster, fifth, "Resources")
    cluster.run("scancel", jobs[0])
    cluster.wait_state(fifth, "RUNNING")


@pytest.mark.parametrize("wish", [["-N1-4"], ["-n4", "--spread-job"]], ids=["range", "spread"])
def test_a_range_of_shared_nodes(cluster, wish):
    """It takes as many as are idle, too."""
    if cluster.select == "linear":
        pytest.skip("select/linear gives whole nodes only")
    job = cluster.sbatch(*wish, wrap="sleep 60")
    cluster.wait_state(job, "RUNNING")
    assert len(cluster.nodes_of(job)) == 4


def test_nodes_shared_by_rigid_jobs_are_no_growth(cluster):
    jobs = [cluster.sbatch("-n1", "-N1", "-w", f"n{number}", wrap="sleep 60")
            for number in range(4, 9)]
    for job in jobs:
        cluster.wait_state(job, "RUNNING")
    app = cluster.actor("malleable,min=1,max=8", "-N1")
    cluster.run("selastic", "expand", app.job, 8)
    assert app.take_expand()["size"] == 3
    assert cluster.nodes_of(app.job) == ["n1", "n2", "n3"]


def test_an_interactive_job_waits_its_turn(cluster):
    filler = fill(cluster, seconds=1)
    ran = cluster.run("salloc", "-N2", "--quiet", "bash", "-c", "echo $SLURM_JOB_NUM_NODES")
    assert ran.out.strip() == "2"
    assert cluster.state(filler) == "COMPLETED"


def test_the_highest_priority_waits_no_longer_than_under_fcfs(cluster):
    """A stream of small jobs does not keep a large one out."""
    fill(cluster, nodes=4, limit=1, seconds=2)
    large = cluster.sbatch("-N8", "--exclusive", "--time=1", wrap="true")
    small = [cluster.sbatch("-N1", "--exclusive", "--time=30", wrap="sleep 20") for _ in range(6)]
    cluster.wait_state(large, "COMPLETED")
    assert all(start_of(cluster, large) <= entry["time"]
               for job in small for entry in cluster.journal(job, "start"))


def minutes(cluster, job):
    """Its time limit."""
    hours, rest = cluster.job(job)["TimeLimit"].split(":", 1)
    return int(hours) * 60 + int(rest.split(":")[0])


@pytest.mark.starts_itself("backfill gives an element that waits the limit of the one that it has looked at")
def test_a_deadline_bounds_the_time_limit(cluster):
    """Of a job that starts, as with Slurm's own scheduler; Slurm ends no running job at its deadline."""
    job = cluster.sbatch("-N1", "--time-min=1", "--time=30", "--deadline=now+10minutes", wrap="sleep 60")
    cluster.wait_state(job, "RUNNING")
    assert minutes(cluster, job) in (9, 10)
    array = cluster.sbatch("-N8", "--exclusive", "--array=1-2%1", "--time-min=1", "--time=30",
                           "--deadline=now+10minutes", wrap="sleep 60")
    cluster.run("scancel", job)
    cluster.wait_state(f"{array}_1", "RUNNING")
    assert minutes(cluster, f"{array}_1") in (9, 10)
    assert minutes(cluster, f"{array}_2") == 30


@pytest.mark.starts_itself("backfill may leave it the least time alone")
def test_a_job_with_a_least_time_is_shortened_into_a_hole(cluster):
    fill(cluster, nodes=6, limit=10)
    head = cluster.sbatch("-N8", "--exclusive", "--time=5", wrap="sleep 60")
    reason(cluster, head, "Resources")
    long = cluster.sbatch("-N2", "--exclusive", "--time=60", wrap="sleep 60")
    fits = cluster.sbatch("-N2", "--exclusive", "--time=60", "--time-min=2", wrap="sleep 60")
    cluster.wait_state(fits, "RUNNING")
    assert minutes(cluster, fits) in (8, 9, 10)
    reason(cluster, long, "Priority")


def test_a_job_with_a_least_time_has_all_where_nobody_waits(cluster):
    job = cluster.sbatch("-N2", "--exclusive", "--time=60", "--time-min=2", wrap="sleep 60")
    cluster.wait_state(job, "RUNNING")
    assert minutes(cluster, job) == 60


def test_required_nodes_that_do_not_suffice(cluster):
    """The others are found by Slurm."""
    job = cluster.sbatch("-w", "n3", "-n8", "--exclusive", wrap="sleep 60")
    cluster.wait_state(job, "RUNNING")
    nodes = cluster.nodes_of(job)
    assert "n3" in nodes and len(nodes) == 2


def test_required_nodes_where_others_want_them_too(cluster):
    filler = cluster.sbatch("-N1", "-w", "n6", "--exclusive", wrap="sleep 600")
    cluster.wait_state(filler, "RUNNING")
    waits = cluster.sbatch("-N2", "-w", "n5,n6", "--exclusive", "--nice=100", wrap="sleep 60")
    reason(cluster, waits, "Resources")
    job = cluster.sbatch("-N3", "-w", "n5", "--exclusive", wrap="sleep 60")
    cluster.wait_state(job, "RUNNING")
    assert "n5" in cluster.nodes_of(job) and len(cluster.nodes_of(job)) == 3


@pytest.mark.parametrize("change, back", [("State=DRAIN", "State=UP"), ("State=INACTIVE", "State=UP"),
                                          ("MaxNodes=2", "MaxNodes=UNLIMITED")])
def test_no_growth_in_a_partition_that_gives_none(cluster, elastic, change, back):
    elastic(Policy="lina-default")
    filler = fill(cluster, nodes=6)
    app = cluster.actor("malleable,min=1,max=4", "-N2")
    cluster.run("scontrol", "update", "PartitionName=debug", change)
    try:
        cluster.run("scancel", filler)
        cluster.wait_state(filler, "CANCELLED")
        cluster.wait_two_passes()
        app.no_event()
    finally:
        cluster.run("scontrol", "update", "PartitionName=debug", back)
    assert len(cluster.nodes_of(app.job)) == 2
