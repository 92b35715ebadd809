# SPDX-License-Identifier: MIT
"""Jobs that Slurm has reasons against which the plan does not know: for ever, or as long as nothing changes."""

import re
from contextlib import contextmanager

import pytest

from elastic_live import SLURM_VERSION, wait_until

LINA = {"Policy": "lina-default", "ResizeGap": 0}
of_holds = pytest.mark.starts_itself("its loops hold a job, or say why it waits, by rules of their own")


def reason(cluster, job, *reasons):
    """Until the job is pending with one of these reasons."""
    wait_until(lambda: cluster.job(job).get("Reason") in reasons,
               lambda: f"job {job} waits for {reasons}: {cluster.job(job)}")
    assert cluster.state(job) == "PENDING"


def occupy(cluster, *numbers, limit=10):
    """A rigid job on each of these nodes, running."""
    jobs = [cluster.sbatch("-N1", "--exclusive", "-w", cluster.node_name(number), f"--time={limit}", wrap="sleep 600")
            for number in numbers]
    for job in jobs:
        cluster.wait_state(job, "RUNNING")
    return jobs


def submit_changed(cluster, change, *arguments):
    """A job that is changed before it is looked at."""
    job = cluster.sbatch("--hold", *arguments, wrap="sleep 600")
    cluster.run("scontrol", "update", f"JobId={job}", change)
    cluster.run("scontrol", "release", job)
    return job


def lines_about(cluster, jobs, passes=5):
    """What slurmctld logs of these jobs in some further passes."""
    def count():
        return cluster.selastic("jobs")["pass"]["count"]
    cluster.wait_two_passes()
    before, first = len(cluster.log), count()
    wait_until(lambda: count() >= first + passes, f"{passes} further passes", within=60)
    about = re.compile(rf"(JobId=|\bjob )({'|'.join(map(str, jobs))})\b")
    return [line for line in cluster.log[before:].splitlines() if about.search(line)]


# Changes after which a job of less than 8 nodes can never run, and can again. More required nodes than a job has are
# some of them to 24.11.
NEVER = [("MinTmpDiskNode=1", "MinTmpDiskNode=0"),
         pytest.param("ReqNodeList=n[1-8]", "ReqNodeList=n[1-7]",
                      marks=pytest.mark.skipif(SLURM_VERSION >= (24, 11), reason="such a job runs"))]


@pytest.mark.parametrize("change, back", NEVER)
def test_a_job_that_can_never_run_keeps_nodes_from_nobody(cluster, change, back):
    """Also while those that it would start on are in use."""
    filler = cluster.sbatch("-N6", "--exclusive", "--time=5", wrap="sleep 600")
    cluster.wait_state(filler, "RUNNING")
    never = submit_changed(cluster, change, "-N7", "--exclusive")
    behind = cluster.sbatch("-N2", "--exclusive", "--time=10", wrap="sleep 600")
    cluster.wait_state(behind, "RUNNING")
    reason(cluster, never, "BadConstraints")
    cluster.run("scontrol", "release", never)  # nothing has changed
    reason(cluster, never, "BadConstraints")
    cluster.run("scontrol", "update", f"JobId={never}", back)
    reason(cluster, never, "Resources")


@contextmanager
def feature(cluster, nodes, name):
    """Nodes that have this feature."""
    def set_features(features):
        cluster.run("scontrol", "update", f"NodeName={nodes}", f"AvailableFeatures={features}",
                    f"ActiveFeatures={features}")
    set_features(name)
    try:
        yield set_features
    finally:
        cluster.end_jobs()
        set_features("")


@pytest.mark.parametrize("annotation", [None, "malleable,min=1,max=2", "evolving,min=1,max=2"],
                         ids=["rigid", "malleable", "evolving"])
def test_a_job_whose_nodes_lose_their_feature_is_held(cluster, annotation):
    """Slurm releases it when they have it again."""
    elastic = [f"--elastic={annotation}"] if annotation else ["--exclusive"]
    with feature(cluster, "n[6-7]", "fast") as set_features:
        filler = cluster.sbatch("-N2", "--exclusive", "--constraint=fast", wrap="sleep 600")
        cluster.wait_state(filler, "RUNNING")
        job = cluster.sbatch("-N2", *elastic, "--constraint=fast", wrap="sleep 600")
        reason(cluster, job, "Resources")
        set_features("")
        reason(cluster, job, "BadConstraints")
        # Slurm may have released it once more, for the same change of the nodes.
        wait_until(lambda: lines_about(cluster, [job]) == [], "nothing is said of the job any more", within=60)
        set_features("fast")
        reason(cluster, job, "Resources")
        cluster.run("scancel", filler)
        cluster.wait_state(job, "RUNNING")
        assert set(cluster.nodes_of(job)) == {"n6", "n7"}


@pytest.mark.parametrize("change", ["ExcNodeList=n[1-8]", "MinMemoryNode=999999999", "Gres=gpu:9"])
def test_a_malleable_job_that_no_node_satisfies_is_held(cluster, change):
    job = cluster.sbatch("--hold", "-N2", "--elastic=malleable,min=1,max=4", wrap="sleep 600")
    changed = cluster.run("scontrol", "update", f"JobId={job}", change, check=False)
    if changed.code != 0:
        pytest.skip(f"Slurm refuses that at once: {changed.err}")
    cluster.run("scontrol", "release", job)
    reason(cluster, job, "BadConstraints")


@of_holds
def test_a_malleable_job_that_can_start_smaller_is_not_held(cluster):
    """With fewer nodes than it asks for there are enough."""
    with feature(cluster, "n[1-4]", "fast") as set_features:
        filler = cluster.sbatch("-N8", "--exclusive", wrap="sleep 600")
        cluster.wait_state(filler, "RUNNING")
        job = cluster.sbatch("-N4", "--elastic=malleable,min=2,max=4", "--constraint=fast", wrap="sleep 600")
        reason(cluster, job, "Resources")
        cluster.run("scontrol", "update", "NodeName=n[3-4]", "AvailableFeatures=", "ActiveFeatures=")
        assert lines_about(cluster, [job]) == []
        assert cluster.job(job)["Reason"] != "BadConstraints"
        set_features("")
        reason(cluster, job, "BadConstraints")


@pytest.mark.parametrize("request_", [["-N3", "-w", "n2"], ["-N2", "--contiguous"]], ids=["required", "contiguous"])
@pytest.mark.parametrize("sharing", [["--exclusive"], []], ids=["whole", "shared"])
def test_slurm_is_not_asked_again_and_again(cluster, request_, sharing):
    """Its own schedulers log nothing of such jobs."""
    if cluster.select == "linear" and not sharing:
        pytest.skip("select/linear gives whole nodes only")
    occupy(cluster, 2, 4, 6, 8)
    waiting = [cluster.sbatch(*request_, *sharing, "--ntasks-per-node=4", wrap="sleep 600") for _ in range(5)]
    for job in waiting:
        reason(cluster, job, "Resources", "Priority")
    assert lines_about(cluster, waiting) == []


def test_what_slurm_has_refused_is_tried_when_more_is_free(cluster):
    """And by then nobody has been backfilled past it."""
    next_to_end = occupy(cluster, 4, limit=5)[0]
    for number in (2, 6, 8):
        occupy(cluster, number, limit=60 + 10 * number)
    first = cluster.sbatch("-N3", "--exclusive", "--contiguous", "--time=5", wrap="sleep 600")
    reason(cluster, first, "Resources")
    long = cluster.sbatch("-N4", "--exclusive", "--time=600", wrap="sleep 600")
    short = cluster.sbatch("-N4", "--exclusive", "--time=1", wrap="true")
    cluster.wait_state(short, "COMPLETED")
    reason(cluster, long, "Priority")
    cluster.run("scancel", next_to_end)
    cluster.wait_state(first, "RUNNING")
    assert cluster.nodes_of(first) == ["n3", "n4", "n5"]


def test_a_job_that_shares_nodes_is_tried_when_another_leaves(cluster):
    """Though no node is free that was not before."""
    if cluster.select == "linear":
        pytest.skip("select/linear gives whole nodes only")
    halves = [cluster.sbatch("-N1", "-n2", "-w", "n5", wrap="sleep 600") for _ in range(2)]
    quarter = [cluster.sbatch("-N1", "-n3", "-w", cluster.node_name(number), wrap="sleep 600")
               for number in (1, 2, 3, 4, 6, 7, 8)]
    for job in halves + quarter:
        cluster.wait_state(job, "RUNNING")
    waits = cluster.sbatch("-N1", "-n2", wrap="sleep 600")
    reason(cluster, waits, "Resources")
    cluster.wait_two_passes()
    cluster.run("scancel", halves[0])
    cluster.wait_state(waits, "RUNNING")
    assert cluster.nodes_of(waits) == ["n5"]


@pytest.mark.starts_itself("what backfill plans for the job that waits binds")
def test_nodes_that_slurm_has_refused_to_the_queue_are_given_to_others(cluster, elastic):
    """An offer of them stands until it is answered."""
    occupy(cluster, 2, 4, 6)
    app = cluster.actor("malleable,min=1,max=8", "-N1", "-w", "n8", "--time=50")
    waits = cluster.sbatch("-N4", "--exclusive", "--contiguous", "--time=5", wrap="sleep 600")
    reason(cluster, waits, "Resources")
    elastic(**LINA)
    offer = app.event("offer_expand")
    cluster.wait_two_passes()
    cluster.wait_two_passes()
    app.no_event()
    app.do("accept", offer["op"])
    app.event("accepted")
    assert app.event("resized")["size"] == 5


def test_nobody_shrinks_again_and_again_for_a_job_that_slurm_refuses(cluster, elastic):
    """What a victim has left for it in vain it gets back, and is left in peace."""
    occupy(cluster, 2, 4, 6, 8)
    app = cluster.actor("malleable,min=1,max=8", "-N4", "--time=50")
    waits = cluster.sbatch("-N2", "--exclusive", "--contiguous", "--time=5", wrap="sleep 600")
    elastic(**LINA)
    app.take_shrink()
    wait_until(lambda: f"job {waits}: nodes were freed for it but it cannot start" in cluster.log,
               "Slurm refuses the job the nodes")
    assert app.take_expand()["size"] == 4
    cluster.wait_two_passes()
    app.no_event()
    assert cluster.state(waits) == "PENDING"


@contextmanager
def reservation(cluster, name, nodes, flags):
    """It begins now; root may use it."""
    cluster.run("scontrol", "create", "reservation", f"ReservationName={name}", f"Nodes={nodes}", "StartTime=now",
                "Duration=10", "Users=root", f"Flags={flags}IGNORE_JOBS")
    try:
        yield
    finally:
        cluster.end_jobs()
        cluster.run("scontrol", "delete", f"ReservationName={name}")


def test_a_job_is_not_held_for_a_magnetic_reservation_that_it_does_not_fit(cluster):
    filler = cluster.sbatch("-N8", "--exclusive", wrap="sleep 600")
    cluster.wait_state(filler, "RUNNING")
    job = cluster.sbatch("-N5", "--exclusive", wrap="sleep 600")
    reason(cluster, job, "Resources")
    with reservation(cluster, "drawn", "n[1-3]", "MAGNETIC,"):
        assert lines_about(cluster, [job], passes=10) == [] and cluster.job(job)["Priority"] != "0"
        cluster.run("scancel", filler)
        cluster.wait_state(job, "RUNNING")
        assert not {"n1", "n2", "n3"} & set(cluster.nodes_of(job))


@of_holds
def test_a_job_waits_for_its_reservation_to_be_large_enough(cluster):
    """Held, it would have to be released by hand."""
    with reservation(cluster, "kept", "n[1-5]", ""):
        job = cluster.sbatch("--hold", "-N5", "--exclusive", "--reservation=kept", wrap="sleep 600")
        cluster.run("scontrol", "update", "ReservationName=kept", "Nodes=n[1-3]")
        cluster.run("scontrol", "release", job)
        other = cluster.sbatch("-N3", "--exclusive", "--reservation=kept", wrap="true")
        cluster.wait_state(other, "COMPLETED")
        assert cluster.state(job) == "PENDING" and cluster.job(job)["Priority"] != "0"
        cluster.run("scontrol", "update", "ReservationName=kept", "Nodes=n[1-5]")
        cluster.wait_state(job, "RUNNING")


def test_a_preferred_feature_that_is_gone_holds_nobody(cluster):
    with feature(cluster, "n[6-7]", "fast") as set_features:
        filler = cluster.sbatch("-N8", "--exclusive", wrap="sleep 600")
        cluster.wait_state(filler, "RUNNING")
        job = cluster.sbatch("-N2", "--exclusive", "--prefer=fast", wrap="sleep 600")
        reason(cluster, job, "Resources")
        cluster.wait_two_passes()  # it is in the queue twice, and stays the first
        assert cluster.job(job)["Reason"] == "Resources"
        set_features("")
        cluster.wait_two_passes()
        assert cluster.job(job)["Priority"] != "0"
        cluster.run("scancel", filler)
        cluster.wait_state(job, "RUNNING")


def test_an_array_whose_feature_is_gone_is_held_as_one(cluster):
    with feature(cluster, "n[6-7]", "fast") as set_features:
        filler = cluster.sbatch("-N8", "--exclusive", wrap="sleep 600")
        cluster.wait_state(filler, "RUNNING")
        array = cluster.sbatch("--array=1-3", "-N1", "--exclusive", "--constraint=fast", wrap="true")
        reason(cluster, array, "Resources")
        set_features("")
        reason(cluster, array, "BadConstraints")
        set_features("fast")
        cluster.run("scancel", filler)
        wait_until(lambda: not cluster.queue(), lambda: f"all elements have run: {cluster.queue()}", within=60)


def test_a_required_node_that_is_down_is_the_reason_until_it_is_up(cluster):
    occupy(cluster, 1, 2, 3, 4, 5, 6, 7)
    job = cluster.sbatch("-N2", "--exclusive", "-w", cluster.node_name(8), wrap="sleep 600")
    reason(cluster, job, "Resources")
    down = f"ReqNodeNotAvail,_UnavailableNodes:{cluster.node_name(8)}"
    cluster.run("scontrol", "update", f"NodeName={cluster.node_name(8)}", "State=DOWN", "Reason=test")
    try:
        reason(cluster, job, down)
        cluster.wait_two_passes()
        reason(cluster, job, down)
    finally:
        cluster.run("scontrol", "update", f"NodeName={cluster.node_name(8)}", "State=IDLE")
    reason(cluster, job, "Resources")


@of_holds
@pytest.mark.parametrize("change, _", NEVER)
def test_a_job_that_none_of_its_partitions_can_run_keeps_nodes_from_nobody(cluster, change, _):
    """Slurm holds no job that may use several."""
    filler = cluster.sbatch("-N6", "--exclusive", "-p", "shared", "--time=5", wrap="sleep 600")
    cluster.wait_state(filler, "RUNNING")
    never = submit_changed(cluster, change, "-N4", "--exclusive", "-p", "left,shared")
    behind = cluster.sbatch("-N2", "--exclusive", "-p", "shared", "--time=10", wrap="sleep 600")
    cluster.wait_state(behind, "RUNNING")
    reason(cluster, never, "Resources")
    assert cluster.job(never)["Priority"] != "0"


@contextmanager
def partition(cluster, name, before, **changes):
    """With other limits, which are as `before` afterwards."""
    cluster.run("scontrol", "update", f"PartitionName={name}", *(f"{key}={value}" for key, value in changes.items()))
    try:
        yield
    finally:
        cluster.run("scontrol", "update", f"PartitionName={name}", before)


def test_a_job_that_its_partition_bars_waits_and_keeps_nodes_from_nobody(cluster):
    filler = cluster.sbatch("-N6", "--exclusive", "--time=5", wrap="sleep 600")
    cluster.wait_state(filler, "RUNNING")
    job = cluster.sbatch("-N4", "--exclusive", "-p", "shared", wrap="sleep 600")
    reason(cluster, job, "Resources")
    with partition(cluster, "shared", "MinNodes=0", MinNodes=5):
        behind = cluster.sbatch("-N2", "--exclusive", "--time=10", wrap="sleep 600")
        cluster.wait_state(behind, "RUNNING")
        reason(cluster, job, "PartitionNodeLimit")
        assert cluster.job(job)["Priority"] != "0"
    cluster.run("scancel", filler)
    cluster.wait_state(job, "RUNNING")


@of_holds
def test_a_job_that_one_of_its_partitions_cannot_run(cluster):
    """It starts in the other; it is not held while that is full."""
    filler = cluster.sbatch("-N8", "--exclusive", "-p", "shared", wrap="sleep 600")
    cluster.wait_state(filler, "RUNNING")
    job = submit_changed(cluster, "ReqNodeList=n[5-6]", "-N2", "--exclusive", "-p", "left,shared")
    reason(cluster, job, "Resources", "Priority")
    assert lines_about(cluster, [job]) == [] and cluster.job(job)["Priority"] != "0"
    cluster.run("scancel", filler)
    cluster.wait_state(job, "RUNNING")
    assert cluster.nodes_of(job) == ["n5", "n6"]
