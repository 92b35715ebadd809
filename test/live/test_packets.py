# SPDX-License-Identifier: MIT
"""Jobs of one type follow each other on a node that is initialised once for them."""

import collections
import contextlib
import json
import pwd
import time

import pytest
from elastic_live import SLURM_VERSION, wait_until

OTHER = "daemon"


class Site:
    """A program that initialises, and what it and the jobs left: lines of what ran where, in order."""

    def __init__(self, cluster, name):
        self.cluster, self.folder = cluster, cluster.new_folder(name)
        self.log, self.program = self.folder / "log", self.folder / "init"
        self.log.touch()
        self.log.chmod(0o666)
        self.write(f'echo "init $ELASTIC_PACKET $ELASTIC_NODE $(id -un)" >>{self.log}')

    def write(self, script):
        self.program.write_text("#!/bin/sh\n" + script + "\n")
        self.program.chmod(0o755)

    def annotation(self, job_type="gauss"):
        return f"--elastic=packet={job_type},init={self.program}"

    def submit(self, *arguments, job_type="gauss", wrap=None, user=None):
        return self.cluster.sbatch(self.annotation(job_type), *arguments, wrap=wrap or self.says("job"), user=user)

    def says(self, word):
        return f'echo "{word} $SLURM_JOB_ID" >>{self.log}'

    def run(self, *arguments, state="COMPLETED", **keywords):
        job = self.submit(*arguments, **keywords)
        self.cluster.wait_state(job, state)
        return job

    def lines(self):
        return self.log.read_text().splitlines()

    def initialisations(self):
        return [line.split()[1:] for line in self.lines() if line.startswith("init ")]


@pytest.fixture
def site(cluster, request):
    return Site(cluster, request.node.name.replace("[", "-").rstrip("]"))


def on_first(cluster, *more):
    return ("-N1", "-w", cluster.node_name(1), *more)


def test_jobs_of_one_type_share_an_initialisation(cluster, site):
    jobs = [site.run(*on_first(cluster)) for _ in range(3)]
    assert site.lines() == [f"init gauss {cluster.node_name(1)} root", *[f"job {job}" for job in jobs]]


def test_another_type_in_between_ends_it(cluster, site):
    for job_type in ["gauss", "jacobi", "gauss"]:
        site.run(*on_first(cluster), job_type=job_type)
    assert [job_type for job_type, *_ in site.initialisations()] == ["gauss", "jacobi", "gauss"]


def test_a_job_without_a_type_in_between_ends_it(cluster, site):
    site.run(*on_first(cluster))
    plain = cluster.sbatch(*on_first(cluster), wrap=site.says("plain"))
    cluster.wait_state(plain, "COMPLETED")
    site.run(*on_first(cluster))
    assert len(site.initialisations()) == 2


def test_users_share_nothing(cluster, site):
    for user in [None, OTHER, None]:
        site.run(*on_first(cluster), user=pwd.getpwnam(OTHER).pw_uid if user else None)
    assert [user for *_, user in site.initialisations()] == ["root", OTHER, "root"]


def test_every_node_of_a_job_is_initialised_once(cluster, site):
    wrap = f"srun -N3 -n6 sh -c '{site.says('task')}'; srun -N3 -n3 true"
    site.run("-N3", "-n6", wrap=wrap)
    nodes = [node for _, node, _ in site.initialisations()]
    assert len(nodes) == 3 and len(set(nodes)) == 3
    assert sum(line.startswith("task ") for line in site.lines()) == 6


def test_a_step_that_loses_the_environment_ends_nothing(cluster, site):
    site.run(*on_first(cluster), wrap="srun --export=NONE /bin/true")
    site.run(*on_first(cluster))
    assert len(site.initialisations()) == 1


def test_an_initialisation_that_fails_fails_its_job_with_its_output(cluster, site):
    site.write("echo no licence; exit 3")
    failed = site.run(*on_first(cluster), state="FAILED")
    assert cluster.job(failed)["ExitCode"] == "3:0"
    output = cluster.output(failed)
    assert "no licence" in output
    assert f"did not initialise {cluster.node_name(1)} for jobs of type gauss: exit status 3" in output
    site.write(f"echo init gauss x x >>{site.log}")
    following = site.run(*on_first(cluster))
    assert site.lines() == ["init gauss x x", f"job {following}"]
    wait_until(lambda: set(cluster.node_states().values()) == {"idle"}, "no node is drained")


@pytest.mark.parametrize("mend, status", [("chmod -x", 126), ("rm", 127)], ids=["not-executable", "absent"])
def test_a_program_that_cannot_run_fails_its_job(cluster, site, mend, status):
    cluster.run(*mend.split(), site.program)
    failed = site.run(*on_first(cluster), state="FAILED")
    assert cluster.job(failed)["ExitCode"] == f"{status}:0"
    assert "did not initialise" in cluster.output(failed)


def test_a_cancelled_initialisation_is_done_again(cluster, site):
    started = site.folder / "started"
    site.write(f"touch {started}; sleep 600")
    job = site.submit(*on_first(cluster))
    wait_until(started.exists, "the initialisation to run")
    cluster.run("scancel", job)
    cluster.wait_state(job, "CANCELLED")
    site.write(f"echo init gauss x x >>{site.log}")
    site.run(*on_first(cluster))
    assert len(site.initialisations()) == 1


def test_a_job_within_another_inherits_no_type(cluster, site):
    inner = cluster.base / "out" / site.folder.name / "inner"
    site.run(*on_first(cluster), wrap=f"sbatch --parsable -w {cluster.node_name(2)} --wrap 'env >{inner}.env' >{inner}")
    cluster.wait_state(int(inner.read_text()), "COMPLETED")
    assert "ELASTIC_PACKET" not in (site.folder / "inner.env").read_text()
    assert len(site.initialisations()) == 1


def test_the_records_are_roots(cluster, site):
    site.run(*on_first(cluster), user=pwd.getpwnam(OTHER).pw_uid)
    records = cluster.dir / "initialised"
    owner, done = (records / f"{cluster.node_name(1)}.{kind}" for kind in ("owner", "done"))
    assert owner.stat().st_uid == 0 and owner.stat().st_mode & 0o777 == 0o600
    assert done.stat().st_uid == pwd.getpwnam(OTHER).pw_uid and done.stat().st_mode & 0o777 == 0o600
    assert records.stat().st_mode & 0o777 == 0o755
    assert json.loads(owner.read_text())["type"] == "gauss"


def test_elements_of_an_array_share_an_initialisation(cluster, site):
    first = site.submit("-a", "1-4", *on_first(cluster))
    cluster.wait_quiet_queue()
    assert len(site.initialisations()) == 1
    assert sum(line.startswith("job ") for line in site.lines()) == 4, first


def test_the_input_of_a_task_is_its_own(cluster, site):
    site.write(f"cat >>{site.log}; echo init gauss x x >>{site.log}")
    site.run("-N2", wrap=f"echo hello | srun -N2 -n2 -i 1 sh -c 'cat >>{site.log}'")
    assert sorted(site.lines()) == ["hello", "init gauss x x", "init gauss x x"]


@pytest.mark.skipif(SLURM_VERSION == (25, 5), reason="its batch scripts begin with SIGCHLD blocked: wait hangs")
def test_steps_that_begin_together_initialise_once(cluster, site):
    begun = site.folder / "begun"
    site.write(f"touch {begun}; while [ ! -e {site.folder}/go ]; do sleep 0.05; done; "
               f"echo init gauss x x >>{site.log}")
    wrap = (f"for i in 1 2 3; do srun --overlap -N1 -n1 -w {cluster.node_name(2)} sh -c '{site.says('task')}' & done; "
            "wait")
    job = site.submit("-N2", "-w", f"{cluster.node_name(1)},{cluster.node_name(2)}", wrap=wrap)
    wait_until(begun.exists, "an initialisation to run")
    (site.folder / "go").touch()
    cluster.wait_state(job, "COMPLETED")
    assert len(site.initialisations()) == 2
    assert sum(line.startswith("task ") for line in site.lines()) == 3


def test_what_an_initialisation_leaves_behind_keeps_nobody_waiting(cluster, site):
    """A daemon has neither the lock nor the record."""
    site.write(f"setsid sleep 600 >/dev/null 2>&1 & echo init gauss x x >>{site.log}")
    site.run(*on_first(cluster), wrap=f"srun -N1 -n1 sh -c '{site.says('task')}'")
    assert len(site.initialisations()) == 1


def test_an_initialisation_ends_with_the_time_limit_of_its_job(cluster, site):
    site.write("sleep 600")
    job = site.submit(*on_first(cluster))
    cluster.wait_state(job, "RUNNING")
    cluster.run("scontrol", "update", f"JobId={job}", "TimeLimit=00:00:01")
    cluster.wait_state(job, "TIMEOUT", within=90)


def test_a_requeued_job_finds_what_it_has_initialised(cluster, site):
    begun = site.folder / "begun"
    job = site.submit(*on_first(cluster), "--requeue",
                      wrap=f"[ $SLURM_RESTART_COUNT ] || {{ touch {begun}; sleep 600; }}; {site.says('job')}")
    wait_until(begun.exists, "the job to run")
    cluster.run("scontrol", "requeue", job)
    cluster.wait_state(job, "PENDING")
    cluster.run("scancel", job)
    site.run(*on_first(cluster))
    assert len(site.initialisations()) == 1


@pytest.mark.parametrize("command", ["salloc", "srun"])
def test_only_batch_jobs_have_a_type(cluster, site, command):
    result = cluster.run(command, site.annotation(), "true", check=False)
    assert result.code != 0
    assert "packet is for batch jobs" in result.err


def test_a_malleable_job_initialises_the_nodes_that_join(cluster, site):
    app = cluster.actor(f"malleable,min=1,max=2,packet=gauss,init={site.program}", "-N1")
    cluster.run("selastic", "expand", app.job, 2)
    offer = app.event("offer_expand")
    app.do("accept", offer["op"])
    app.event("accepted")
    ran = app.shell('eval "$(selastic env)"; srun -Q true')
    assert ran["code"] == 0, ran
    assert len(site.initialisations()) == 2
    assert initialised_nodes(cluster, [app.job]) == {"gauss": 2}
    app.exit()


# ---- groups: the scheduler lets jobs of one type follow each other

of_groups = pytest.mark.starts_itself("Slurm's loops know no groups")


@contextlib.contextmanager
def closed(cluster):
    """What is submitted meanwhile waits side by side; then all nodes are to be had at once, where those of a job that
    ends would come free one by one."""
    cluster.run("scontrol", "update", "PartitionName=debug", "State=DOWN")
    try:
        yield
    finally:
        cluster.run("scontrol", "update", "PartitionName=debug", "State=UP")


def of_type(site, job_type):
    return f'echo "job {job_type} $SLURM_JOB_ID $SLURM_JOB_NODELIST" >>{site.log}'


def completed(cluster, jobs):
    for job in jobs:
        cluster.wait_state(job, "COMPLETED", within=120)


def initialised_nodes(cluster, jobs):
    """How many nodes the jobs initialised, as the journal says, by type."""
    counts = collections.Counter()
    for event in cluster.journal(event="initialise"):
        if event["job"] in jobs:
            counts[event["type"]] += len(cluster.expand(event["nodes"]))
    return counts


@of_groups
def test_types_that_alternate_in_the_queue_follow_each_other(cluster, site):
    """In the order of the queue each job would initialise the node anew."""
    with closed(cluster):
        jobs = [site.submit("-N1", "-t1", job_type=job_type, wrap=of_type(site, job_type))
                for _ in range(6) for job_type in ("gauss", "jacobi")]
    completed(cluster, jobs)
    # Six jobs of a minute and an initialisation of another one: a node each, by ScaleRatio=4.
    assert collections.Counter(job_type for job_type, *_ in site.initialisations()) == {"gauss": 1, "jacobi": 1}
    ran = [line.split()[1:] for line in site.lines() if line.startswith("job ")]
    for remainder, job_type in enumerate(("gauss", "jacobi")):
        own = [entry for entry in ran if entry[0] == job_type]
        assert [int(job) for _, job, _ in own] == jobs[remainder::2]
        assert len({node for *_, node in own}) == 1
    assert initialised_nodes(cluster, jobs) == {"gauss": 1, "jacobi": 1}


@of_groups
def test_two_hundred_jobs_of_four_types(cluster, site):
    """Each node is initialised once a type at most, and no job ran before that."""
    types = ("gauss", "jacobi", "krylov", "newton")
    with closed(cluster):
        jobs = [site.submit("-N1", "-t1", job_type=types[number % 4],
                            wrap=f'echo "job $SLURM_JOB_ID $SLURM_JOB_NODELIST {types[number % 4]}" >>{site.log}')
                for number in range(200)]
    began = time.monotonic()
    completed(cluster, jobs)
    print(f"{time.monotonic() - began:.1f} s, {len(site.initialisations())} initialisations")
    initialised = {}
    for word, first, node, last in (line.split() for line in site.lines()):
        if word == "init":
            assert initialised.get(node) != first
            initialised[node] = first
        else:
            assert initialised[node] == last, f"job {first}"
    assert sorted(int(line.split()[1]) for line in site.lines() if line.startswith("job ")) == jobs
    count = collections.Counter(job_type for job_type, *_ in site.initialisations())
    assert all(count[job_type] <= 8 for job_type in types), count
    assert initialised_nodes(cluster, jobs) == count


class Gate:
    """What jobs wait for before they end."""

    def __init__(self, site):
        self.file = site.folder / "gate"

    def shut(self, site, word="job"):
        return f'{site.says(word)}; while [ ! -e {self.file} ]; do sleep 0.05; done'

    def open(self):
        self.file.touch()


@pytest.fixture
def gate(site):
    """A gate that is open in the end, so that no job outlives its test."""
    made = Gate(site)
    yield made
    made.open()


def group(cluster, site, count, *arguments, **keywords):
    """So many jobs of a minute that wait side by side, so four of them are given a node."""
    with closed(cluster):
        return [site.submit("-t1", *arguments, **keywords) for _ in range(count)]


def ran(site):
    """The numbers of jobs in the order in which they began."""
    return [int(line.split()[1]) for line in site.lines() if line.startswith("job ")]


@of_groups
def test_nobody_comes_between_the_jobs_of_a_group(cluster, site, gate):
    with closed(cluster):
        first = site.submit("-N1", "-t1", wrap=gate.shut(site))
        others = [site.submit("-N1", "-t1") for _ in range(3)]
        # It would run before the second job, since the queue has it before that.
        plain = cluster.sbatch("-N8", "--exclusive", "-t1", wrap=site.says("plain"))
    cluster.wait_state(first, "RUNNING")
    node = cluster.nodes_of(first)[0]
    short = cluster.sbatch("-N1", "-t1", "-w", node, wrap=site.says("short"))
    cluster.wait_two_passes()
    gate.open()
    completed(cluster, [first, *others, plain, short])
    assert len(site.initialisations()) == 1
    lines = [line.split()[0] for line in site.lines()]
    assert lines == ["init", "job", "job", "job", "job", *lines[5:]] and sorted(lines[5:]) == ["plain", "short"]


@of_groups
def test_what_comes_later_joins_a_later_group(cluster, site, gate):
    """So nobody waits for a type that never ends."""
    with closed(cluster):
        early = [site.submit("-N1", "-t1", wrap=gate.shut(site)) for _ in range(4)]
    cluster.wait_state(early[0], "RUNNING")
    plain = cluster.sbatch("-N8", "--exclusive", "-t1", wrap=site.says("plain"))
    cluster.wait_two_passes()
    late = [site.submit("-N8", "-t1") for _ in range(4)]
    cluster.wait_two_passes()
    gate.open()
    completed(cluster, [*early, plain, *late])
    words = [line.split()[0] for line in site.lines() if not line.startswith("init")]
    assert words == ["job"] * 4 + ["plain"] + ["job"] * 4


@of_groups
def test_jobs_of_other_sizes_share_the_nodes_of_their_group(cluster, site):
    with closed(cluster):
        jobs = [site.submit(f"-N{size}", "-t1") for size in (1, 3, 1, 2, 1)]
    completed(cluster, jobs)
    nodes = [node for _, node, _ in site.initialisations()]
    assert len(nodes) == len(set(nodes)) <= 3
    starts = [cluster.journal(job, "start")[0] for job in jobs]
    assert [start["count"] for start in starts] == [1, 3, 1, 2, 1]
    assert len({node for start in starts for node in cluster.expand(start["nodes"])}) == 3


@of_groups
def test_a_malleable_job_takes_the_nodes_of_its_group(cluster, site, gate):
    with closed(cluster):
        jobs = [cluster.sbatch(f"--elastic=malleable,min=1,max=8,packet=gauss,init={site.program}", "-N1", "-t1",
                               wrap=site.says("job")) for _ in range(12)]
    completed(cluster, jobs)
    starts = [cluster.journal(job, "start")[0] for job in jobs]
    assert [start["count"] for start in starts] == [3] * 12
    assert len({start["nodes"] for start in starts}) == 1
    assert ran(site) == jobs


@of_groups
def test_the_elements_of_an_array_are_a_group(cluster, site):
    with closed(cluster):
        array = site.submit("-N1", "-t1", "-a", "1-12")
        other = site.submit("-N1", "-t1", "-a", "1-4", job_type="jacobi")
    cluster.wait_quiet_queue()
    assert collections.Counter(job_type for job_type, *_ in site.initialisations()) == {"gauss": 3, "jacobi": 1}
    assert len(ran(site)) == 16, (array, other)


@of_groups
def test_an_array_that_is_throttled_stays_so(cluster, site, gate):
    with closed(cluster):
        site.submit("-N1", "-t4", "-a", "1-6%2", wrap=gate.shut(site))
    wait_until(lambda: len(ran(site)) == 2, "two elements to run")
    cluster.wait_two_passes()
    assert len(ran(site)) == 2
    gate.open()
    cluster.wait_quiet_queue()
    assert len(ran(site)) == 6


@of_groups
def test_a_group_goes_on_where_an_initialisation_fails(cluster, site):
    site.write(f'[ -e {site.folder}/mended ] || {{ touch {site.folder}/mended; echo no licence; exit 3; }}; '
               f'echo init gauss x x >>{site.log}')
    first, *others = group(cluster, site, 4, "-N1")
    cluster.wait_state(first, "FAILED")
    completed(cluster, others)
    assert "no licence" in cluster.output(first)
    assert site.lines() == ["init gauss x x", *[f"job {job}" for job in others]]
    wait_until(lambda: set(cluster.node_states().values()) == {"idle"}, "no node is drained")


@of_groups
def test_a_group_goes_on_without_those_who_leave_it(cluster, site, gate):
    with closed(cluster):
        jobs = [site.submit("-N1", "-t1", wrap=gate.shut(site) if number == 0 else None) for number in range(6)]
        other = site.submit("-N1", "-t1", job_type="jacobi")
    cancelled, held, later, moved = jobs[1:5]
    cluster.wait_state(jobs[0], "RUNNING")
    cluster.run("scancel", cancelled)
    cluster.run("scontrol", "hold", held)
    cluster.run("scontrol", "update", f"JobId={later}", "StartTime=now+1hour")
    cluster.run("scontrol", "update", f"JobId={moved}", "Partition=left")
    gate.open()
    completed(cluster, [jobs[0], moved, jobs[5], other])
    assert cluster.state(held) == cluster.state(later) == "PENDING"
    assert len([1 for job_type, *_ in site.initialisations() if job_type == "gauss"]) <= 2
    cluster.run("scontrol", "release", held)
    cluster.run("scontrol", "update", f"JobId={later}", "StartTime=now")
    completed(cluster, [held, later])
    assert sorted(ran(site)) == sorted(set(jobs) - {cancelled} | {other})


@of_groups
def test_a_member_that_waits_for_another_job_leaves(cluster, site, gate):
    with closed(cluster):
        jobs = [site.submit("-N1", "-t1", wrap=gate.shut(site) if number == 0 else None) for number in range(4)]
    cluster.wait_state(jobs[0], "RUNNING")
    cluster.run("scontrol", "update", f"JobId={jobs[1]}", f"Dependency=afterok:{jobs[3]}")
    gate.open()
    completed(cluster, jobs)
    assert ran(site) == [jobs[0], jobs[2], jobs[3], jobs[1]]
    assert len(site.initialisations()) == 1


@of_groups
def test_a_requeued_member_stands_in_the_queue_again(cluster, site, gate):
    with closed(cluster):
        first = site.submit("-N1", "-t1", "--requeue", wrap=gate.shut(site, "begun"))
        others = [site.submit("-N1", "-t1") for _ in range(3)]
    wait_until(lambda: f"begun {first}" in site.lines(), "the first job to run")
    cluster.run("scontrol", "requeue", first)
    completed(cluster, others)
    assert ran(site) == others
    assert len(site.initialisations()) == 1
    assert cluster.state(first) == "PENDING"


@of_groups
def test_users_have_groups_of_their_own(cluster, site, stranger):
    other = pwd.getpwnam(stranger).pw_uid
    with closed(cluster):
        jobs = [site.submit("-N1", "-t1", user=other if number % 2 else None) for number in range(8)]
    completed(cluster, jobs)
    assert collections.Counter(user for *_, user in site.initialisations()) == {"root": 1, stranger: 1}
    assert ran(site).index(jobs[6]) < len(jobs) and len(ran(site)) == 8
    assert initialised_nodes(cluster, jobs) == {"gauss": 2}


@of_groups
def test_a_group_outlives_its_controller(cluster, site, gate, expect_errors):
    expect_errors += ["Malformed RPC of type", "Header lengths are longer than data received"]  # what it said last
    with closed(cluster):
        jobs = [site.submit("-N1", "-t1", wrap=gate.shut(site) if number == 0 else None) for number in range(4)]
        plain = cluster.sbatch("-N8", "--exclusive", "-t1", wrap=site.says("plain"))
    cluster.wait_state(jobs[0], "RUNNING")
    wait_until(lambda: ran(site), "the first job to run")
    # Slurm starts a job anew that it has not saved.
    cluster.run("scontrol", "update", f"JobId={jobs[0]}", f"Comment={site.folder}")
    wait_until(lambda: str(site.folder).encode() + b"\0" in cluster.slurm_state("job_state"), "Slurm's state is saved")
    cluster.kill_controller()
    cluster.start_controller()
    cluster.wait_two_passes()
    gate.open()
    completed(cluster, [*jobs, plain])
    assert ran(site) == jobs
    assert len(site.initialisations()) == 1
    assert initialised_nodes(cluster, jobs) == {"gauss": 1}


@of_groups
def test_a_drained_node_leaves_its_group(cluster, site, gate):
    with closed(cluster):
        jobs = [site.submit("-N1", "-t1", wrap=gate.shut(site) if number < 2 else None) for number in range(8)]
    for job in jobs[:2]:
        cluster.wait_state(job, "RUNNING")
    drained = cluster.nodes_of(jobs[0])[0]
    cluster.run("scontrol", "update", f"NodeName={drained}", "State=DRAIN", "Reason=test")
    try:
        gate.open()
        completed(cluster, jobs)
    finally:
        cluster.run("scontrol", "update", f"NodeName={drained}", "State=RESUME")
    starts = [cluster.journal(job, "start")[0]["nodes"] for job in jobs]
    assert set(starts[2:]) == {starts[1]}
    assert len(site.initialisations()) == 2


@of_groups
def test_an_initialised_node_is_taken_again(cluster, site):
    """What comes alone goes where its type was before."""
    with closed(cluster):
        fourth = cluster.sbatch("-N1", "-t1", "-w", cluster.node_name(5), site.annotation(), wrap=site.says("job"))
    completed(cluster, [fourth])
    jobs = [site.run("-N1", "-t1") for _ in range(3)]
    assert {cluster.journal(job, "start")[0]["nodes"] for job in jobs} == {cluster.node_name(5)}
    assert len(site.initialisations()) == 1


@of_groups
def test_malleable_jobs_make_room_for_a_group(cluster, site, elastic, gate):
    """Its first job waits for the victims' nodes; all that they leave are its group's."""
    elastic(Policy="lina-default")
    app = cluster.actor("malleable,min=4,max=8", "-N8")
    sizes = ("-N4", "-t1")
    jobs = [site.submit(*sizes, wrap=gate.shut(site)) for _ in range(3)]
    app.take_shrink()
    cluster.wait_state(jobs[0], "RUNNING")
    cluster.wait_two_passes()
    gate.open()
    completed(cluster, jobs)
    assert ran(site) == jobs
    assert len({cluster.journal(job, "start")[0]["nodes"] for job in jobs}) == 1
    assert initialised_nodes(cluster, jobs) == {"gauss": 4}
    app.exit()


@of_groups
def test_a_group_takes_nodes_that_nobody_else_needs(cluster, site, gate):
    """It began on the one that was free; by the twelve jobs that wait then it is worth three."""
    blockers = [cluster.sbatch(f"-N{size}", "--exclusive", wrap="sleep 600") for size in (7, 1)]
    for blocker in blockers:
        cluster.wait_state(blocker, "RUNNING")
    jobs = [site.submit("-N1", "-t1", wrap=gate.shut(site)) for _ in range(13)]
    cluster.wait_two_passes()
    cluster.run("scancel", blockers[1])
    cluster.wait_state(jobs[0], "RUNNING")
    cluster.wait_two_passes()
    assert cluster.state(jobs[1]) == "PENDING"
    cluster.run("scancel", blockers[0])
    for job in jobs[:3]:
        cluster.wait_state(job, "RUNNING")
    cluster.wait_two_passes()
    assert cluster.state(jobs[3]) == "PENDING"
    gate.open()
    completed(cluster, jobs)
    assert len(site.initialisations()) == 3


@of_groups
def test_a_group_takes_no_nodes_that_others_wait_for(cluster, site, gate):
    blockers = [cluster.sbatch(f"-N{size}", "--exclusive", wrap="sleep 600") for size in (7, 1)]
    for blocker in blockers:
        cluster.wait_state(blocker, "RUNNING")
    jobs = [site.submit("-N1", "-t1", wrap=gate.shut(site)) for _ in range(12)]
    plain = cluster.sbatch("-N7", "--exclusive", "-t1", wrap=gate.shut(site, "plain"))
    cluster.wait_two_passes()
    cluster.run("scancel", blockers[1])
    cluster.wait_state(jobs[0], "RUNNING")
    cluster.run("scancel", blockers[0])
    cluster.wait_state(plain, "RUNNING")
    gate.open()
    completed(cluster, [*jobs, plain])


@of_groups
def test_a_limit_that_is_met_dissolves_the_group(cluster, site, gate):
    """A licence that is not there keeps its job, and neither its nodes nor the others."""
    holder = cluster.sbatch("-N1", "--exclusive", "-L", "beer:2", wrap=gate.shut(site, "holder"))
    cluster.wait_state(holder, "RUNNING")
    thirsty = site.submit("-N1", "-t1", "-L", "beer:1", job_type="jacobi")
    jobs = [site.submit("-N1", "-t1") for _ in range(4)]
    more = [site.submit("-N1", "-t1", "-L", "beer:1") for _ in range(2)]
    completed(cluster, jobs)
    cluster.wait_two_passes()
    assert {cluster.state(job) for job in (thirsty, *more)} == {"PENDING"}
    gate.open()
    completed(cluster, [holder, thirsty, *more])
