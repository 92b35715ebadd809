# SPDX-License-Identifier: MIT
"""Annotations at submission: what is wrong is refused with one clear line, what is right is kept."""

import json
import subprocess

import pytest
from elastic_live import SLURM_VERSION, wait_until

# annotation, sbatch arguments, what the message must name
WRONG = [
    ("malleable,min=0", [], ["min", "1"]),
    ("malleable,max=-3", [], ["max"]),
    ("malleable,min=5,max=8", ["-N4"], ["min=5", "pref=4"]),
    ("malleable,min=2,pref=1,max=8", [], ["min=2", "pref=1"]),
    ("malleable,min=1,pref=7,max=6", [], ["pref=7", "max=6"]),
    ("malleable,min=4,max=2", [], ["min=4", "max=2"]),
    ("malleable,min=1,max=9", ["-N2"], ["max=9", "debug", "8"]),
    ("malleable,min=1,max=5", ["-N2", "-p", "left"], ["max=5", "left", "4"]),
    ("malleable,min=1,max=5", ["-N2", "-p", "debug,left"], ["max=5", "left", "4"]),
    ("malleable,size=3", [], ["size"]),
    ("malleable,min", [], ["min"]),
    ("malleable,min=1,min=2", [], ["min", "twice"]),
    ("malleable,,min=1", [], ["comma"]),
    ("mutable,min=1", [], ["mutable"]),
    ("malleable+malleable", [], ["malleable", "twice"]),
    ("min=1", [], ["class"]),
    ("malleable,min=2,max=6,sizes=1:4", ["-N4"], ["sizes", "1", "min=2"]),
    ("malleable,min=2,max=6,sizes=4:8", ["-N4"], ["sizes", "8", "max=6"]),
    ("malleable,min=5,max=7,sizes=pow2", [], ["sizes=pow2"]),
    ("malleable,min=1,max=8,sizes=pow2", ["-N3"], ["3", "pow2"]),
    ("malleable,min=1,max=4,sizes=prime", [], ["sizes", "prime"]),
    ("malleable,min=1,max=4,gap=soon", [], ["gap", "soon"]),
    ("malleable,min=1,max=4,grace=0", [], ["grace=0", "1 s"]),
    ("malleable,min=1,max=4,grace=1:00:01", [], ["grace=3601", "3600", "MaxGraceTime"]),
    ("malleable,min=1,max=4,rho=2", [], ["rho", "1"]),
    ("malleable,min=1,max=4,cost=1:2", [], ["cost"]),
    ("malleable,min=1,max=4,profile=2@10", [], ["profile", "evolving"]),
    ("evolving,min=1,max=4,profile=9@10", [], ["profile", "9", "max=4"]),
    ("malleable,min=1,max=4", ["--oversubscribe"], ["whole"]),
    ("malleable,min=1,max=4", ["--exclusive=user"], ["whole"]),
    ("malleable,min=1,max=4", ["--gpus=4"], ["--gpus", "--gpus-per-node"]),
    ("malleable,min=1,max=4", ["-n2", "--gpus-per-task=1"], ["task", "--gpus-per-node"]),
    ("malleable,min=1,max=4", ["-N2", "--constraint=[a*1&b*1]"], ["--constraint=[a*1&b*1]", "counts"]),
    ("malleable,min=1,max=4", ["-N2", "--prefer=a*2"], ["--prefer=a*2", "counts"]),
    ("malleable,min=1,max=4", ["--contiguous"], ["contiguous"]),
    ("malleable,min=1,max=4", ["--comment=elastic:malleable,min=2,max=4"], ["comment"]),
    ("malleable,min=1,max=3", ["-n16"], ["pref=4", "-n", "max=3"]),
    ("rigid,min=2", [], ["rigid"]),
    ("malleable+rigid", [], ["rigid"]),
]


def refused(cluster, words, *command):
    """The command fails, and exactly one line of its output comes from us and names these words."""
    result = cluster.run(*command, check=False, within=20)
    assert result.code != 0, str(result)
    ours = [line for line in result.err.splitlines() if "elastic: " in line]
    assert len(ours) == 1, str(result)
    for word in words:
        assert word in ours[0], (word, ours[0])


def shown_as_shared():
    """OverSubscribe of a job that shares its nodes' processors with others."""
    return "OK" if SLURM_VERSION < (26, 5) else "NO"


@pytest.mark.parametrize("annotation, arguments, words", WRONG,
                         ids=[f"{text}-{'-'.join(more)}" for text, more, _ in WRONG])
def test_wrong_values_are_refused(cluster, annotation, arguments, words):
    refused(cluster, words, "sbatch", f"--elastic={annotation}", *arguments, "--wrap", "true")
    assert not cluster.queue()


@pytest.mark.parametrize("command", [["sbatch", "--wrap", "true"], ["salloc", "true"],
                                     ["srun", "true"]], ids=["sbatch", "salloc", "srun"])
@pytest.mark.parametrize("front", ["--elastic={}", "--comment=elastic:{}"],
                         ids=["option", "comment"])
def test_every_way_of_submitting_refuses(cluster, command, front):
    given = front.format("malleable,min=3,pref=2,max=8")
    refused(cluster, ["min=3", "pref=2"], command[0], given, *command[1:])


@pytest.mark.parametrize("where", [["--elastic=malleable", "-N1", ":", "-N1"],
                                   ["-N1", ":", "-N1", "--elastic=malleable"]], ids=["first", "second"])
def test_no_component_of_a_heterogeneous_job_is_elastic(cluster, where):
    refused(cluster, ["a heterogeneous job cannot be elastic"], "sbatch", *where, "--wrap=true")


def annotation_of(cluster, job):
    return json.loads(cluster.job(job)["AdminComment"])


@pytest.mark.parametrize("front", ["--elastic={}", "--comment=elastic:{}"],
                         ids=["option", "comment"])
def test_the_normal_form_is_kept(cluster, front):
    job = cluster.sbatch("--hold", front.format("malleable+evolving,max=6,sizes=step:2,gap=1:30"),
                         "-N2", wrap="true")
    assert annotation_of(cluster, job) == {
        "elastic": 1, "class": "malleable+evolving", "min": 2, "pref": 2, "max": 6,
        "sizes": "step:2", "gap": 90}
    assert cluster.job(job)["OverSubscribe"] == "NO"
    assert cluster.job(job)["NumNodes"].startswith("2")


def test_data_is_moved_at_the_rate_of_the_site(cluster, elastic):
    elastic(LinkBandwidth="25G")
    job = cluster.sbatch("--hold", "--elastic=malleable,max=6,data=100G", "-N2", wrap="true")
    assert annotation_of(cluster, job)["cost"]["rate"] == 25e9


def test_a_range_of_nodes_sets_both_ends(cluster):
    job = cluster.sbatch("--hold", "--elastic=malleable", "-N2-6", wrap="true")
    kept = annotation_of(cluster, job)
    assert (kept["min"], kept["pref"], kept["max"]) == (2, 2, 6)


def test_pref_is_where_a_job_starts(cluster):
    app = cluster.actor("malleable,min=1,pref=3,max=6")
    assert app.opened["nodes"] == 3
    assert (app.opened["min"], app.opened["max"]) == (1, 6)


@pytest.mark.starts_itself("slurm.conf has no defer")
@pytest.mark.parametrize("command", [["salloc", "true"], ["srun", "true"]], ids=["salloc", "srun"])
def test_immediate_waits_for_so_many_seconds(cluster, command):
    """As with Slurm's own schedulers; without a number it is refused, as with defer."""
    full = cluster.sbatch(f"-N{cluster.nodes}", "--exclusive", wrap="sleep 100")
    cluster.wait_state(full, "RUNNING")
    name, program = command
    refused = cluster.run(name, "--immediate", "-N1", program, check=False)
    assert refused.code != 0 and "Individual job submission scheduling attempts deferred" in refused.out + refused.err
    given_up = cluster.run(name, "--immediate=2", "-N1", program, check=False)
    assert given_up.code != 0 and "queued and waiting for resources" in given_up.err, str(given_up)
    with subprocess.Popen([name, "--immediate=50", "-N1", "-J", "patient", program], env=cluster.env) as waiting:
        wait_until(lambda: "patient" in cluster.run("squeue", "-h", "-t", "PD", "-o", "%j").out, "it waits")
        cluster.run("scancel", full)
        assert waiting.wait(timeout=60) == 0


# Two tasks a node; sbatch counts them for one number of nodes only, that of -N.
TWO_A_NODE = [("malleable", ["-N2-4"], 2), ("malleable,min=2,max=4", [], 2),
              ("malleable,min=2,pref=3,max=4", ["-N2"], 3)]


def two_on_each(cluster, nodes):
    """SLURM_NTASKS and SLURM_TASKS_PER_NODE; a front end has all tasks itself."""
    return [str(2 * nodes), f"2(x{nodes})" if cluster.mode == "ms" else str(2 * nodes)]


@pytest.mark.parametrize("annotation, arguments, nodes", TWO_A_NODE,
                         ids=[" ".join([case[0], *case[1]]) for case in TWO_A_NODE])
def test_a_job_has_its_tasks_on_each_node_at_every_size(cluster, annotation, arguments, nodes):
    def tasks():
        return int(cluster.job(app.job)["NumTasks"])
    app = cluster.actor(annotation, *arguments, "--ntasks-per-node=2")
    assert app.shell("echo $SLURM_NTASKS $SLURM_TASKS_PER_NODE")["out"].split() == two_on_each(cluster, nodes)
    assert tasks() == 2 * nodes
    cluster.run("selastic", "expand", app.job, 4)
    app.take_expand()
    assert tasks() == 8
    cluster.run("scontrol", "update", f"JobId={app.job}", "JobName=another")  # Slurm may count them anew
    if cluster.mode == "ms":
        assert app.shell('eval "$(selastic env)"; srun -Q echo task')["out"].split() == ["task"] * 8
    cluster.run("selastic", "shrink", app.job, 2)
    app.take_shrink()
    assert tasks() == 4


@pytest.mark.starts_itself("a job starts with what it asks for")
def test_a_job_that_starts_larger_has_tasks_on_all_nodes(cluster, elastic):
    elastic(Policy="elastic")
    for arguments in (["--elastic=malleable,min=1,max=4", "-N2"], ["-N2-4", "--exclusive"]):
        job = cluster.sbatch(*arguments, "--ntasks-per-node=2", wrap="echo $SLURM_NTASKS $SLURM_TASKS_PER_NODE")
        cluster.wait_state(job, "COMPLETED")
        assert cluster.output(job).split() == two_on_each(cluster, 4), arguments


def test_salloc_and_srun_take_part(cluster):
    allocated = cluster.run("salloc", "--elastic=malleable,min=1,max=4", "-N2", "--quiet",
                            "bash", "-c", "scontrol show job $SLURM_JOB_ID; selastic env")
    assert '"class":"malleable"' in allocated.out.replace(" ", "")
    assert "SLURM_JOB_NUM_NODES=2" in allocated.out.replace("'", "").replace('"', "")
    if cluster.mode == "ms":
        ran = cluster.run("srun", "--elastic=malleable,min=1,max=4", "-N2", "--quiet",
                          "bash", "-c", "echo one of $SLURM_JOB_NUM_NODES")
        assert ran.out.splitlines() == ["one of 2"] * 2


def test_array_elements_are_jobs_of_their_own(cluster):
    array = cluster.sbatch("--elastic=malleable,min=1,max=4", "--array=0-2", "-N2",
                           wrap="sleep 60")

    def running():
        text = cluster.run("squeue", "--noheader", "--array", "--job", array, "--states=R",
                           "--format=%A %D").out
        return len(text.splitlines()) == 3 and text
    from elastic_live import wait_until
    text = wait_until(running, "three elements run")
    jobs = {line.split()[0] for line in text.splitlines()}
    assert len(jobs) == 3
    for job in jobs:
        assert annotation_of(cluster, job)["max"] == 4
    listed = {str(entry["job"]) for entry in cluster.selastic("jobs")["jobs"]}
    assert jobs <= listed


# sbatch arguments of a job submitted inside an elastic job; its annotation's min, pref, max
NESTED = [
    (["-N6"], None),
    (["-n1"], None),
    (["--export=NONE", "-n1"], None),
    (["--export=ALL", "-N6"], None),
    (["--array=0-1", "-n1"], None),
    (["--elastic=rigid", "-N6"], None),
    (["--elastic=malleable,max=6", "-N4"], [4, 4, 6]),
    (["--comment=elastic:malleable,max=5", "-N2"], [2, 2, 5]),
]


def sizes_of(cluster, job):
    """[min, pref, max] of the annotation; None without one."""
    comment = cluster.job(job).get("AdminComment")
    return comment and [json.loads(comment)[key] for key in ("min", "pref", "max")]


def nested_sbatch(app, *arguments, script=None):
    """The id of a job that an elastic job submits."""
    source = f"<<'END'\n{script}\nEND" if script else "--wrap true"
    done = app.shell(f"sbatch --parsable --hold -o /dev/null {' '.join(arguments)} {source}")
    assert done["code"] == 0, done
    return int(done["out"])


def test_a_nested_submission_inherits_nothing(cluster):
    app = cluster.actor("malleable,min=1,max=3", "-N2")
    for arguments, sizes in NESTED:
        job = nested_sbatch(app, *arguments)
        assert sizes_of(cluster, job) == sizes, arguments
        assert cluster.job(job)["OverSubscribe"] == ("NO" if sizes else shown_as_shared())
    job = nested_sbatch(app, script="#!/bin/sh\n#SBATCH --elastic=malleable,max=7 -N2\ntrue")
    assert sizes_of(cluster, job) == [2, 2, 7]
    inner = app.shell("salloc -n1 --quiet env")
    assert inner["code"] == 0 and "SPANK" not in inner["out"], inner


def test_salloc_and_its_shell_inherit_nothing(cluster):
    done = cluster.run("salloc", "--elastic=malleable,min=1,max=3", "-N2", "--quiet", "bash", "-c",
                       "sbatch --parsable --hold -N6 --wrap true; srun -n1 env")
    job, *environment = done.out.splitlines()
    assert sizes_of(cluster, job) is None
    assert not [line for line in environment if "SPANK" in line]


def test_steps_know_the_option(cluster):
    """A step whose srun had it is told so; slurmstepd complains of an option it does not know."""
    step = cluster.run("srun", "--elastic=malleable,min=1,max=4", "-N2", "--quiet", "true")
    assert not step.err
    job = cluster.run("salloc", "--elastic=malleable,min=1,max=4", "-N2", "--quiet", "srun", "true")
    assert not job.err
    for log in (cluster.dir / "log").glob("*.log"):
        assert "SPANK plugin" not in log.read_text(errors="replace"), log


def test_an_option_for_a_step_says_that_it_has_no_effect(cluster):
    done = cluster.run("salloc", "-N1", "--quiet", "srun", "--elastic=malleable", "true")
    assert "no effect" in done.err


@pytest.mark.parametrize("arguments", [
    ["--elastic=rigid"], ["--comment=elastic:rigid"],
    ["--elastic=rigid", "--comment=elastic:malleable,max=4"]], ids=" ".join)
def test_rigid_says_no(cluster, arguments):
    job = cluster.sbatch("--hold", *arguments, "-n1", wrap="true")
    assert sizes_of(cluster, job) is None
    assert cluster.job(job)["OverSubscribe"] == shown_as_shared()


def test_rigid_overrides_a_default_in_the_environment(cluster):
    default = {"SLURM_SPANK__SLURM_SPANK_OPTION_elastic_elastic": "malleable,max=4"}
    command = ["sbatch", "--parsable", "--hold", "-N2", "--wrap", "true"]
    assert sizes_of(cluster, int(cluster.run(*command, env=default).out)) == [2, 2, 4]
    assert sizes_of(cluster, int(cluster.run(*command, "--elastic=rigid", env=default).out)) is None


def test_an_ordinary_comment_is_one(cluster):
    for comment in ("elastic: my run", "elastic:", "elastic:run7,min=2", "my elastic:malleable"):
        result = cluster.run("sbatch", "--parsable", "--hold", f"--comment={comment}", "-n1",
                             "--wrap", "true")
        job = int(result.out)
        assert cluster.job(job)["Comment"].strip() == comment
        assert sizes_of(cluster, job) is None
        assert ("only a comment" in result.err) == comment.startswith("elastic:"), result.err
        cluster.run("scontrol", "update", f"JobId={job}", "Comment=elastic: another")


@pytest.mark.modes("fe")  # Debian has no scrontab
def test_scrontab_hands_on_the_comment_only(cluster):
    """Slurm crashes where a plugin adds to a request that scrontab makes."""
    def crontab(option):
        return cluster.run("scrontab", "-", stdin=f"#SCRON {option}\n0 0 1 1 * /bin/true\n",
                           check=False)
    result = crontab("--elastic=malleable,max=2")
    assert result.code == 1 and "--comment=elastic:" in result.err, str(result)
    result = crontab("--comment=elastic:malleable,max=2")
    assert result.code == 0, str(result)
    job = cluster.queue()[0].split()[0]
    assert sizes_of(cluster, job) == [1, 1, 2]
    cluster.run("scrontab", "-r")


# sbatch arguments on nodes of 4 CPUs: where the job starts
TASKS = [
    (["-n16"], 4), (["-n5"], 2), (["-n4"], 1), (["-n4", "-c2"], 2), (["-n4", "--ntasks-per-node=1"], 4),
    (["-N2-6", "-n16"], 4), (["-N3-6", "-n4"], 3), (["-n16", "--overcommit"], 1),
]


@pytest.mark.parametrize("arguments, nodes", TASKS, ids=[" ".join(case[0]) for case in TASKS])
def test_tasks_say_where_to_start(cluster, arguments, nodes):
    if "--overcommit" in arguments and SLURM_VERSION >= (24, 11):
        pytest.skip("Slurm itself does not start such a job")
    job = cluster.sbatch("--elastic=malleable,min=1,max=6", *arguments, wrap="sleep 60")
    assert sizes_of(cluster, job) == [1, nodes, 6]
    cluster.wait_state(job, "RUNNING")
    assert len(cluster.nodes_of(job)) == nodes


def test_srun_and_salloc_count_tasks_too(cluster):
    for command in ("salloc", "srun"):
        if command == "srun" and cluster.mode == "fe":
            continue
        done = cluster.run(command, "--elastic=malleable,min=1,max=6", "-n8", "--quiet",
                           "sh", "-c", "echo $SLURM_JOB_NUM_NODES")
        assert set(done.out.split()) == {"2"}


UPDATES = [['AdminComment={"elastic":1,"class":"malleable"}'], ["Comment=elastic:malleable,max=2"],
           ["NumNodes=7"], ["OverSubscribe=yes"], ["Partition=left"], ["NumNodes=1"],
           ["TresPerJob=gres:gpu:1"], ["Contiguous=yes"], ["NumNodes=2-5"], ["NumNodes=4-6"],
           ["Dependency=expand:1"]]


@pytest.mark.parametrize("change", UPDATES, ids=[" ".join(change) for change in UPDATES])
def test_an_update_cannot_corrupt_the_annotation(cluster, change):
    job = cluster.sbatch("--hold", "--elastic=malleable,min=2,max=6", "-N4", wrap="true")
    before = annotation_of(cluster, job)
    result = cluster.run("scontrol", "update", f"JobId={job}", *change, check=False)
    assert result.code != 0, str(result)
    assert annotation_of(cluster, job) == before
    assert cluster.job(job)["OverSubscribe"] == "NO"
    assert cluster.job(job)["NumNodes"].startswith("4")


def test_what_a_site_writes_stands_beside_the_annotation(cluster):
    """By its epilog or an operator; it does not cost the job its class."""
    job = cluster.sbatch("--hold", "--elastic=malleable,min=2,max=6", "-N4", wrap="true")
    first = annotation_of(cluster, job)
    for text in ('JS1:"\\', "later"):
        cluster.run("scontrol", "update", f"JobId={job}", f"AdminComment={text}")
        assert annotation_of(cluster, job) == {**first, "site": text}
    too_long = cluster.run("scontrol", "update", f"JobId={job}", f"AdminComment={'x' * 20000}", check=False)
    assert too_long.code != 0
    assert annotation_of(cluster, job) == {**first, "site": "later"}
    cluster.run("scontrol", "release", job)
    cluster.wait_state(job, "COMPLETED")


def test_an_update_within_the_range_is_taken(cluster):
    job = cluster.sbatch("--hold", "--elastic=malleable,min=2,max=6", "-N4", wrap="sleep 60")
    cluster.run("scontrol", "update", f"JobId={job}", "NumNodes=3", "Comment=mine")
    cluster.run("scontrol", "release", job)
    cluster.wait_state(job, "RUNNING")
    assert len(cluster.nodes_of(job)) == 3
    assert annotation_of(cluster, job)["max"] == 6


@pytest.mark.parametrize("change", [
    "Comment=elastic:malleable,max=4",
    'AdminComment={"elastic":1,"class":"malleable","min":1,"pref":2,"max":4}'],
    ids=["comment", "admin comment"])
def test_a_rigid_job_cannot_become_elastic(cluster, change):
    job = cluster.sbatch("--hold", "-N2", wrap="true")
    result = cluster.run("scontrol", "update", f"JobId={job}", change, check=False)
    assert result.code != 0
    assert "elastic" not in cluster.job(job).get("AdminComment", "")
    cluster.run("scontrol", "update", f"JobId={job}", "AdminComment=of the operator")


def test_fewer_nodes_need_no_more_processors(cluster):
    """A job of one task a node stays one, whatever its tasks were at submission."""
    job = cluster.sbatch("--hold", "--elastic=malleable,min=1,max=8", "-N8", wrap="sleep 60")
    assert cluster.job(job)["NumTasks"] == "8"
    cluster.run("scontrol", "update", f"JobId={job}", "NumNodes=1")
    assert (cluster.job(job)["NumTasks"], cluster.job(job)["NumCPUs"]) == ("1", "1")
    cluster.run("scontrol", "release", job)
    cluster.wait_state(job, "RUNNING")
    assert len(cluster.nodes_of(job)) == 1


def test_fewer_nodes_have_the_tasks_of_fewer_nodes(cluster):
    job = cluster.sbatch("--hold", "--elastic=malleable,min=1,max=8", "-N8", "--ntasks-per-node=2", "-c2", wrap="true")
    assert (cluster.job(job)["NumTasks"], cluster.job(job)["NumCPUs"]) == ("16", "32")
    cluster.run("scontrol", "update", f"JobId={job}", "NumNodes=3")
    assert (cluster.job(job)["NumTasks"], cluster.job(job)["NumCPUs"]) == ("6", "12")
