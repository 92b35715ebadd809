# SPDX-License-Identifier: MIT
"""Which nodes jobs start on: those that stock Slurm gives them, by weights, options of sbatch and settings of
slurm.conf. Each configuration has two clusters, one without our plugins; both run the same jobs one after another."""

import contextlib

import pytest
from elastic_live import SLURM_VERSION, Cluster, wait_until

pytestmark = [pytest.mark.starts_itself("Slurm's own loops start jobs")]

STOCK = "sched_interval=2,batch_sched_delay=0,bf_interval=1,bf_resolution=1"
ELASTIC = "sched_interval=-1,defer"
WHOLE = "--exclusive"
WEIGHTS = ["n1 Weight=50 Features=gpu", "n[2-3] Weight=20 Features=gpu", "n4 Weight=10", "n[7-8] Features=old"]
MIXED = [["-n3"], ["-N2", WHOLE], ["-n6"], ["-n1"]]
# Others in the queue or on the nodes tell these apart, and are told apart.
SEVERAL_POOLS = [["-N1", "--constraint=gpu", WHOLE], ["-N1", "--constraint=old", WHOLE]]
SPREAD = [["-n3", "--spread-job"], ["-n1"], ["-n2", "--spread-job", WHOLE]]
# 25.11 and 26.05 find no nodes for some spread jobs beside others where nodes have weights.
SPREADS_OVER_WEIGHTS = SLURM_VERSION < (25, 11)
RANGES = [["-N1-3", "-n3"], ["-N1-3", "-n3", "--use-min-nodes"], ["-N1-3", WHOLE, "--use-min-nodes"]]
WAITS = "--comment=waits"
SPREADS = ["--spread-job"] if SPREADS_OVER_WEIGHTS else []
BEHIND_OTHERS = [["-N3", WHOLE, "--time=50"], ["-N8", WHOLE, WAITS], ["-n3", *SPREADS, "--time=1"], ["-n2", "--time=1"]]


def configuration(*conf, parameter="", nodes=WEIGHTS):
    return conf, parameter, nodes


CASES = {
    "weights": (configuration(), MIXED),
    "weights of several pools": (configuration(), [*SEVERAL_POOLS, *MIXED]),
    "whole nodes of several pools": (configuration(), [*SEVERAL_POOLS, ["-N3", WHOLE], ["-N2", WHOLE]]),
    "spread": (configuration(nodes=[]), SPREAD),
    "spread over weights": (configuration(), [*SEVERAL_POOLS, *(SPREAD if SPREADS_OVER_WEIGHTS else MIXED)]),
    "ranges": (configuration(), RANGES),
    "backfilled": (configuration(), BEHIND_OTHERS),
    "pack_serial_at_end": (configuration(parameter="pack_serial_at_end", nodes=[]), [["-n1"], ["-n3"], ["-n1"]]),
    "CR_LLN": (configuration("SelectTypeParameters=CR_CPU,CR_LLN"), [["-n1"], ["-n1"], ["-n3"], ["-n1"]]),
    "LLN": (configuration("PartitionName=least Nodes=n[1-4] LLN=YES"),
            [["-n1"], ["-n1", "-pleast"], ["-n1", "-pleast"], ["-n1"]]),
    "CR_Pack_Nodes": (configuration("SelectTypeParameters=CR_CPU,CR_Pack_Nodes"),
                      [["-N2", "-n5"], ["-n6"], ["-N3", "-n3"]]),
}


@contextlib.contextmanager
def cluster_of(request, conf, parameter, nodes, stock):
    parameters = ",".join(filter(None, [STOCK if stock else ELASTIC, parameter]))
    options = [part for line in nodes for part in ("--node-line", line)] + ["--stock"] * stock
    with Cluster("ms", build=request.config.getoption("--build"), conf=[f"SchedulerParameters={parameters}", *conf],
                 options=options) as started:
        yield started


def choice(cluster, arguments):
    """The nodes of a job that runs, none of one that is to wait."""
    job = cluster.sbatch(*arguments, wrap="sleep 600")
    if WAITS not in arguments:
        cluster.wait_state(job, "RUNNING")
        return cluster.nodes_of(job)
    wait_until(lambda: cluster.job(job)["Reason"] in ("Resources", "Priority"), f"job {job} waits for nodes")
    return []


@pytest.mark.parametrize("case", CASES)
def test_the_nodes_are_those_of_stock_slurm(request, case):
    (conf, parameter, nodes), jobs = CASES[case]
    with cluster_of(request, conf, parameter, nodes, stock=True) as stock:
        expected = [choice(stock, job) for job in jobs]
    with cluster_of(request, conf, parameter, nodes, stock=False) as ours:
        assert [choice(ours, job) for job in jobs] == expected
        ours.check_as_before()
