# SPDX-License-Identifier: MIT
"""What the controller decides can be decided again from `selastic snapshot` alone."""

import json
import random

import pytest
from elastic_live import HERE, wait_until

JOBS = 20


def submit(cluster, program, dice):
    """A job that does a second or two of work at the size it asks for."""
    nodes = dice.randint(1, 5)
    work = f"exec {program} {nodes * dice.uniform(0.5, 2):.2f}"
    elastic = []
    if dice.random() < 0.7:
        low, high = dice.randint(1, nodes), dice.randint(nodes, 8)
        elastic = [f"--elastic=malleable,min={low},max={high}"]
    return cluster.sbatch(*elastic, f"-N{nodes}", "--exclusive", "--time=1", wrap=work)


def submit_all(cluster, program, dice):
    for _ in range(JOBS):
        submit(cluster, program, dice)
    # These stand in the queue more than once.
    cluster.sbatch("-N2", "--exclusive", "--time=1", "--partition=debug,left", wrap="sleep 1")
    cluster.sbatch("-N2", "--exclusive", "--time=1", "--array=1-4", wrap="sleep 1")


def take_snapshots(cluster):
    """Of as many different passes as can be had until nothing is in the queue: texts."""
    taken = {}
    while cluster.queue():
        for _ in range(5):
            text = cluster.run("selastic", "snapshot").out
            taken[json.loads(text)["seed"]] = text
    return list(taken.values())


def actions_of(texts):
    return {action["action"] for text in texts for action in json.loads(text)["plan"]["actions"]}


@pytest.mark.parametrize("policy", ["lina-default", "lina-default/random", "elastic",
                                    "equipartition"])
def test_the_same_plan(cluster, elastic, policy):
    elastic(Policy=policy, ResizeGap=0.5, Interval=0.1)
    program = cluster.compile(HERE / "steady_app.c")
    dice = random.Random(policy)
    snapshots = []
    # Of a slow machine's passes few are seen.
    while len(snapshots) <= 20 or not {"start", "reserve", "expand"} <= actions_of(snapshots):
        assert len(snapshots) <= 500, actions_of(snapshots)
        submit_all(cluster, program, dice)
        snapshots += take_snapshots(cluster)
    ids = [[job["id"] for job in json.loads(text)["snapshot"]["pending"]] for text in snapshots]
    assert any(len(set(waiting)) < len(waiting) for waiting in ids)
    for text in snapshots:
        replayed = cluster.run("selastic-sim", "replay-snapshot", "-", stdin=text)
        assert replayed.out.endswith("same plan\n"), str(replayed)
    print(f"{policy}: {len(snapshots)} passes, with {', '.join(sorted(actions_of(snapshots)))}")


def test_larger_than_one_answer(cluster, elastic):
    """It comes in pieces."""
    elastic()
    everything = cluster.sbatch(f"-N{cluster.nodes}", "--exclusive", "--time=5", wrap="sleep 300")
    cluster.wait_state(everything, "RUNNING")
    jobs = 750
    annotation = "malleable,min=1,max=4,rho=0.3,cost=0.5:1:0.5"
    submit_one = f"sbatch -N2 --time=1 -p debug,left --elastic={annotation} --wrap true"
    cluster.run("bash", "-c", f"for job in {{1..{jobs}}}; do {submit_one}; done", within=300)

    def text_with_all():
        """Each job stands in the queue twice, once in each partition."""
        text = cluster.run("selastic", "snapshot", "--json").out
        return text if len(json.loads(text)["snapshot"]["pending"]) == 2 * jobs else None

    text = wait_until(text_with_all, "all jobs are in a snapshot")
    assert len(text) > 256 << 10, len(text)
    replayed = cluster.run("selastic-sim", "replay-snapshot", "-", stdin=text)
    assert replayed.out.endswith("same plan\n"), str(replayed)
