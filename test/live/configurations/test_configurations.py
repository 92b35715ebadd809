# SPDX-License-Identifier: MIT
"""A resize is right under every way of dividing nodes that slurm.conf knows.

Every test is a cluster of its own with one combination of settings. All pairs of values occur in some combination
(ELASTIC_ALL_CONFIGURATIONS=1: all combinations, which takes an hour). In each a job starts, grows, starts steps on what
it got, makes room for one that could preempt it and for a heterogeneous job, loses the controller in the middle of an
agreement, shrinks and ends; after every change its TRES are the same for each of its nodes as when it started, and at
the end nobody holds anything, by Slurm's own books.
"""

import itertools
import os
import re

import pytest
from elastic_live import ELASTIC, Cluster, wait_until

NODES, MEMORY = 6, 2000
DIVISIONS = ["linear", "linear:CR_Memory", "cons_tres:CR_CPU", "cons_tres:CR_Core", "cons_tres:CR_Core_Memory",
             "cons_tres:CR_CPU_Memory", "cons_tres:CR_Socket"]
SETTINGS = {
    "divided": DIVISIONS,
    "gres": ["", "gpu"],
    "prolog": ["", "Alloc", "Contain"],
    "cores": ["", "CoreSpecCount=1"],
    "task": ["none", "affinity", "cgroup"],
}
# With a front end Slurm takes no other, and sets nodes with GRES down, since it registers those of one node only.
FRONT_END = SETTINGS | {"gres": [""], "prolog": [""], "task": ["none"]}


def combinations(mode):
    settings = FRONT_END if mode == "fe" else SETTINGS
    return [dict(zip(settings, values)) for values in itertools.product(*settings.values())]


def pairs(settings):
    return set(itertools.combinations(settings.items(), 2))


def all_pairs(mode):
    """A few combinations in which each pair of values occurs that occurs at all: the one with most new pairs next."""
    left, chosen = combinations(mode), []
    missing = set().union(*map(pairs, left))
    while missing:
        best = max(left, key=lambda settings: len(pairs(settings) & missing))
        chosen.append(best)
        missing -= pairs(best)
    return chosen


def name_of(settings):
    return "-".join(value.replace(":", "_").replace("=", "").replace(",", "_") or "none"
                    for value in settings.values())


def pytest_generate_tests(metafunc):
    chosen = combinations if os.environ.get("ELASTIC_ALL_CONFIGURATIONS") else all_pairs
    modes = metafunc.config.getoption("--mode") or ["ms", "fe"]
    every = [(mode, settings) for mode in modes for settings in chosen(mode)]
    metafunc.parametrize("site", every, indirect=True,
                         ids=[f"{mode}-{name_of(settings)}" for mode, settings in every])


def cluster_of(mode, settings, build):
    """Up or not, as the settings say."""
    select, _, parameters = settings["divided"].partition(":")
    node = f"ALL CPUs=4 Sockets=2 CoresPerSocket=2 ThreadsPerCore=1 RealMemory={MEMORY} {settings['cores']}"
    conf = [f"TaskPlugin=task/{settings['task']}", "ProctrackType=proctrack/linuxproc",
            "PreemptType=preempt/elastic_partition_prio", "PreemptMode=REQUEUE",
            "PartitionName=urgent Nodes=ALL PriorityTier=10 DefaultTime=1 State=UP"]
    options = []
    if parameters:
        conf.append(f"SelectTypeParameters={parameters}")
    if settings["prolog"]:
        conf.append(f"PrologFlags={settings['prolog']}")
    if settings["gres"]:
        conf.append("GresTypes=gpu")
        node += " Gres=gpu:2"
        options += ["--file-line", "gres.conf", "Name=gpu File=@DIR@/dev/gpu[0-1]"]
    return Cluster(mode, select, nodes=NODES, build=build, conf=conf, options=[*options, "--node-line", node],
                   elastic=[f"{key}={value}" for key, value in (ELASTIC | {"PreemptShrinkTime": 60}).items()])


@pytest.fixture
def site(request):
    mode, settings = request.param
    with cluster_of(mode, settings, request.config.getoption("--build")) as cluster:
        cluster.settings = settings
        cluster.allowed_errors.append("If using PrologFlags=Contain for pam_slurm_adopt")
        yield cluster
        cluster.check_as_before()
        assert held(cluster) == nothing_held(settings), "of all nodes at the end"


def devices_of(cluster, job):
    """How many GPUs a job has of each of its nodes."""
    text = cluster.run("scontrol", "-d", "--oneliner", "show", "job", job).out
    found = re.findall(r" Nodes=(\S+) CPU_IDs=\S+ Mem=\S+ GRES=(\S*)", text)
    return {node: gres for nodes, gres in found for node in cluster.expand(nodes)}


def all_devices(cluster):
    """What a job with whole nodes has of each: nothing with select/linear."""
    return "gpu:0(IDX:)" if cluster.select == "linear" else "gpu:2(IDX:0-1)"


def tres(text):
    """cpu=8,mem=4000M,gres/gpu=2 as numbers."""
    return {name: float(re.sub("[MG]$", "", value)) * (1024 if value.endswith("G") else 1)
            for name, value in (part.split("=") for part in text.split(",") if "=" in part)}


def tres_of_each_node(cluster, job, nodes):
    """What a job has of each of its nodes; an error if that is not the same for all."""
    shown = tres(cluster.job(job)["TRES"])
    assert shown.get("node") == nodes, shown
    if cluster.settings["gres"]:
        assert devices_of(cluster, job) == dict.fromkeys(cluster.nodes_of(job), all_devices(cluster))
    return {name: value / nodes for name, value in shown.items()}


def held(cluster):
    """The counts of all nodes that say what jobs hold."""
    text = cluster.run("scontrol", "-d", "--oneliner", "show", "node").out
    return {(key, value) for key, value in re.findall(r"(CPUAlloc|AllocMem|AllocTRES|GresUsed)=(\S*)", text)}


def nothing_held(settings):
    nothing = {("CPUAlloc", "0"), ("AllocMem", "0"), ("AllocTRES", "")}
    if settings["gres"]:
        nothing.add(("GresUsed", "gpu:0"))
    return nothing


def step_reaches_all_nodes(cluster, app, nodes):
    """A step of a task a node runs on all that the job has."""
    shell = ("unset $(env | sed -n 's/^\\(SLURM_[A-Z_]*\\(NODE\\|TASK\\|NPROCS\\|CPUS\\|TRES\\)[A-Z_]*\\)=.*/\\1/p');"
             f" srun --overlap -N{nodes} -n{nodes} --ntasks-per-node=1 sh -c 'echo node $SLURMD_NODENAME'")
    ran = app.shell(shell, within=60)
    assert ran["code"] == 0 and ran["out"].count("node ") == nodes, ran


def makes_room_for_who_could_preempt_it(site, app, left):
    """Not for longer than that one runs."""
    urgent = site.sbatch("-p", "urgent", f"-N{NODES - left}", "--exclusive", "--mem=1000", wrap="sleep 600")
    assert app.take_shrink()["size"] == left
    site.wait_state(urgent, "RUNNING")
    assert site.job(app.job)["Restarts"] == "0"
    site.run("scancel", urgent)
    site.wait_state(urgent, "CANCELLED")


def components_run_together(site, nodes):
    """A heterogeneous job of all that is idle."""
    if site.mode == "fe":
        return  # of 22.05, a front end does not survive the end of such a batch job
    whole = ["--exclusive", "--mem=1000", "--time=1"]
    # Slurm refuses steps of any job that asks for GRES and was placed by select/linear.
    gpu = ["--gres=gpu:1"] if site.settings["gres"] and site.select != "linear" else []
    job = site.sbatch("-N1", *whole, ":", f"-N{nodes - 1}", *whole, *gpu,
                      wrap="srun --het-group=0,1 hostname; echo size=$SLURM_HET_SIZE")
    for component in (f"{job}+0", f"{job}+1"):
        site.wait_state(component, "COMPLETED", within=30)
    *hosts, size = site.output(job).split()
    assert len(hosts) == nodes and size == "size=2", site.output(job)


def test_grows_and_shrinks(site):
    app = site.actor("malleable,min=1,max=6", "-N2", "--mem=1000")
    one = tres_of_each_node(site, app.job, 2)
    site.run("selastic", "expand", app.job, NODES)
    app.take_expand()
    site.wait_size(app.job, NODES)
    assert tres_of_each_node(site, app.job, NODES) == one
    step_reaches_all_nodes(site, app, NODES)
    makes_room_for_who_could_preempt_it(site, app, NODES - 2)
    components_run_together(site, 2)
    assert tres_of_each_node(site, app.job, NODES - 2) == one

    site.run("selastic", "shrink", app.job, 1)
    offer = app.event("offer_shrink")
    wait_until(lambda: str(app.job).encode() in site.slurm_state("job_state"), "Slurm has saved the job")
    site.kill_controller()
    site.start_controller()
    wait_until(lambda: app.state()["connected"], "the application has reconnected")
    assert tres_of_each_node(site, app.job, NODES - 2) == one
    app.do("accept", offer["op"])
    app.event("accepted")
    app.do("done", offer["op"])
    app.event("resized")
    site.wait_size(app.job, 1)
    assert tres_of_each_node(site, app.job, 1) == one
    step_reaches_all_nodes(site, app, 1)
    app.exit()
    site.wait_state(app.job, "COMPLETED")
