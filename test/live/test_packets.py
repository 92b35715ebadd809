# SPDX-License-Identifier: MIT
"""Jobs of one type follow each other on a node that is initialised once for them."""

import json
import pwd

import pytest
from elastic_live import wait_until

OTHER = "nobody"


class Site:
    """A program that initialises, and what it and the jobs left: lines of what ran where, in order."""

    def __init__(self, cluster, name):
        self.cluster, self.folder = cluster, cluster.base / "out" / name
        self.folder.mkdir()
        self.folder.chmod(0o777)
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
    assert set(cluster.node_states().values()) == {"idle"}


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
    app.exit()
