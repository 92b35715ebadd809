# SPDX-License-Identifier: MIT
"""Jobs on nodes with GPUs change their size: devices, processors and memory stay exact in all of Slurm's books.

The devices are made up (gres.conf names /dev/null by several names); what is tested is who has them.
"""

import random
import re
import time

import pytest
from elastic_live import ELASTIC, Cluster, wait_until

pytestmark = pytest.mark.modes("ms")  # a front end knows no devices, only their number

# One node has devices without a type, and the last two have other devices, and more of them.
NODES = ["n[1-5] CPUs=4 Sockets=2 CoresPerSocket=2 ThreadsPerCore=1 RealMemory=2000 Gres=gpu:a100:2",
         "n6 CPUs=4 Sockets=2 CoresPerSocket=2 ThreadsPerCore=1 RealMemory=2000 Gres=gpu:2",
         "n[7-8] CPUs=4 Sockets=2 CoresPerSocket=2 ThreadsPerCore=1 RealMemory=2000 Gres=gpu:h100:4"]
GRES = ["NodeName=n[1-5] Name=gpu Type=a100 File=@DIR@/dev/gpu[0-1]",
        "NodeName=n6 Name=gpu File=@DIR@/dev/gpu[0-1]",
        "NodeName=n[7-8] Name=gpu Type=h100 File=@DIR@/dev/gpu[0-3]"]
ALL = dict.fromkeys(["n1", "n2", "n3", "n4", "n5"], "gpu:a100:2(IDX:0-1)") | {"n6": "gpu:2(IDX:0-1)"} \
    | dict.fromkeys(["n7", "n8"], "gpu:h100:4(IDX:0-3)")


@pytest.fixture(scope="module")
def cluster(request):
    mode, select = request.param
    options = [word for line in NODES for word in ("--node-line", line)]
    options += [word for line in GRES for word in ("--file-line", "gres.conf", line)]
    with Cluster(mode, select, build=request.config.getoption("--build"), options=options,
                 conf=["GresTypes=gpu,mps", "SelectTypeParameters=CR_Core_Memory"],
                 elastic=[f"{key}={value}" for key, value in ELASTIC.items()]) as started:
        yield started


def devices_of_job(cluster, job):
    """{node: devices}"""
    text = cluster.run("scontrol", "-d", "--oneliner", "show", "job", job).out
    found = re.findall(r" Nodes=(\S+) CPU_IDs=\S+ Mem=\S+ GRES=(\S*)", text)
    return {node: gres for nodes, gres in found for node in cluster.expand(nodes)}


def held(cluster):
    """{node: (processors, memory, devices)} of the nodes of which anybody has anything."""
    text = cluster.run("scontrol", "-d", "--oneliner", "show", "node").out
    found = re.findall(r"^NodeName=(\S+).* CPUAlloc=(\d+).* GresUsed=([^\s,(]+)\S* .*AllocMem=(\d+)", text, re.M)
    return {node: (int(cpus), int(memory), gres) for node, cpus, gres, memory in found
            if (cpus, memory) != ("0", "0") or not gres.endswith(":0")}


def books_agree(cluster, app):
    """Job, nodes and TRES all say that the job has all of its nodes, and nobody has anything else."""
    nodes = cluster.nodes_of(app.job)
    assert devices_of_job(cluster, app.job) == {node: ALL[node] for node in nodes}
    assert held(cluster) == {node: (4, 500, ALL[node].split("(")[0]) for node in nodes}
    shown = cluster.job(app.job)["TRES"]
    assert shown == f"cpu={4 * len(nodes)},mem={500 * len(nodes)}M,node={len(nodes)},billing={4 * len(nodes)}"


# What sbatch has put into the environment is of the size that the job had then.
PRESENT_SIZE = "conf=$SLURM_CONF; unset ${!SLURM_*}; export SLURM_CONF=$conf SLURM_JOB_ID="


def srun(app, *arguments, background=False):
    """A step on what the job has now; what it printed."""
    command = f"bash -c '{PRESENT_SIZE}{app.job}; exec srun {' '.join(arguments)}'"
    if background:
        return app.shell(f"{command} >/dev/null 2>&1 </dev/null &")
    ran = app.shell(command, within=60)
    assert ran["code"] == 0, ran
    return ran["out"]


def resize(cluster, app, to):
    before = len(cluster.nodes_of(app.job))
    cluster.run("selastic", "expand" if to > before else "shrink", app.job, to)
    (app.take_expand if to > before else app.take_shrink)()
    cluster.wait_size(app.job, to)


def test_fifty_resizes(cluster):
    """With steps that run over some of them, on nodes that come and go before and behind those that stay."""
    dice = random.Random(7)
    app = cluster.actor("malleable,min=1,max=8", "-N2", "--mem=500", "--gres=gpu:2", "-w", "n4,n5")
    tasks = cluster.lasting_tasks()
    srun(app, "--overlap", "-N1", "-n1", "-w", "n4", "--gres=gpu:1", "--mem=100", tasks.command, background=True)
    tasks.wait(1)
    for _ in range(50):
        size = len(cluster.nodes_of(app.job))
        resize(cluster, app, dice.choice([other for other in range(1, 9) if other != size]))
        books_agree(cluster, app)
    assert f"{app.job}.0" in cluster.run("squeue", "--steps").out


def test_steps_find_the_devices_of_joined_nodes(cluster):
    app = cluster.actor("malleable,min=1,max=8", "-N1", "--mem=500", "--gpus-per-node=2", "-w", "n2")
    resize(cluster, app, 8)
    books_agree(cluster, app)
    seen = srun(app, "-N8", "--ntasks-per-node=1", "--gres=gpu:2", "printenv", "CUDA_VISIBLE_DEVICES")
    assert seen.split() == ["0,1"] * 8
    seen = srun(app, "-N2", "-n2", "-w", "n7,n8", "--gres=gpu:1", "printenv", "CUDA_VISIBLE_DEVICES")
    assert seen.split() == ["0"] * 2
    resize(cluster, app, 2)
    seen = srun(app, "-N2", "-n2", "--gres=gpu:2", "printenv", "CUDA_VISIBLE_DEVICES")
    assert seen.split() == ["0,1"] * 2


def test_a_job_grows_onto_nodes_that_have_what_it_asks_for(cluster, elastic):
    app = cluster.actor("malleable,min=1,max=8", "-N1", "--mem=500", "--gres=gpu:h100:1")
    assert cluster.nodes_of(app.job) == ["n7"]
    elastic(Policy="lina-default")
    assert app.take_expand()["size"] == 2
    assert cluster.nodes_of(app.job) == ["n7", "n8"]
    books_agree(cluster, app)
    cluster.wait_two_passes()
    app.no_event()


def test_a_request_that_slurm_refuses_waits_no_longer_than_it_said(cluster):
    """The idle nodes have not what the job asks for; it is not told of them again and again."""
    app = cluster.actor("evolving,min=1,max=4", "-N1", "--mem=500", "--gres=gpu:h100:1", "-w", "n7")
    other = cluster.sbatch("-N1", "--exclusive", "-w", "n8", wrap="sleep 60")
    cluster.wait_state(other, "RUNNING")
    begin = time.monotonic()
    app.do("request", 1, 1, 3.0)
    app.event("queued")
    ended = app.event("ended", 15)
    assert ended["outcome"] == "denied"
    assert 2 < time.monotonic() - begin < 10
    assert cluster.log.count(f"job {app.job}: ") < 5, cluster.log
    assert cluster.nodes_of(app.job) == ["n7"]


def test_a_job_that_asks_for_none_grows(cluster):
    app = cluster.actor("malleable,min=1,max=4", "-N1", "--mem=500")
    resize(cluster, app, 3)
    books_agree(cluster, app)
    resize(cluster, app, 1)
    books_agree(cluster, app)


def test_the_books_survive_a_controller(cluster):
    """Since 24.11 a step's -w that is the same as its job's says nothing."""
    app = cluster.actor("malleable,min=1,max=8", "-N2", "--mem=500", "--gres=gpu:1", "-w", "n[6-7]")
    on_n6 = ["--exact", "-N1", "-n1", "-w", "n6", "--gres=gpu:1", "--mem=100"]
    tasks = cluster.lasting_tasks()
    srun(app, *on_n6, tasks.command, background=True)
    tasks.wait(1)
    resize(cluster, app, 4)
    cluster.kill_controller()
    cluster.start_controller()
    wait_until(lambda: app.state()["connected"], "the application has reconnected")
    wait_until(lambda: "unk" not in " ".join(cluster.node_states().values()), "all nodes have reported")
    books_agree(cluster, app)
    resize(cluster, app, 6)
    resize(cluster, app, 3)
    books_agree(cluster, app)
    assert srun(app, *on_n6, "printenv", "CUDA_VISIBLE_DEVICES").split() == ["1"]


def test_shares_of_devices_are_refused_by_name(cluster):
    refused = cluster.run("sbatch", "--elastic=malleable,min=1,max=4", "--gres=mps:100", "--wrap", "true", check=False)
    assert refused.code != 0 and "no shares of devices (mps, shard)" in refused.err, str(refused)
