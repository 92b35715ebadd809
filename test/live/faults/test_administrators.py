# SPDX-License-Identifier: MIT
"""Administrators change jobs, partitions, nodes and reservations while resizes are in flight.

What Slurm says last is the law: nothing joins a job that it may not have any more, nobody waits for ever, and all
books agree afterwards.
"""

import contextlib

import pytest
from elastic_live import SLURM_VERSION, wait_until


@pytest.fixture
def reserve(cluster):
    """reserve(nodes, begin): a reservation of nobody's; it is gone after the test."""
    made = []

    def make(nodes, begin="now"):
        made.append(f"r{len(made)}")
        cluster.run("scontrol", "create", "reservation", f"ReservationName={made[-1]}", "Users=daemon",
                    f"Nodes={','.join(nodes)}", f"StartTime={begin}", "Duration=600")
        return made[-1]

    yield make
    for name in made:
        cluster.end_jobs()
        cluster.run("scontrol", "delete", f"ReservationName={name}", check=False)


def update(cluster, what, *changes, check=True):
    return cluster.run("scontrol", "update", what, *changes, check=check)


def accept(app, offer):
    """The event that says how an expansion ends that is accepted, if it is still there."""
    app.ask("elastic", function="accept", arguments=[offer["op"]])
    event = app.event()
    if event["event"] == "accepted":
        event = app.event()
    if event["event"] == "resized":
        app.do("done", offer["op"])
    return event


def drained_partition(cluster, app, offered, stack, state):
    update(cluster, "PartitionName=debug", f"State={state}")
    stack.callback(update, cluster, "PartitionName=debug", "State=UP")
    return cluster.all_nodes


def smaller_partition(cluster, app, offered, stack):
    left = [node for node in cluster.all_nodes if node not in offered[1:]]
    update(cluster, "PartitionName=debug", f"Nodes={','.join(left)}")
    stack.callback(update, cluster, "PartitionName=debug", "Nodes=ALL")
    return offered[1:]


def drained_nodes(cluster, app, offered, stack):
    nodes = f"NodeName={','.join(offered[:2])}"
    update(cluster, nodes, "State=DRAIN", "Reason=test")
    stack.callback(update, cluster, nodes, "State=RESUME", check=False)
    return offered[:2]


def dead_nodes(cluster, app, offered, stack):
    nodes = f"NodeName={','.join(offered[1:])}"
    update(cluster, nodes, "State=DOWN", "Reason=test")
    stack.callback(update, cluster, nodes, "State=RESUME", check=False)
    return offered[1:]


def nodes_down_and_up(cluster, app, offered, stack):
    nodes = f"NodeName={','.join(offered)}"
    update(cluster, nodes, "State=DOWN", "Reason=test")
    update(cluster, nodes, "State=RESUME")
    wait_until(lambda: all(cluster.node_states()[node] == "idle" for node in offered), "they are idle again")
    return []


def reserved_now(cluster, app, offered, stack):
    stack.reserve(offered[1:])
    return offered[1:]


def reserved_later(cluster, app, offered, stack):
    stack.reserve(offered[:-1], "now+5minutes")
    return offered[:-1]


def longer_limit(cluster, app, offered, stack):
    stack.reserve(offered[1:], "now+30minutes")
    update(cluster, f"JobId={app.job}", "TimeLimit=60")
    return offered[1:]


CHANGES = {"partition drained": (drained_partition, "DRAIN"), "partition down": (drained_partition, "DOWN"),
           "partition inactive": (drained_partition, "INACTIVE"), "partition smaller": (smaller_partition,),
           "nodes drained": (drained_nodes,), "nodes down": (dead_nodes,), "nodes down and up": (nodes_down_and_up,),
           "reserved": (reserved_now,), "reserved later": (reserved_later,), "longer limit": (longer_limit,)}


@pytest.mark.parametrize("offered_by", ["operator", "plan"])
@pytest.mark.parametrize("change", CHANGES)
def test_while_an_expansion_is_offered(cluster, adaptive, reserve, change, offered_by):
    """The job gets nothing that it may not have any more. An operator's order names no nodes, a plan does."""
    adaptive(ExpandTrigger="never" if offered_by == "operator" else "nobody-can-use")
    app = cluster.actor("malleable,min=1,max=6", "-N2", "--time=20")
    held = cluster.nodes_of(app.job)
    if offered_by == "operator":
        cluster.run("selastic", "expand", app.job, 6)
    offer = app.event("offer_expand")
    others = [node for node in cluster.all_nodes if node not in held]
    with contextlib.ExitStack() as stack:
        stack.reserve = reserve
        carry_out, *more = CHANGES[change]
        forbidden = set(carry_out(cluster, app, others[:4], stack, *more))
        event = accept(app, offer)
        gained = set(cluster.nodes_of(app.job)) - set(held)
        assert not gained & forbidden, (gained, forbidden, event)
        assert event["event"] == ("resized" if gained else "ended"), event
        if offered_by == "operator":
            assert len(gained) == min(4, len(set(others) - forbidden)), (gained, forbidden, event)
        app.exit()
        cluster.wait_state(app.job, "COMPLETED")


BENEFICIARY = ["hold", "NumNodes=8", "Partition=left", "Dependency=after:{rigid}", "TimeLimit=90", "Features=none",
               "StartTime=now+1hour", "ReqNodeList={batch}", "ExcNodeList={others}", "Nice=100", "requeue", "uhold"]


@pytest.mark.parametrize("change", BENEFICIARY)
def test_a_beneficiary_is_changed_while_its_victim_leaves(cluster, adaptive, expect_errors, change):
    """The victim is told how it ends, whatever becomes of the job for which it was asked."""
    expect_errors.append("Requeue of JobId=.* returned an error: Job is pending")
    adaptive(ExpandTrigger="never")
    app = cluster.actor("malleable,min=2,max=6", "-N6")
    batch, *others = cluster.nodes_of(app.job)
    rigid = cluster.sbatch("-N2", "--exclusive", wrap="sleep 600")
    cluster.wait_state(rigid, "RUNNING")
    waiting = cluster.sbatch("-N3", "--exclusive", wrap="sleep 600")
    offer = app.event("offer_shrink")
    app.do("accept", offer["op"])
    app.event("accepted")
    if change in ("hold", "uhold", "requeue"):
        cluster.run("scontrol", change, waiting, check=False)
    else:
        text = change.format(rigid=rigid, batch=batch, others=",".join(others))
        update(cluster, f"JobId={waiting}", text, check=False)
    app.tell("elastic", function="done", arguments=[offer["op"]])
    event = app.event()
    assert event["event"] in ("resized", "ended"), event
    cluster.wait_two_passes()
    cluster.wait_two_passes()
    assert len(cluster.journal(app.job, "offer")) <= 2, cluster.journal(app.job)
    app.exit()
    cluster.wait_state(app.job, "COMPLETED")


@pytest.mark.parametrize("change", ["NumNodes=3", "ReqNodeList={first}", "NumNodes=1-2"])
@pytest.mark.parametrize("kind, nodes", [("expand", 6), ("shrink", 2)])
def test_slurms_own_resize_is_refused(cluster, adaptive, change, kind, nodes):
    """Nobody would tell the application; what is in flight goes on."""
    adaptive(ExpandTrigger="never")
    app = cluster.actor("malleable,min=1,max=8", "-N4")
    cluster.run("selastic", kind, app.job, nodes)
    offer = app.event(f"offer_{kind}")
    first = cluster.nodes_of(app.job)[0]
    assert update(cluster, f"JobId={app.job}", change.format(first=first), check=False).code != 0
    app.do("accept", offer["op"])
    app.event("accepted")
    if kind == "shrink":
        app.do("done", offer["op"])
    assert app.event("resized")["size"] == nodes
    cluster.wait_size(app.job, nodes)


@pytest.mark.modes("ms")  # with a front end Slurm itself does not survive it
def test_slurms_own_resize_of_another_job(cluster, adaptive):
    """The nodes are counted as free, and nobody is asked for them twice."""
    adaptive()
    app = cluster.actor("malleable,min=2,max=8", "-N4")
    rigid = cluster.sbatch("-N4", "--exclusive", wrap="sleep 600")
    cluster.wait_state(rigid, "RUNNING")
    waiting = cluster.sbatch("-N2", "--exclusive", wrap="sleep 600")
    offer = app.event("offer_shrink")
    update(cluster, f"JobId={rigid}", "NumNodes=2")
    cluster.wait_state(waiting, "RUNNING")
    app.ask("elastic", function="accept", arguments=[offer["op"]])
    event = app.event()
    if event["event"] == "accepted":
        app.do("done", offer["op"])
        event = app.event()
    assert event["event"] in ("ended", "resized")
    cluster.wait_two_passes()


RUNNING = ["TimeLimit=30", "Partition=left", "NumTasks=5", "Features=fast", "Dependency=after:1", "MinCPUsNode=3",
           "ReservationName={reservation}", "Priority=5", "Nice=7", "ExcNodeList={other}", "ReqNodeList={other}",
           "OverSubscribe=yes", "Contiguous=yes", "NumCPUs=5", "StartTime=now+1hour", "Requeue=1", "hold", "release",
           "Licenses=beer:1", "MinMemoryNode=99999", "AdminComment=x"]


@pytest.mark.parametrize("change", RUNNING)
def test_a_running_job_is_changed(cluster, adaptive, reserve, change):
    """Whether Slurm takes the change or not: the job can be resized in both directions, and ends clean."""
    adaptive(ExpandTrigger="never")
    app = cluster.actor("malleable,min=1,max=8", "-N2", "--time=20")
    other = next(node for node in reversed(cluster.all_nodes) if node not in cluster.nodes_of(app.job))
    if change in ("hold", "release"):
        cluster.run("scontrol", change, app.job, check=False)
    else:
        text = change.format(other=other, reservation=reserve([other]) if "{reservation}" in change else "")
        update(cluster, f"JobId={app.job}", text, check=False)
    cluster.run("selastic", "expand", app.job, 4)
    grown = accept(app, app.event("offer_expand"))
    assert grown["event"] == "resized" or "reservation" in change.lower(), grown
    if grown["event"] == "resized":
        size = 3 if SLURM_VERSION >= (23, 11) and "reservation" in change else 4  # which has one other node
        assert len(cluster.nodes_of(app.job)) == size
    cluster.run("selastic", "shrink", app.job, 1)
    app.take_shrink()
    cluster.wait_size(app.job, 1)
    app.exit()
    cluster.wait_state(app.job, "COMPLETED")


@pytest.mark.parametrize("annotation, change", [(None, "NumCPUs=12"), ("malleable,min=2,max=2", "NumCPUs=12")])
def test_a_job_that_can_never_start_blocks_nobody(cluster, adaptive, annotation, change):
    """It is held with the reason that it has under Slurm's own schedulers, if no other size of it can start."""
    adaptive()
    option = [f"--elastic={annotation}"] if annotation else []
    job = cluster.sbatch("--hold", "-N2", *option, wrap="sleep 1")
    update(cluster, f"JobId={job}", change)
    cluster.run("scontrol", "release", job)
    other = cluster.sbatch("-N8", "--exclusive", wrap="sleep 1")
    cluster.wait_state(other, "RUNNING", "COMPLETED")
    if not annotation:
        wait_until(lambda: cluster.job(job)["Reason"] == "BadConstraints", lambda: f"it says why: {cluster.job(job)}")
        assert cluster.job(job)["Priority"] == "0"
    cluster.run("scancel", job)


@pytest.mark.parametrize("arguments, change", [(["-w", "n1"], "ExcNodeList=n1"), ([], "ExcNodeList=n[1-7]"),
                                               ([], "MinMemoryNode=999999")])
def test_a_job_whose_nodes_there_are_not_says_so(cluster, adaptive, arguments, change):
    """It starts when its request is one that can be met."""
    adaptive()
    job = cluster.sbatch("--hold", "-N2", *arguments, wrap="sleep 60")
    update(cluster, f"JobId={job}", change)
    cluster.run("scontrol", "release", job)
    wait_until(lambda: cluster.job(job)["Reason"] == "BadConstraints", lambda: f"it says why: {cluster.job(job)}")
    update(cluster, f"JobId={job}", "ExcNodeList=", "MinMemoryNode=1")
    cluster.run("scontrol", "release", job)
    cluster.wait_state(job, "RUNNING")


def test_a_job_whose_nodes_are_down_is_not_held(cluster, adaptive):
    adaptive()
    update(cluster, "NodeName=n[3-8]", "State=DRAIN", "Reason=test")
    try:
        job = cluster.sbatch("-N4", wrap="sleep 60")
        cluster.wait_two_passes()
        cluster.wait_two_passes()
        assert cluster.job(job)["Priority"] != "0", cluster.job(job)
    finally:
        update(cluster, "NodeName=n[3-8]", "State=RESUME")
    cluster.wait_state(job, "RUNNING")


PENDING = ["NumNodes=3", "NumTasks=6", "NumCPUs=8", "Features=none", "TimeLimit=9", "Dependency=singleton",
           "ReqNodeList=n3", "ExcNodeList=n2,n3", "MinCPUsNode=2", "Nice=5", "StartTime=now", "JobName=other",
           "MinMemoryNode=1", "Requeue=0", "NumNodes=2-2", "TimeMin=1", "Deadline=now+2hours"]


@pytest.mark.parametrize("change", PENDING)
def test_a_waiting_job_is_changed(cluster, adaptive, change):
    """Whether Slurm takes the change or not: it starts, grows within its range, and ends clean."""
    adaptive(ExpandTrigger="never")
    app = cluster.actor("malleable,min=2,max=4", "-N2", "--hold", wait=False)
    taken = update(cluster, f"JobId={app.job}", change, check=False)
    cluster.run("scontrol", "release", app.job)
    cluster.wait_state(app.job, "RUNNING", "PENDING")
    app.wait_connected()
    size = len(cluster.nodes_of(app.job))
    assert 2 <= size <= 4, taken
    cluster.run("selastic", "expand" if size < 4 else "shrink", app.job, 4 if size < 4 else 2)
    (app.take_expand if size < 4 else app.take_shrink)()
    app.exit()
    cluster.wait_state(app.job, "COMPLETED")


def test_slurm_conf_is_read_again_and_again(cluster, adaptive):
    """While jobs grow and shrink for each other."""
    adaptive(ResizeGap=0)
    apps = [cluster.actor("malleable,min=1,max=8", "-N1", wait=False) for _ in range(3)]
    for app in apps:
        app.wait_connected()
    for round_ in range(6):
        cluster.reconfigure("configuration read")
        app = apps[round_ % 3]
        size = len(cluster.nodes_of(app.job))
        assert size >= 1
    for app in apps:
        app.tell("die")
    wait_until(lambda: not cluster.queue(), "all have ended")


@pytest.mark.modes("ms")  # with a front end both runs of the job are on the same host
def test_evacuation_of_a_job_that_is_requeued_and_held(cluster, adaptive):
    """It counts as gone, and does not come back to the node while it is drained."""
    adaptive(ExpandTrigger="never")
    job = cluster.sbatch("-N1", "--exclusive", "--requeue", wrap="sleep 600")
    cluster.wait_state(job, "RUNNING")
    node, = cluster.nodes_of(job)
    try:
        result = cluster.run("selastic", "evacuate", node, check=False)
        assert result.code == 1 and f"job {job}" in result.err + result.out, str(result)
        cluster.run("scontrol", "requeuehold", job)
        wait_until(lambda: cluster.run("selastic", "evacuate", node, check=False).code == 0, "the node is empty")
        cluster.run("scontrol", "release", job)
        update(cluster, f"JobId={job}", "StartTime=now")
        cluster.wait_state(job, "RUNNING")
        assert cluster.nodes_of(job) != [node]
    finally:
        update(cluster, f"NodeName={node}", "State=RESUME")


def test_a_request_waits_for_its_partition(cluster, adaptive):
    """What a drained partition or a limit forbids may be allowed before the request's time is over."""
    adaptive(ExpandTrigger="never")
    app = cluster.actor("evolving,min=1,max=4", "-N1")
    update(cluster, "PartitionName=debug", "State=DRAIN")
    try:
        app.do("request", 1, 1, 600.0)
        app.event("queued")
        wait_until(lambda: f"job {app.job}: cannot grow: its partition" in cluster.log, "the log says why it waits")
    finally:
        update(cluster, "PartitionName=debug", "State=UP")
    assert app.event("resized")["size"] == 2
