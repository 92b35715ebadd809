# SPDX-License-Identifier: MIT
"""Options of jobs that releases after 22.05 have brought: what an elastic job makes of each."""

import pytest
from elastic_live import ELASTIC, SLURM_VERSION, Cluster, wait_until

pytestmark = [pytest.mark.modes("ms"),
              pytest.mark.skipif(SLURM_VERSION < (24, 11), reason="Slurm has no such options")]


@pytest.fixture(scope="module")
def cluster(request):
    mode, select = request.param
    with Cluster(mode, select, build=request.config.getoption("--build"),
                 conf=["SchedulerParameters=sched_interval=-1,defer,extra_constraints", "PrologFlags=contain"],
                 elastic=[f"{key}={value}" for key, value in ELASTIC.items()]) as started:
        yield started


def resize(cluster, app, nodes):
    grows = nodes > len(cluster.nodes_of(app.job))
    cluster.run("selastic", "expand" if grows else "shrink", app.job, nodes)
    assert (app.take_expand if grows else app.take_shrink)()["size"] == nodes


@pytest.mark.parametrize("option, word", [("--segment=2", "--segment"), ("--exclusive=topo", "topo")])
def test_what_a_changing_job_cannot_keep_is_refused(cluster, option, word):
    refused = cluster.run("sbatch", "--elastic=malleable,min=2,max=4", "-N2", option, "--wrap", "true", check=False)
    assert refused.code != 0 and "elastic: " in refused.err and word in refused.err, str(refused)


def test_steps_of_a_job_with_a_step_manager_see_its_nodes(cluster):
    """Whose steps slurmctld makes all the same, since a step manager would not learn of other nodes."""
    app = cluster.actor("malleable,min=1,max=8", "-N2", "--stepmgr")
    for nodes in (5, 1, 3):
        resize(cluster, app, nodes)
        unset = "conf=$SLURM_CONF; unset ${!SLURM_*}; export SLURM_CONF=$conf SLURM_JOB_ID="
        ran = app.shell(f"bash -c '{unset}{app.job}; exec srun printenv SLURMD_NODENAME'", within=60)
        assert sorted(ran["out"].split()) == cluster.nodes_of(app.job), ran


def test_nodes_that_extra_constraints_bar_are_not_had(cluster):
    for node in cluster.all_nodes[1:5]:
        cluster.run("scontrol", "update", f"NodeName={node}", 'Extra={"rack": 7}')
    app = cluster.actor("malleable,min=1,max=8", "-N1", "--extra=rack=7")
    assert cluster.nodes_of(app.job)[0] in cluster.all_nodes[1:5]
    resize(cluster, app, 4)
    assert cluster.nodes_of(app.job) == cluster.all_nodes[1:5]
    cluster.run("selastic", "expand", app.job, 5)
    app.do("accept", app.event("offer_expand")["op"])
    app.event("accepted")
    assert app.event("ended")["outcome"] == "cancelled"
    waits = cluster.sbatch("-N5", "--exclusive", "--extra=rack=7", "--time=5", wrap="true")
    other = cluster.sbatch("-N2", "-w", ",".join(cluster.all_nodes[6:]), "--exclusive", "--time=5", wrap="sleep 600")
    cluster.wait_state(other, "RUNNING")
    assert cluster.state(waits) == "PENDING"
    app.exit()
    cluster.run("scontrol", "update", f"NodeName={cluster.all_nodes[5]}", 'Extra={"rack": 7}')
    wait_until(lambda: cluster.state(waits) in ("RUNNING", "COMPLETED"), "the job has started on nodes of the rack")
