# SPDX-License-Identifier: MIT
"""Agreements: every step and every way out, and what the job and others see of it."""

import datetime
import time

import pytest

from elastic_live import SLURM_VERSION, wait_until


def offered_shrink(cluster, app, nodes):
    cluster.run("selastic", "shrink", app.job, nodes)
    return app.event("offer_shrink")


def offered_expand(cluster, app, nodes):
    cluster.run("selastic", "expand", app.job, nodes)
    return app.event("offer_expand")


def test_nodes_leave_only_after_done(cluster):
    app = cluster.actor("malleable,min=1,max=8", "-N4")
    offer = offered_shrink(cluster, app, 1)
    assert (offer["nodes"], offer["size"]) == (3, 1)
    leaving = cluster.expand(offer["node_list"])
    assert app.opened["batch_host"] not in leaving
    assert 0 < offer["deadline"] <= 20
    app.do("accept", offer["op"])
    accepted = app.event("accepted")
    assert accepted["op"] == offer["op"]
    assert len(cluster.nodes_of(app.job)) == 4
    app.do("done", offer["op"])
    resized = app.event("resized")
    assert cluster.expand(resized["node_list"]) == leaving
    assert cluster.nodes_of(app.job) == [app.opened["batch_host"]]
    assert app.state()["nodelist"] == app.opened["batch_host"]
    assert [entry["event"] for entry in cluster.journal(app.job)] == \
        ["submit", "start", "offer", "accept", "release", "resize"]


@pytest.mark.smoke
def test_released_nodes_are_usable_at_once(cluster):
    app = cluster.actor("malleable,min=1,max=8", "-N8")
    other = cluster.sbatch("-N3", wrap="sleep 60")
    assert cluster.state(other) == "PENDING"
    offered_shrink(cluster, app, 5)
    app.events.clear()
    op = cluster.journal(app.job, "offer")[-1]["op"]
    app.do("accept", op)
    app.event("accepted")
    app.do("done", op)
    app.event("resized")
    cluster.wait_state(other, "RUNNING")
    assert not set(cluster.nodes_of(other)) & set(cluster.nodes_of(app.job))


@pytest.mark.smoke
def test_a_job_that_grows_stays_one_job(cluster):
    app = cluster.actor("malleable,min=1,max=8", "-N2")
    first = cluster.nodes_of(app.job)
    offer = offered_expand(cluster, app, 6)
    assert (offer["nodes"], offer["size"]) == (4, 6)
    app.do("accept", offer["op"])
    app.event("accepted")
    resized = app.event("resized")
    assert resized["size"] == 6
    assert cluster.queue() == [f"{app.job} RUNNING"]
    assert set(first) < set(cluster.nodes_of(app.job))
    assert app.state()["nodes"] == 6
    app.do("done", offer["op"])
    cluster.wait_journal(app.job, "ready", op=offer["op"])
    # The next agreement is possible at once.
    assert offered_shrink(cluster, app, 3)["nodes"] == 3


def test_nodes_that_are_not_taken_are_others(cluster):
    app = cluster.actor("malleable,min=1,max=8", "-N2")
    other = cluster.sbatch("-N4", "--hold", wrap="sleep 60")
    offer = offered_expand(cluster, app, 8)
    app.do("accept_size", offer["op"], 2)
    assert (accepted := app.event("accepted"))["nodes"] == 2 and accepted["size"] == 4
    assert app.event("resized")["size"] == 4
    cluster.run("scontrol", "release", other)
    cluster.wait_state(other, "RUNNING")  # before the application has said that it uses its nodes
    assert len(cluster.nodes_of(app.job)) == 4
    assert cluster.journal(app.job, "accept")[-1]["count"] == 2
    app.do("done", offer["op"])
    cluster.wait_journal(app.job, "ready", op=offer["op"])
    cluster.check_journal()


def test_a_size_that_a_job_may_not_have_is_refused(cluster):
    app = cluster.actor("malleable,min=1,max=8,sizes=step:2", "-N2")
    offer = offered_expand(cluster, app, 8)
    app.do("accept_size", offer["op"], 3)
    again = app.event("offer_expand")
    assert again["op"] == offer["op"] and "would have 5 nodes" in again["reason"]
    app.do("accept_size", offer["op"], 4)
    app.event("accepted")
    assert app.event("resized")["size"] == 6


def test_a_script_takes_fewer_nodes_than_offered(cluster):
    app = cluster.actor("malleable,min=1,max=8", "-N2")
    offer = offered_expand(cluster, app, 6)
    ran = app.shell("selastic accept --size 5")
    assert ran["code"] == 2 and "5 cannot be taken" in ran["err"], ran
    ran = app.shell("selastic accept --size 1 && selastic done")
    assert ran["code"] == 0 and "ELASTIC_SIZE=3" in ran["out"], ran
    cluster.wait_journal(app.job, "ready", op=offer["op"])
    assert len(cluster.nodes_of(app.job)) == 3


def test_a_script_that_does_not_answer_need_not_be_told_again(cluster):
    app = cluster.actor("malleable,min=1,max=8", "-N2")
    offered_expand(cluster, app, 4)
    ran = app.shell('eval "$(selastic wait --timeout 20)"; echo $ELASTIC_EVENT; selastic wait --timeout 0 >/dev/null; '
                    'echo $?; selastic wait --timeout 0 --after $ELASTIC_OP; echo $?; selastic nodes | wc -l')
    assert ran["out"].split() == ["offer", "0", "1", "2"], ran


def test_a_request_that_waits_is_content_with_fewer_nodes(cluster):
    app = cluster.actor("evolving,min=1,max=6", "-N2")
    other = cluster.sbatch("-N4", wrap="sleep 60")
    cluster.wait_state(other, "RUNNING")
    app.do("request", 4, 4, 60.0)
    op = app.event("queued")["op"]
    app.no_event()
    app.do("accept_size", op, 2)
    resized = app.event("resized")
    assert (resized["op"], resized["size"]) == (op, 4)


def test_srun_reaches_the_new_nodes(cluster):
    app = cluster.actor("malleable,min=1,max=8", "-N2")
    cluster.run("selastic", "expand", app.job, 4)
    app.take_expand()
    ran = app.shell("eval \"$(selastic env)\"; srun -Q bash -c 'echo $SLURMD_NODENAME'")
    assert ran["code"] == 0, ran
    if cluster.mode == "fe":  # every task runs on the front end
        assert len(ran["out"].split()) == 4
    else:
        assert sorted(ran["out"].split()) == cluster.nodes_of(app.job)
    # Asking for the environment has not taken the application's connection.
    assert app.state()["connected"]
    cluster.run("selastic", "shrink", app.job, 1)
    app.take_shrink()
    ran = app.shell('eval "$(selastic env)"; echo $SLURM_JOB_NUM_NODES; srun -Q hostname')
    assert ran["code"] == 0, ran
    assert ran["out"].split()[0] == "1"
    assert len(ran["out"].split()) == 2


@pytest.mark.modes("ms")
def test_steps_on_kept_nodes_live_on(cluster):
    app = cluster.actor("malleable,min=1,max=8", "-N4")
    kept, leaving = cluster.nodes_of(app.job)[:2], cluster.nodes_of(app.job)[2:]
    tasks = [cluster.lasting_tasks() for _ in range(2)]
    app.shell(f"srun -Q -N1 -n1 -w {kept[1]} --overlap {tasks[0].command} >/dev/null 2>&1 & "
              f"srun -Q -N1 -n1 -w {leaving[1]} --overlap {tasks[1].command} >/dev/null 2>&1 & disown -a")

    def steps():
        text = cluster.run("squeue", "--steps", "--noheader", "--format=%i %N",
                           "--job", app.job).out
        return {line.split()[1] for line in text.splitlines()
                if line.split()[0].split(".")[1].isdigit()}
    for one in tasks:
        one.wait(1)
    assert steps() == {kept[1], leaving[1]}
    offer = offered_shrink(cluster, app, 2)
    assert cluster.expand(offer["node_list"]) == leaving
    app.do("accept", offer["op"])
    app.event("accepted")
    app.do("done", offer["op"])
    app.event("resized")
    wait_until(lambda: steps() == {kept[1]}, lambda: f"one step is left, not {steps()}")
    assert app.shell(f"srun -Q -N1 -n1 -w {kept[1]} --overlap hostname")["code"] == 0


def test_a_declined_offer_changes_nothing(cluster, elastic):
    elastic(BackOff=3600)
    app = cluster.actor("malleable,min=1,max=8", "-N4")
    offer = offered_shrink(cluster, app, 2)
    app.do("decline", offer["op"], "busy with a checkpoint")
    ended = app.event("ended")
    assert (ended["outcome"], ended["op"]) == ("declined", offer["op"])
    assert len(cluster.nodes_of(app.job)) == 4
    assert cluster.journal(app.job, "decline")[0]["reason"] == "busy with a checkpoint"


def test_kill_is_for_those_who_had_agreed(cluster, elastic):
    elastic(ShrinkTimeout="kill")
    app = cluster.actor("malleable,min=1,max=8,grace=1", "-N4")
    offered_shrink(cluster, app, 2)
    assert app.event("ended", within=10)["outcome"] == "expired"
    assert len(cluster.nodes_of(app.job)) == 4


@pytest.mark.parametrize("answered", [False, True], ids=["no answer", "never done"])
def test_a_shrink_expires(cluster, answered):
    app = cluster.actor("malleable,min=1,max=8,grace=1", "-N4")
    offer = offered_shrink(cluster, app, 2)
    assert offer["deadline"] <= 1
    if answered:
        app.do("accept", offer["op"])
        app.event("accepted")
    ended = app.event("ended", within=10)
    assert (ended["outcome"], ended["op"]) == ("expired", offer["op"])
    assert len(cluster.nodes_of(app.job)) == 4
    assert app.call("done", offer["op"]) < 0
    cluster.wait_journal(app.job, "expire", op=offer["op"])
    # It still takes part.
    offer = offered_shrink(cluster, app, 3)
    app.do("accept", offer["op"])


def test_what_resizes_take_is_measured(cluster, elastic):
    elastic(Policy="easy", ResizeGap=2)
    app = cluster.actor("malleable,min=1,max=8,grace=60", "-N4", "--time=10")
    offer = offered_shrink(cluster, app, 2)
    app.do("accept", offer["op"])
    app.event("accepted")
    app.shell("sleep 2")  # it moves its data
    app.do("done", offer["op"])
    assert app.event("resized")["size"] == 2

    def measured():
        return cluster.selastic("show", app.job)["job"].get("rescale")
    assert measured()["measured"] == 1 and 2 <= measured()["seconds"] < 60
    assert "(1 measured)" in cluster.run("selastic", "show", app.job).out
    before = measured()
    # Half the nodes, twice the time for what was left, and what the resize took.
    resized = cluster.journal(app.job, "resize")[-1]["time"]
    times = [datetime.datetime.fromisoformat(cluster.job(app.job)[key]).timestamp() for key in ("StartTime", "EndTime")]
    needed = resized + 2 * (times[0] + 600 - resized) + before["seconds"]
    assert abs(times[1] - needed) <= 1

    def planned():
        running = cluster.selastic("snapshot")["snapshot"]["running"]
        return next((job for job in running if job["id"] == app.job and "rescale_time" in job), None)
    entry = wait_until(planned, "a pass knows of it")
    assert entry["rescale_time"] == entry["elastic"]["cost"]["sync"] == before["seconds"]
    cluster.restart_controller()
    cluster.wait_connected(app.job)
    assert measured() == before


def test_how_a_job_scales_is_learnt_from_its_progress(cluster):
    app = cluster.actor("malleable,min=1,max=8,rho=0.9,grace=60", "-N2", "--time=60")
    app.do("progress", 1000.0)
    op = offered_expand(cluster, app, 4)["op"]
    app.do("accept", op)
    app.event("accepted")
    assert app.event("resized")["size"] == 4
    app.do("done", op)
    cluster.wait_journal(app.job, "ready", op=op)
    app.do("progress", 500.0)

    def learnt():
        return cluster.selastic("show", app.job)["job"].get("scaling")
    assert wait_until(learnt, "two sizes were seen", within=60)["rho"] < 0.2
    assert "scaling      rho=0.0" in cluster.run("selastic", "show", app.job).out

    def planned():
        running = cluster.selastic("snapshot")["snapshot"]["running"]
        return any(job["id"] == app.job and job["elastic"].get("rho", 0) < 0.2 for job in running)
    wait_until(planned, "a pass plans with it")
    cluster.restart_controller()
    cluster.wait_connected(app.job)
    assert learnt()["measured"] == 1


def test_an_expansion_expires(cluster):
    app = cluster.actor("malleable,min=1,max=8,grace=1", "-N4")
    offer = offered_expand(cluster, app, 6)
    ended = app.event("ended", within=10)
    assert (ended["outcome"], ended["op"]) == ("expired", offer["op"])
    assert len(cluster.nodes_of(app.job)) == 4


def test_an_expansion_nobody_confirms_is_over_after_a_while(cluster):
    app = cluster.actor("malleable,min=1,max=8,grace=1", "-N2")
    offer = offered_expand(cluster, app, 3)
    app.do("accept", offer["op"])
    app.event("accepted")
    app.event("resized")

    def free():
        entry = next(job for job in cluster.selastic("jobs")["jobs"] if job["job"] == app.job)
        return "agreement" not in entry
    wait_until(free, "no agreement is in flight", within=10)
    assert len(cluster.nodes_of(app.job)) == 3


def test_kill_takes_the_nodes_at_the_deadline(cluster, elastic):
    elastic(ShrinkTimeout="kill")
    app = cluster.actor("malleable,min=1,max=8,grace=1", "-N4")
    offer = offered_shrink(cluster, app, 2)
    app.do("accept", offer["op"])
    app.event("accepted")
    resized = app.event("resized", within=10)
    assert (resized["kind"], resized["size"]) == ("shrink", 2)
    assert len(cluster.nodes_of(app.job)) == 2


def test_an_evolving_job_asks_and_gives_back(cluster):
    app = cluster.actor("evolving,min=1,max=6", "-N2")
    app.do("request", 3, 1, 0.0)
    queued = app.event("queued")
    resized = app.event("resized")
    assert (resized["op"], resized["size"]) == (queued["op"], 5)
    app.do("done", resized["op"])
    cluster.wait_journal(app.job, "ready")
    app.do("release", 4, None)
    app.event("queued")
    resized = app.event("resized")
    assert (resized["kind"], resized["size"]) == ("shrink", 1)
    assert cluster.nodes_of(app.job) == [app.opened["batch_host"]]


def test_a_request_beyond_the_range_is_denied(cluster):
    app = cluster.actor("evolving,min=1,max=4", "-N2")
    result = app.call("request", 5, 5, 0.0)
    if result == 0:
        while True:
            event = app.event()
            if event["event"] == "ended":
                assert event["outcome"] == "denied"
                break
            assert event["event"] == "queued"
    assert len(cluster.nodes_of(app.job)) == 2


def test_a_request_now_or_never_is_denied_on_a_full_cluster(cluster):
    app = cluster.actor("evolving,min=1,max=4", "-N2")
    other = cluster.sbatch("-N6", wrap="sleep 60")
    cluster.wait_state(other, "RUNNING")
    app.do("request", 1, 1, 0.0)
    app.event("queued")
    assert app.event("ended")["outcome"] == "denied"


def test_a_request_waits_for_nodes(cluster):
    app = cluster.actor("evolving,min=1,max=4", "-N2")
    other = cluster.sbatch("-N6", wrap="sleep 60")
    cluster.wait_state(other, "RUNNING")
    app.do("request", 2, 2, 30.0)
    app.event("queued")
    app.no_event()
    cluster.run("scancel", other)
    assert app.event("resized")["size"] == 4


def test_a_request_can_be_withdrawn(cluster):
    app = cluster.actor("evolving,min=1,max=4", "-N2")
    other = cluster.sbatch("-N6", wrap="sleep 60")
    cluster.wait_state(other, "RUNNING")
    app.do("request", 2, 2, 30.0)
    op = app.event("queued")["op"]
    app.do("cancel", 0)
    ended = app.event("ended")
    assert (ended["op"], ended["outcome"]) == (op, "cancelled")


def test_a_malleable_job_may_not_ask(cluster):
    app = cluster.actor("malleable,min=1,max=4", "-N2")
    if app.call("request", 1, 1, 0.0) == 0:
        ended = app.event("ended")
        assert ended["outcome"] == "denied"
        assert "evolving" in ended["reason"]


def test_the_batch_host_cannot_be_given_back(cluster):
    app = cluster.actor("evolving,min=1,max=4", "-N2")
    if app.call("release", 0, app.opened["batch_host"]) == 0:
        assert app.event("ended")["outcome"] == "denied"
    assert len(cluster.nodes_of(app.job)) == 2


def test_a_shrunk_job_may_run_longer(cluster):
    app = cluster.actor("malleable,min=1,max=8", "-N4", "--time=10")
    before = cluster.job(app.job)["TimeLimit"]
    assert before == "00:10:00"
    cluster.run("selastic", "shrink", app.job, 2)
    app.take_shrink()
    # Half the nodes, twice the time for what is left.
    assert cluster.job(app.job)["TimeLimit"] in ("00:20:00", "00:19:00")


def test_a_longer_limit_ends_where_the_partitions_does(cluster):
    app = cluster.actor("malleable,min=1,max=4", "-N4", "--time=2", "-p", "left")
    cluster.run("selastic", "shrink", app.job, 1)
    app.take_shrink()
    assert cluster.job(app.job)["TimeLimit"] == "00:03:00"


def test_an_application_without_an_agreement_is_no_candidate(cluster):
    job = cluster.sbatch("--elastic=malleable,min=1,max=8", "-N4", wrap="sleep 60")
    cluster.wait_state(job, "RUNNING")
    result = cluster.run("selastic", "shrink", job, 2, check=False)
    assert result.code != 0
    assert "has not connected" in result.err + result.out


def test_resizes_are_in_the_accounting(cluster):
    app = cluster.actor("malleable,min=1,max=8", "-N4")
    cluster.run("selastic", "shrink", app.job, 2)
    app.take_shrink()
    app.exit()
    cluster.wait_state(app.job, "COMPLETED")
    path = cluster.dir / "log" / "jobcomp"

    def records():
        lines = path.read_text().splitlines() if path.exists() else []
        mine = [line for line in lines if line.startswith(f"JobId={app.job} ")]
        return len(mine) == 2 and mine
    resized, final = wait_until(records, "two records of the job are there")
    assert "JobState=RESIZING" in resized and "NodeCnt=4" in resized
    assert "JobState=COMPLETED" in final and "NodeCnt=2" in final


def test_a_requeued_job_asks_for_what_its_user_asked_for(cluster):
    app = cluster.actor("malleable,min=1,max=8", "-N4", "--requeue")
    limit = cluster.job(app.job)["TimeLimit"]
    cluster.run("selastic", "shrink", app.job, 1)
    app.take_shrink()
    wait_until(lambda: cluster.job(app.job)["TimeLimit"] != limit, "its time limit is extended")
    cluster.run("selastic", "expand", app.job, 7)
    app.take_expand()
    cluster.run("scontrol", "requeuehold", app.job)
    cluster.wait_state(app.job, "PENDING")
    wait_until(lambda: cluster.job(app.job)["TimeLimit"] == limit, "its limit is as it was")
    cluster.run("scontrol", "update", f"JobId={app.job}", "StartTime=now+2")
    cluster.run("scontrol", "release", app.job)
    app.restart()
    assert len(cluster.nodes_of(app.job)) == 4
    assert app.opened["nodes"] == 4
    assert "billing=16" in cluster.job(app.job)["TRES"]
    assert cluster.wait_journal(app.job, "end")["state"] == "REQUEUED"
    cluster.run("selastic", "shrink", app.job, 2)
    assert app.take_shrink()["size"] == 2


@pytest.mark.parametrize("restart", [False, True], ids=["reconfigure", "restart"])
def test_the_batch_host_survives_a_growth_by_lower_nodes(cluster, restart):
    """Slurm takes the first node for the batch host when it reads its records anew."""
    lower = cluster.sbatch("-N2", "--exclusive", wrap="sleep 60")
    cluster.wait_state(lower, "RUNNING")
    app = cluster.actor("malleable,min=1,max=8", "-N2")
    batch_host = app.opened["batch_host"]
    cluster.run("scancel", lower)
    wait_until(lambda: len(cluster.queue()) == 1, "the lower nodes are free")
    cluster.run("selastic", "expand", app.job, 4)
    app.take_expand()
    assert cluster.nodes_of(app.job)[0] < batch_host
    cluster.wait_journal(app.job, "ready")
    if restart:
        cluster.restart_controller()
    else:
        cluster.reconfigure("configuration read")
    cluster.wait_connected(app.job)
    if cluster.mode == "ms":
        cluster.run("selastic", "shrink", app.job, 1)
        assert app.take_shrink()["size"] == 1
        assert cluster.nodes_of(app.job) == [batch_host]
    app.exit()
    cluster.wait_state(app.job, "COMPLETED")


def test_an_array_that_was_resized_has_succeeded(cluster):
    """For who waits for its success; Slurm's accounting of a resize looks like a failed end."""
    array = cluster.sbatch("--array=1-4%2", "--elastic=malleable,min=1,max=3", "-N2",
                           wrap="selastic release 1 --timeout 30")
    after = cluster.sbatch(f"--dependency=afterok:{array}", wrap="true")
    cluster.wait_state(after, "COMPLETED")
    assert len(cluster.journal(event="resize")) >= 4


def test_a_resize_lets_no_other_task_of_an_array_begin(cluster):
    """A change of size is no end, so not more run at a time than the array's limit."""
    array = cluster.sbatch("--array=1-2%1", "--elastic=malleable,min=1,max=3", "-N2",
                           wrap="selastic release 1 --timeout 30; sleep 600")
    cluster.wait_size(f"{array}_1", 1)
    behind = cluster.sbatch("-N2", "--exclusive", wrap="true")
    cluster.wait_state(behind, "COMPLETED")
    states = cluster.run("squeue", "--noheader", "--array", f"--jobs={array}", "--format=%K %T").out.splitlines()
    assert sorted(states) == ["1 RUNNING", "2 PENDING"], states
    cluster.run("scancel", array)


def occupy_other_nodes(cluster, held):
    """All but those that the test's job holds."""
    other = cluster.sbatch(f"-N{cluster.nodes - held}", "--exclusive", wrap="sleep 600")
    cluster.wait_state(other, "RUNNING")


def leave_one(cluster, app, kind):
    """The job's program gives up its second node, or is asked to."""
    if kind == "evolving":
        app.do("release", 1, None)
        app.event("queued")
        app.event("resized")
    else:
        cluster.run("selastic", "shrink", app.job, 1)
        app.take_shrink()


def get_one(cluster, app, kind):
    """The program asks for a second node, or is given one; it has it then."""
    if kind == "evolving":
        app.do("request", 1, 1, 20.0)
        app.event("queued")
        app.do("done", app.event("resized")["op"])
    else:
        cluster.run("selastic", "expand", app.job, 2)
        app.take_expand()


def step_on_two(app):
    ran = app.shell("bash -c 'conf=$SLURM_CONF; unset ${!SLURM_*}; export SLURM_CONF=$conf"
                    f" SLURM_JOB_ID={app.job}; exec srun -N2 -n2 true'", within=60)
    assert ran["code"] == 0 and "revoked" not in ran["err"], ran


@pytest.mark.parametrize("kind", ["evolving", "malleable"])
def test_steps_start_on_a_node_that_comes_back_at_once(cluster, kind):
    """A slurmd takes no step of a job whose credential is from the second in which the job left the node."""
    app = cluster.actor(f"{kind},min=1,max=2", "-N2")
    occupy_other_nodes(cluster, 2)
    before = cluster.nodes_of(app.job)
    for _ in range(6):
        leave_one(cluster, app, kind)
        get_one(cluster, app, kind)
        assert cluster.nodes_of(app.job) == before
        step_on_two(app)


def left_and_got_at_once(cluster, job):
    """Whether the job's last two resizes were of one second, which had not ended when the node was chosen."""
    left, got = (event["time"] for event in cluster.journal(job, event="resize")[-2:])
    return int(left) == int(got + 0.1)


@pytest.mark.modes("ms")  # a front end revokes nothing
@pytest.mark.parametrize("kind", ["evolving", "malleable"])
def test_another_node_joins_in_the_second_in_which_one_was_left(cluster, kind):
    """Only the node that was left takes no steps of the job until the second is over."""
    app = cluster.actor(f"{kind},min=1,max=2", "-N2")
    for _ in range(20):
        before = cluster.nodes_of(app.job)
        leave_one(cluster, app, kind)
        get_one(cluster, app, kind)
        step_on_two(app)
        if left_and_got_at_once(cluster, app.job):
            assert cluster.nodes_of(app.job) != before
            return
    pytest.fail("no node joined in the second in which one was left")


@pytest.mark.modes("ms")  # a front end ends such a step whole
def test_a_step_that_outlives_its_node(cluster):
    """Its job does not get the node back while the step, which Slurm still counts there, goes on elsewhere."""
    app = cluster.actor("malleable,min=1,max=3", "-N2")
    tasks = cluster.lasting_tasks()
    srun = ("bash -c 'conf=$SLURM_CONF; unset ${!SLURM_*}; export SLURM_CONF=$conf"
            f" SLURM_JOB_ID={app.job}; exec srun -N2 -n2 --no-kill {tasks.command}' >/dev/null 2>&1 </dev/null &")
    assert app.shell(srun)["code"] == 0
    tasks.wait(2)
    before = cluster.nodes_of(app.job)
    cluster.run("selastic", "shrink", app.job, 1)
    app.take_shrink()
    assert f"{app.job}.0" in cluster.run("squeue", "--steps").out
    left = cluster.journal(app.job, event="resize")[-1]["time"]
    wait_until(lambda: time.time() > left + 1, "the second in which the node was left is over")
    cluster.run("selastic", "expand", app.job, 2)
    app.take_expand()
    assert before[1] not in cluster.nodes_of(app.job)
    cluster.run("scancel", f"{app.job}.0", check=False)
    wait_until(lambda: f"{app.job}.0" not in cluster.run("squeue", "--steps").out, "the step has ended")


@pytest.mark.modes("ms")  # a front end ends such a step whole
def test_a_node_comes_back_under_an_overlapping_step(cluster):
    """Slurm counts nothing to such a step, so its job gets back the nodes that it was on; its end is no error."""
    app = cluster.actor("malleable,min=1,max=3", "-N3")
    end = cluster.base / "out" / f"end-{app.job}"
    begin = ("bash -c 'conf=$SLURM_CONF; unset ${!SLURM_*}; export SLURM_CONF=$conf"
             f" SLURM_JOB_ID={app.job}; exec srun --overlap ")
    begun = cluster.base / "out" / f"begun-{app.job}"
    assert app.shell(f"{begin} -N3 -n3 bash -c \"touch {begun}.\\$SLURM_PROCID;"
                     f" until [ -e {end} ]; do sleep 0.1; done\"'"
                     " >/dev/null 2>&1 </dev/null &")["code"] == 0
    steps = lambda: cluster.run("squeue", "--steps").out  # noqa: E731
    wait_until(lambda: len(list(begun.parent.glob(f"{begun.name}.*"))) == 3, "the step's tasks run")
    before = cluster.nodes_of(app.job)
    occupy_other_nodes(cluster, 3)
    for _ in range(2):
        cluster.run("selastic", "shrink", app.job, 2)
        app.take_shrink()
        cluster.run("selastic", "expand", app.job, 3)
        app.take_expand()
        assert cluster.nodes_of(app.job) == before
    assert f"{app.job}.0" in steps()
    ran = app.shell(f"{begin} -N3 -n3 true'", within=60)
    assert ran["code"] == 0, ran
    end.touch()
    wait_until(lambda: f"{app.job}.0" not in steps(), "the step has ended")


@pytest.mark.modes("ms")  # a front end ends such a step whole
def test_nodes_left_to_a_step_are_open_to_other_jobs(cluster, elastic):
    """Only the step's own job does not get them, and is not offered them."""
    one = cluster.actor("malleable,min=1,max=4", "-N4")
    tasks = cluster.lasting_tasks()
    srun = ("bash -c 'conf=$SLURM_CONF; unset ${!SLURM_*}; export SLURM_CONF=$conf"
            f" SLURM_JOB_ID={one.job}; exec srun -N4 -n4 --no-kill {tasks.command}' >/dev/null 2>&1 </dev/null &")
    assert one.shell(srun)["code"] == 0
    try:
        tasks.wait(4)
        other = cluster.actor("malleable,min=1,max=4", "-N2")
        left = cluster.nodes_of(one.job)[2:]
        cluster.run("selastic", "shrink", one.job, 2)
        one.take_shrink()
        elastic(Policy="lina-default")
        for app in (one, other):
            size = app.take_expand()["size"]
            if size < 4 and SLURM_VERSION >= (23, 11):  # a node had yet to report to the slurmctld that is another
                size = app.take_expand()["size"]
            assert size == 4
        assert cluster.nodes_of(other.job)[:2] == left
    finally:  # or tasks on nodes that the job has no more would outlive it
        cluster.run("scancel", f"{one.job}.0", check=False)
    wait_until(lambda: f"{one.job}.0" not in cluster.run("squeue", "--steps").out, "the step has ended")
