# SPDX-License-Identifier: MIT
"""Jobs that change size under slurmdbd: what it has of them, and limits that it sets.

Slurm asks limits when a job starts.  A job that grows must not get round them,
and nobody gives up nodes for a job that a limit keeps from starting.
"""

import json
import re
import time

import pytest
from conftest import USER
from elastic_live import BESIDE_SLURM, SLURM_VERSION, wait_until, wait_for_another_second

pytestmark = pytest.mark.modes("ms")


def resize(cluster, app, nodes):
    """By an operator's order, all the way."""
    grows = nodes > len(cluster.nodes_of(app.job))
    cluster.run("selastic", "expand" if grows else "shrink", app.job, nodes)
    resized = app.take_expand() if grows else app.take_shrink()
    assert resized["size"] == nodes
    return resized


def finish(cluster, app):
    app.exit()
    cluster.wait_state(app.job, "COMPLETED")


def refused_growth(cluster, app, nodes):
    """Why an accepted offer of so many nodes has come to nothing."""
    cluster.run("selastic", "expand", app.job, nodes)
    app.do("accept", app.event("offer_expand")["op"])
    app.event("accepted")
    ended = app.event("ended")
    assert ended["outcome"] == "cancelled"
    return ended["reason"]


def is_complete(records, lost=None):
    """sacct's, of (nodes, state, end)."""
    return records and records[-1][1] == "COMPLETED" and "Unknown" not in {
        end for nodes, _, end in records if nodes != lost}


def wait_complete(sacct, job, lost=None):
    """Until the database has the job's end, and no record of it without one, but of the size that is `lost`."""
    wait_until(lambda: is_complete(sacct(job, "nnodes", "state", "end"), lost),
               lambda: f"sacct has the end of job {job}: {sacct(job, 'nnodes', 'state', 'end')}",
               within=60)
    return sacct(job, "nnodes", "state", "end")


def test_the_database_has_every_size(cluster, account, sacct):
    app = account.actor("malleable,min=1,max=8", "-N2")
    for size, to in ((2, 6), (6, 3)):
        wait_until(lambda size=size: sacct(app.job, "nnodes")[-1:] == [(str(size),)],
                   f"sacct has job {app.job} on {size} nodes")
        wait_for_another_second()
        resize(cluster, app, to)
    finish(cluster, app)
    records = wait_complete(sacct, app.job)
    assert [(nodes, state) for nodes, state, _ in records] == \
        [("2", "RESIZING"), ("6", "RESIZING"), ("3", "COMPLETED")]


def test_the_database_has_the_devices_of_every_size(cluster, account, sacct):
    app = account.actor("malleable,min=1,max=8", "-N2", "--gres=gpu:1")
    for size, to in ((2, 5), (5, 1)):
        wait_until(lambda size=size: sacct(app.job, "nnodes")[-1:] == [(str(size),)],
                   f"sacct has job {app.job} on {size} nodes")
        wait_for_another_second()
        resize(cluster, app, to)
    finish(cluster, app)
    wait_complete(sacct, app.job)
    devices = [dict(part.split("=") for part in tres.split(",")).get("gres/gpu")
               for (tres,) in sacct(app.job, "alloctres")]
    assert devices == ["4", "10", "2"]


def test_sizes_that_follow_on_each_other(cluster, account, sacct):
    """Faster than slurmdbd answers: it may miss some, but none stays open for ever."""
    app = account.actor("malleable,min=1,max=8", "-N2")
    for nodes in (8, 1, 7, 2, 6, 3):
        resize(cluster, app, nodes)
    finish(cluster, app)
    records = wait_complete(sacct, app.job)
    assert records[-1][0] == "3", records


def test_growth_ends_at_an_association_limit(cluster, account, elastic):
    account.limit("GrpTRES=node=4", r"GrpTRES=.*node=4\(")
    elastic(Policy="lina-default")
    app = account.actor("malleable,min=1,max=8", "-N2")
    assert app.take_expand()["size"] == 4
    assert refused_growth(cluster, app, 8).endswith("AssocGrpNodeLimit")
    cluster.wait_two_passes()
    app.no_event()
    assert len(cluster.nodes_of(app.job)) == 4
    account.limit("GrpTRES=node=7", r"GrpTRES=.*node=7\(")
    assert app.take_expand()["size"] == 7
    finish(cluster, app)


def test_growth_ends_at_a_limit_of_gpus(cluster, account, elastic):
    """All devices of whole nodes count, as when a job starts, and in the database, too."""
    account.limit("GrpTRES=gres/gpu=6", r"GrpTRES=.*gres/gpu=6\(")
    elastic(Policy="lina-default")
    app = account.actor("malleable,min=1,max=8", "-N2", "--gres=gpu:1")
    assert "gres/gpu=4" in cluster.job(app.job)["TRES"]
    assert app.take_expand()["size"] == 3
    assert "gres/gpu=6" in cluster.job(app.job)["TRES"]
    cluster.wait_two_passes()
    app.no_event()
    resize(cluster, app, 1)
    assert "gres/gpu=2" in cluster.job(app.job)["TRES"]
    finish(cluster, app)


def test_a_request_beyond_a_limit_is_denied_in_time(cluster, account):
    """Though there are idle nodes, and Slurm is asked again meanwhile; why is said once."""
    account.limit("GrpTRES=node=2", r"GrpTRES=.*node=2\(")
    app = account.actor("evolving,min=1,max=8", "-N2")
    since = len(cluster.log)
    app.do("request", 1, 1, 4.0)
    app.event("queued")
    ended = app.event()
    assert (ended["event"], ended["outcome"]) == ("ended", "denied"), ended
    assert "AssocGrpNodeLimit" in ended["reason"], ended
    assert cluster.log[since:].count(f"job {app.job}: cannot grow") == 1


def test_a_request_is_granted_when_a_limit_is_raised(cluster, account):
    account.limit("GrpTRES=node=2", r"GrpTRES=.*node=2\(")
    app = account.actor("evolving,min=1,max=8", "-N2")
    app.do("request", 1, 1, 600.0)
    app.event("queued")
    wait_until(lambda: f"job {app.job}: cannot grow" in cluster.log, "Slurm has refused it")
    account.limit("GrpTRES=node=3", r"GrpTRES=.*node=3\(")
    assert app.event("resized")["size"] == 3


def test_other_jobs_count_for_an_association_limit(cluster, account, elastic):
    account.limit("GrpTRES=node=4", r"GrpTRES=.*node=4\(")
    elastic(Policy="lina-default")
    other = account.sbatch("-N1", "--exclusive", wrap="sleep 600")
    cluster.wait_state(other, "RUNNING")
    app = account.actor("malleable,min=1,max=8", "-N1")
    assert app.take_expand()["size"] == 3
    cluster.run("scancel", other)
    assert app.take_expand()["size"] == 4
    finish(cluster, app)


def test_growth_ends_at_a_qos_limit(cluster, account, elastic):
    qos = f"qos-{account.name}"
    account.add_qos(qos, "MaxTRESPerJob=node=4", "MaxTRESPJ=node=4$")
    elastic(Policy="lina-default")
    app = account.actor("malleable,min=1,max=8", "-N2", f"--qos={qos}")
    assert app.take_expand()["size"] == 4
    assert refused_growth(cluster, app, 8).endswith("QOSMaxNodePerJobLimit")
    cluster.wait_two_passes()
    app.no_event()
    account.change_qos(qos, "MaxTRESPerJob=node=6", "MaxTRESPJ=node=6$")
    assert app.take_expand()["size"] == 6
    finish(cluster, app)


@pytest.mark.skipif(SLURM_VERSION < (24, 11), reason="a job has one QOS")
def test_a_job_starts_with_any_of_its_qos(cluster, account):
    for name, nodes in (("wide", 6), ("tight", 2)):
        account.sacctmgr("add", "qos", f"{account.name}{name}", f"GrpTRES=node={nodes}")
    both = f"{account.name}wide,{account.name}tight"
    account.sacctmgr("modify", "user", USER, "where", f"account={account.name}", "set", f"qos+={both}")
    rigid = account.sbatch("-q", both, "-N4", "--exclusive", wrap="sleep 600")
    cluster.wait_state(rigid, "RUNNING")
    assert cluster.job(rigid)["QOS"] == f"{account.name}wide"
    app = account.actor("malleable,min=1,max=8", "-q", both, "-N1")
    assert cluster.job(app.job)["QOS"] in both.split(",")
    second = account.sbatch("-q", both, "-N2", "--exclusive", wrap="sleep 600")
    cluster.wait_state(second, "RUNNING")


@pytest.fixture
def bounds(cluster):
    """bounds(LEAST, MOST): how many nodes the partition allows to a job; none after the test."""
    def change(least, most):
        cluster.run("scontrol", "update", "PartitionName=debug", f"MinNodes={least}", f"MaxNodes={most}")
    yield change
    cluster.clean()
    change(0, "UNLIMITED")


def test_a_qos_waives_the_limits_of_a_partition(cluster, account, bounds):
    """On the number of nodes of a job, at its start and when it grows."""
    qos = f"waiver-{account.name}"
    account.add_qos(qos, "MaxTRESPerJob=node=8", "MaxTRESPJ=node=8$")
    account.sacctmgr("modify", "qos", qos, "set", "Flags=PartitionMaxNodes,PartitionMinNodes")
    account.change_qos(qos, "MaxTRESPerJob=node=7", "MaxTRESPJ=node=7$")
    bounds(2, 2)
    larger = ["sbatch", "-A", account.name, "--elastic=malleable,min=1,max=8", "-N2", "--wrap", "true"]
    refused = cluster.run(*larger, user="daemon", check=False)
    assert "max=8 is larger than partition debug" in refused.err
    app = account.actor("malleable,min=1,max=8", "-N3", f"--qos={qos}")
    resize(cluster, app, 4)
    for nodes in (1, 3):
        job = account.sbatch(f"-N{nodes}", "--exclusive", f"--qos={qos}", wrap="true")
        cluster.wait_state(job, "COMPLETED")
    account.sacctmgr("modify", "user", "daemon", "where", f"account={account.name}", "set", f"DefaultQOS={qos}")
    wait_until(lambda: cluster.run(*larger, user="daemon", check=False).code == 0,
               "a job without --qos has the user's own")
    finish(cluster, app)


@pytest.mark.skipif(not BESIDE_SLURM, reason="it is with Starts=slurm that Slurm's loops say it")
def test_why_a_job_waits_is_what_slurm_has_said(cluster, account):
    """No question of ours makes it None until Slurm's next cycle."""
    account.limit("GrpTRES=node=1", r"GrpTRES=.*node=1\(")
    cluster.wait_state(account.sbatch("-N1", "--exclusive", wrap="sleep 600"), "RUNNING")
    limited = account.sbatch("-N1", "--exclusive", wrap="sleep 600")
    wait_until(lambda: cluster.job(limited)["Reason"] == "AssocGrpNodeLimit", "it is at its limit")
    before = len(cluster.journal())
    seen = set()
    for _ in range(3):
        other = cluster.sbatch("-N1", "--exclusive", wrap="true")
        seen |= {cluster.job(limited)["Reason"] for _ in range(30)}
        cluster.wait_state(other, "COMPLETED")
    assert seen == {"AssocGrpNodeLimit"} and len(cluster.journal()) > before


def test_limited_jobs_in_front_block_nobody(cluster, account, elastic):
    account.limit("GrpTRES=node=1", r"GrpTRES=.*node=1\(")
    elastic(Policy="lina-default")
    limited = [account.sbatch("-N1", "--exclusive", wrap="sleep 600") for _ in range(30)]
    other = cluster.sbatch("-N7", "--exclusive", wrap="sleep 600")
    cluster.wait_state(other, "RUNNING")
    cluster.wait_state(limited[0], "RUNNING")
    states = cluster.run("squeue", "--noheader", "--user=daemon", "--format=%T").out.split()
    assert sorted(states) == ["PENDING"] * 29 + ["RUNNING"]


def reasons_of_components(cluster, job):
    return [cluster.job(f"{job}+{part}").get("Reason") for part in (0, 1)]


def submit_two_before(account, limit, shown):
    """Newer releases refuse components that are together beyond a limit of the time of their submission."""
    component = ["-N1", "--exclusive", "--time=2", "--hold"]
    job = account.sbatch(*component, ":", *component, wrap="true")
    account.limit(limit, shown)
    account.cluster.run("scontrol", "release", job)
    return job


of_components = pytest.mark.starts_itself("backfill starts one component and undoes that where a limit bars the other")


@of_components
@pytest.mark.parametrize("one, two, reason", [("GrpJobs=1", "GrpJobs=2", "AssocGrpJobsLimit"),
                                              ("GrpTRES=node=1", "GrpTRES=node=2", "AssocGrpNodeLimit"),
                                              ("GrpTRES=cpu=6", "GrpTRES=cpu=8", "AssocGrpCpuLimit")])
def test_a_limit_on_all_components_keeps_each_of_them(cluster, account, one, two, reason):
    """None of them is started and given up again, and nothing is counted for that."""
    def shown(setting):
        key, value = setting.rsplit("=", 1)
        return rf"{key.replace('=', '=.*')}={value}\("
    job = submit_two_before(account, one, shown(one))
    wait_until(lambda: reason in reasons_of_components(cluster, job),
               lambda: f"it is at its limit: {reasons_of_components(cluster, job)}")
    cluster.wait_two_passes()
    assert [cluster.state(f"{job}+{part}") for part in (0, 1)] == ["PENDING"] * 2
    assert "gives its nodes back" not in "".join(line for line in cluster.log.splitlines() if f"job {job}:" in line)
    assert set(account.used()) <= {"GrpSubmitJobs"}, account.used()
    account.limit(two, shown(two))
    for part in (0, 1):
        cluster.wait_state(f"{job}+{part}", "COMPLETED")


@of_components
def test_a_component_that_slurm_refuses_undoes_the_start_of_the_other(cluster, account):
    """Of the minutes that both take together nobody has thought before."""
    job = submit_two_before(account, "GrpTRESRunMins=node=3", r"GrpTRESRunMins=.*node=3\(")
    wait_until(lambda: f"job {job}: gives its nodes back" in cluster.log, "the first one has had nodes")
    wait_until(lambda: reasons_of_components(cluster, job)[0] == "BeginTime",
               lambda: f"it waits again: {reasons_of_components(cluster, job)}")
    assert [cluster.state(f"{job}+{part}") for part in (0, 1)] == ["PENDING"] * 2
    wait_until(lambda: set(account.used()) <= {"GrpSubmitJobs"}, lambda: f"it has nothing: {account.used()}")
    other = cluster.sbatch("-N8", "--exclusive", wrap="true")
    cluster.wait_state(other, "COMPLETED")
    cluster.run("scancel", job)


@pytest.mark.starts_itself("it is for its loops to stop")
def test_a_limited_job_stops_its_partition_where_a_site_wants_it(cluster, account):
    usual = "sched_interval=-1,defer"
    account.limit("GrpTRES=node=1", r"GrpTRES=.*node=1\(")
    cluster.set_slurm(SchedulerParameters=f"{usual},assoc_limit_stop")
    try:
        cluster.wait_state(account.sbatch("-N1", "--exclusive", wrap="sleep 600"), "RUNNING")
        limited = account.sbatch("-N1", "--exclusive", wrap="sleep 600")
        wait_until(lambda: cluster.job(limited)["Reason"] == "AssocGrpNodeLimit", "it is at its limit")
        behind = cluster.sbatch("-N1", "--exclusive", wrap="sleep 600")
        wait_until(lambda: cluster.job(behind)["Reason"] == "Priority", "it waits by its priority")
        cluster.wait_two_passes()
        assert cluster.state(behind) == "PENDING"
    finally:
        cluster.set_slurm(SchedulerParameters=usual)
    cluster.wait_state(behind, "RUNNING")


@pytest.mark.starts_itself("its loops find it out when they try them")
def test_accounts_at_their_limits_are_found_out_together(cluster, accounts, elastic):
    """Not with a plan for each: there may be hundreds in front of who could start."""
    for account in accounts:
        account.limit("GrpTRES=node=1", r"GrpTRES=.*node=1\(")
    elastic(Policy="lina-default")
    cluster.run("scontrol", "setdebug", "debug")
    try:
        limited = [account.sbatch("-N8", "--exclusive", "--begin=now+2", wrap="sleep 600")
                   for account in accounts]
        other = cluster.sbatch("-N8", "--exclusive", "--begin=now+2", wrap="sleep 600")
        cluster.wait_state(other, "RUNNING")
        barred = set(re.findall(r"job (\d+): barred: AssocGrpNodeLimit", cluster.log))
        assert len(barred & {str(job) for job in limited}) >= len(limited) - 1
    finally:
        cluster.run("scontrol", "setdebug", "info")


def test_nobody_shrinks_for_a_limited_job(cluster, account, elastic):
    account.limit("GrpTRES=node=3", r"GrpTRES=.*node=3\(")
    elastic(Policy="lina-default")
    first = account.sbatch("-N2", "--exclusive", wrap="sleep 600")
    cluster.wait_state(first, "RUNNING")
    app = cluster.actor("malleable,min=1,max=5", "-N5")
    limited = account.sbatch("-N2", "--exclusive", wrap="sleep 600")
    fits = cluster.sbatch("-N1", "--exclusive", wrap="sleep 600")
    cluster.wait_state(fits, "RUNNING")
    cluster.wait_two_passes()
    app.no_event()
    wait_until(lambda: cluster.job(limited)["Reason"] == "AssocGrpNodeLimit",
               lambda: f"the job waits for its limit: {cluster.job(limited)}")
    assert not cluster.journal(app.job, "offer")
    account.limit("GrpTRES=node=4", r"GrpTRES=.*node=4\(")
    assert app.take_shrink()["size"] == 3
    cluster.wait_state(limited, "RUNNING")


def test_no_other_victim_shrinks_once_a_limit_is_known(cluster, account, elastic):
    """That the job may not start is found out by the first of the two that would have to."""
    account.limit("GrpTRES=node=3", r"GrpTRES=.*node=3\(")
    elastic(Policy="lina-default")
    first = account.sbatch("-N2", "--exclusive", wrap="sleep 600")
    cluster.wait_state(first, "RUNNING")
    apps = [cluster.actor("malleable,min=1,max=3", "-N3") for _ in range(2)]
    limited = account.sbatch("-N4", "--exclusive", wrap="sleep 600")
    wait_until(lambda: cluster.job(limited)["Reason"] == "AssocGrpNodeLimit",
               lambda: f"the job waits for its limit: {cluster.job(limited)}")
    cluster.wait_two_passes()
    for app in apps:
        app.no_event()
        assert not cluster.journal(app.job, "offer")


def test_a_pass_under_a_limit_can_be_made_again(cluster, account, elastic):
    """With a job that has more nodes than its account may have any more."""
    elastic(Policy="lina-default")
    app = account.actor("malleable,min=1,max=8", "-N6")
    account.limit("GrpTRES=node=4", r"GrpTRES=.*node=4\(")
    cluster.wait_two_passes()
    text = cluster.run("selastic", "snapshot").out
    running = json.loads(text)["snapshot"]["running"]
    assert [job["elastic"]["max"] for job in running if job["id"] == app.job] == [6]
    replayed = cluster.run("selastic-sim", "replay-snapshot", "-", stdin=text)
    assert replayed.out.endswith("same plan\n"), str(replayed)


@pytest.mark.parametrize("size", ["beneficial", "equal-share"])
def test_who_may_not_have_more_starts_with_what_was_asked_for(cluster, account, elastic, size):
    account.limit("GrpTRES=node=3", r"GrpTRES=.*node=3\(")
    elastic(Policy="lina-default", InitialSize=size)
    other = account.sbatch("-N1", "--exclusive", wrap="sleep 600")
    cluster.wait_state(other, "RUNNING")
    long = cluster.actor("malleable,min=1,max=7", "-N7", "--time=50")
    asking = account.sbatch("--elastic=malleable,min=1,pref=2,max=6", "-N2", "--exclusive",
                            "--time=5", wrap="sleep 600")
    assert long.take_shrink()["size"] == 5
    cluster.wait_state(asking, "RUNNING")
    assert len(cluster.nodes_of(asking)) == 2


@pytest.mark.starts_itself("a job starts with what it asks for")
def test_who_may_not_have_more_is_not_expanded_from_its_start(cluster, account, elastic):
    account.limit("GrpTRES=node=3", r"GrpTRES=.*node=3\(")
    elastic(Policy="lina-default", ExpandFrom="start")
    other = account.sbatch("-N1", "--exclusive", wrap="sleep 600")
    cluster.wait_state(other, "RUNNING")
    asking = account.sbatch("--elastic=malleable,min=1,max=6", "-N1", wrap="sleep 600")
    cluster.wait_state(asking, "RUNNING")
    assert len(cluster.nodes_of(asking)) == 1
    wide = cluster.sbatch("--elastic=malleable,min=1,max=6", "-N1", wrap="sleep 600")
    cluster.wait_state(wide, "RUNNING")
    assert len(cluster.nodes_of(wide)) == 6


def test_a_shrink_extends_no_limit_over_maxwall(cluster, account):
    def limit_after_shrink():
        app = account.actor("malleable,min=1,max=8", "-N4", "-t", "2")
        resize(cluster, app, 1)
        after = cluster.job(app.job)["TimeLimit"]
        finish(cluster, app)
        return after
    assert limit_after_shrink() > "00:02:00"
    account.limit("MaxWall=2", "MaxWallPJ=2$")
    assert limit_after_shrink() == "00:02:00"


def test_all_that_was_used_is_given_back(cluster, account):
    app = account.actor("malleable,min=1,max=8", "-N2", "-t", "30")
    other = account.actor("malleable,min=1,max=2", "-N1", "-t", "30")
    for nodes in (6, 3, 5, 2, 7, 4):
        resize(cluster, app, nodes)
        assert account.used()["GrpTRES node"] == nodes + 1
        assert account.used()["GrpTRESRunMins node"] == (nodes + 1) * 30
    finish(cluster, app)
    finish(cluster, other)
    assert not account.used()


def test_the_time_of_running_jobs_is_given_back(cluster, account):
    app = account.actor("malleable,min=1,max=8", "-N8", "-t", "30")
    began = cluster.wait_journal(app.job, "start")["time"]
    wait_until(lambda: time.time() > began + 3, "three seconds of the job have passed")
    # Its first round is at the start.
    cluster.restart_controller()
    wait_until(lambda: app.state()["connected"], "the application has reconnected")
    wait_until(lambda: set(cluster.node_states().values()) <= {"allocated", "idle"},
               lambda: f"all nodes have reported: {cluster.node_states()}")
    for nodes in (4, 8, 4, 8):
        resize(cluster, app, nodes)
    finish(cluster, app)
    assert not account.used()


def usage(account):
    """What the account's user has used, in seconds of processors."""
    return float(re.search(r"UsageRaw/Norm/Efctv=([0-9.]+)/", account.association()).group(1))


def test_no_time_is_counted_twice(cluster, account):
    """Each resize is an end to Slurm, which counts all since priority/multifactor's last round, as does the next."""
    app = account.actor("malleable,min=1,max=8", "-N8", "-t", "30")
    began = cluster.wait_journal(app.job, "start")["time"]
    wait_until(lambda: time.time() > began + 5, "five seconds of the job have passed")
    for nodes in (6, 4, 3, 2, 1):
        resize(cluster, app, nodes)
    finish(cluster, app)
    ended = cluster.wait_journal(app.job, "end")["time"]
    processors = int(cluster.run("scontrol", "show", "node", cluster.node_name(1)).out.split("CPUTot=")[1].split()[0])
    # Slurm counts whole seconds.
    assert 5 * 8 * processors <= usage(account) <= (ended - began + 2) * 8 * processors


@pytest.mark.parametrize("setting", ["MaxTRESMins=node=8", "GrpTRESMins=node=10", "GrpTRESRunMins=node=10"])
def test_growth_keeps_an_associations_limits_on_minutes(cluster, account, elastic, setting):
    """With what it has used, and to its end; a job that came to such a limit would be killed."""
    key = setting.split("=")[0]
    shown = {"MaxTRESMins": "MaxTRESMinsPJ=node=8", "GrpTRESMins": r"GrpTRESMins=.*node=10\(",
             "GrpTRESRunMins": r"GrpTRESRunMins=.*node=10\("}
    account.limit(setting, shown[key])
    elastic(Policy="lina-default")
    app = account.actor("malleable,min=1,max=8", "-N1", "-t", "4")
    assert app.take_expand()["size"] == 2
    assert f"{key.replace('MaxTRESMins', 'MaxTRESMinsPerJob')} node=" in refused_growth(cluster, app, 3)
    cluster.wait_two_passes()
    app.no_event()
    finish(cluster, app)


def test_growth_keeps_a_qos_limit_on_minutes(cluster, account, elastic):
    """A QOS counts in place of the association; its usage factor counts for groups."""
    qos = f"minutes-{account.name}"
    account.add_qos(qos, "MaxTRESMinsPerJob=node=12", "MaxTRESMinsPJ=node=12$")
    account.limit("MaxTRESMins=node=4", "MaxTRESMinsPJ=node=4$")
    elastic(Policy="lina-default")
    app = account.actor("malleable,min=1,max=8", "-N1", "-t", "4", f"--qos={qos}")
    assert app.take_expand()["size"] == 3
    assert refused_growth(cluster, app, 4).endswith(f"MaxTRESMinsPerJob node=12 of QOS {qos}")
    finish(cluster, app)


def test_a_usage_factor_counts_for_the_minutes_of_a_group(cluster, account, elastic):
    qos = f"factor-{account.name}"
    account.add_qos(qos, "MaxTRESPerJob=node=8", "MaxTRESPJ=node=8$")
    account.sacctmgr("modify", "qos", qos, "set", "UsageFactor=2")
    account.change_qos(qos, "GrpTRESRunMins=node=20", r"GrpTRESRunMins=.*node=20\(")
    elastic(Policy="lina-default")
    app = account.actor("malleable,min=1,max=8", "-N1", "-t", "4", f"--qos={qos}")
    assert app.take_expand()["size"] == 2
    finish(cluster, app)


def test_slurmdbd_dies_while_jobs_change_size(cluster, account, sacct, expect_errors):
    expect_errors.append("[Pp]ersist|Connection refused|DBD_|slurmdbd|slurm_receive_msg|"
                         "Failure sending message")
    app = account.actor("malleable,min=1,max=8", "-N2")
    wait_until(lambda: sacct(app.job, "state") == [("RUNNING",)], "sacct has the job")
    resize(cluster, app, 6)
    cluster.minicluster.kill("slurmdbd")
    for nodes in (3, 5):
        resize(cluster, app, nodes)
    cluster.minicluster.start("slurmdbd")
    wait_until(lambda: sacct(app.job, "nnodes")[-1:] == [("5",)],
               lambda: f"sacct has the last size: {sacct(app.job, 'nnodes', 'state', 'end')}")
    wait_for_another_second()
    resize(cluster, app, 4)
    finish(cluster, app)
    # Slurm loses the end of a size that came and went while slurmdbd was dead.
    records = wait_complete(sacct, app.job, lost="3")
    assert records[-1][0] == "4", records


def test_a_qos_that_the_association_has_lost(cluster, account, expect_errors):
    expect_errors.append("Invalid assoc_ptr")  # of Slurm's own job_fail_qos
    account.add_qos("lost", "MaxTRESPerJob=node=8", "node=8")
    job = account.sbatch("--hold", "--qos=lost", "-N1", wrap="true")
    account.sacctmgr("modify", "user", "daemon", "where", f"account={account.name}", "set", "qos-=lost")
    cluster.run("scontrol", "release", job)
    wait_until(lambda: cluster.job(job).get("Reason") == "InvalidQOS",
               lambda: f"job {job} has an invalid QOS: {cluster.job(job)}")
    assert cluster.state(job) == "PENDING"
    account.sacctmgr("modify", "user", "daemon", "where", f"account={account.name}", "set", "qos+=lost")
    cluster.wait_state(job, "COMPLETED")
