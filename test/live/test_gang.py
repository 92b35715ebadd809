# SPDX-License-Identifier: MIT
"""PreemptMode=SUSPEND,GANG: who may preempt others runs on their nodes meanwhile. Malleable ones shrink first."""

import pytest
from elastic_live import ELASTIC, Cluster, wait_until

pytestmark = [pytest.mark.modes("ms")]
CONF = ["PreemptType=preempt/elastic_partition_prio", "PreemptMode=SUSPEND,GANG",
        "SchedulerParameters=bf_interval=1,sched_interval=2,batch_sched_delay=0",
        "PartitionName=low Nodes=ALL PriorityTier=1 OverSubscribe=FORCE:1 DefaultTime=5 State=UP",
        "PartitionName=urgent Nodes=ALL PriorityTier=10 OverSubscribe=FORCE:1 DefaultTime=1 State=UP"]
SETTINGS = {**ELASTIC, "Starts": "slurm", "PreemptShrinkTime": 5}


@pytest.fixture(scope="module")
def cluster(request):
    mode, select = request.param
    with Cluster(mode, select, build=request.config.getoption("--build"), conf=CONF,
                 elastic=[f"{key}={value}" for key, value in SETTINGS.items()]) as started:
        yield started


def urgent(cluster, nodes):
    return cluster.sbatch("-p", "urgent", f"-N{nodes}", "--exclusive", wrap="sleep 600")


def test_who_shrinks_is_not_suspended(cluster):
    app = cluster.actor("malleable,min=2,max=8", "-N8", "-p", "low")
    job = urgent(cluster, 4)
    assert app.take_shrink()["size"] == 4
    cluster.wait_state(job, "RUNNING")
    assert cluster.state(app.job) == "RUNNING"


def test_who_does_not_shrink_is_suspended_for_a_time(cluster):
    app = cluster.actor("malleable,min=2,max=8", "-N8", "-p", "low")
    job = urgent(cluster, 4)
    offer = app.event("offer_shrink")
    cluster.wait_state(job, "RUNNING")
    assert cluster.state(app.job) == "SUSPENDED"
    assert app.event("ended")["op"] == offer["op"]
    cluster.run("scancel", job)
    wait_until(lambda: cluster.state(app.job) == "RUNNING", "the job has been resumed")
    wait_until(lambda: cluster.run("selastic", "shrink", app.job, 4, check=False).code == 0, "it can be asked")
    assert app.take_shrink()["size"] == 4
