# SPDX-License-Identifier: MIT
"""Which nodes an action takes, where the plan counts on others."""

import pytest

LINA = {"Policy": "lina-default", "ResizeGap": 0}
LEFT = range(1, 5)  # nodes of partition `left`; all are in the default partition
RIGHT = range(5, 9)


def names(cluster, numbers):
    return [cluster.node_name(number) for number in numbers]


def wait_in_left(cluster):
    """A job on the first node of `left`, and the head of the queue that waits for all four of them."""
    first = cluster.sbatch("-pleft", "-N1", "-w", cluster.node_name(1), "--exclusive", "--time=2",
                           wrap="sleep 600")
    cluster.wait_state(first, "RUNNING")
    head = cluster.sbatch("-pleft", "-N4", "--exclusive", "--time=2", wrap="sleep 600")
    cluster.wait_two_passes()
    return first, head


def test_an_expansion_leaves_nodes_that_the_head_of_the_queue_counts_on(cluster, elastic):
    elastic(**LINA)
    first, head = wait_in_left(cluster)
    app = cluster.actor("malleable,min=1,max=8", "-N1", "--time=50")
    assert cluster.nodes_of(app.job)[0] in names(cluster, RIGHT)
    assert app.take_expand()["size"] == 4
    assert cluster.nodes_of(app.job) == names(cluster, RIGHT)
    assert not cluster.journal(app.job, "cancel"), "what was offered stood"
    cluster.run("scancel", first)
    cluster.wait_state(head, "RUNNING")
    assert cluster.nodes_of(head) == names(cluster, LEFT)


def test_a_hand_over_takes_only_the_nodes_that_were_claimed(cluster, elastic):
    elastic(**LINA, InitialSize="requested")
    first, head = wait_in_left(cluster)
    app = cluster.actor("malleable,min=1,max=4", "-N4", "--time=50")
    assert cluster.nodes_of(app.job) == names(cluster, RIGHT)
    # Of the left nodes three are idle, but kept for the head; the victim gives up what is needed.
    asking = cluster.sbatch("-N2", "--exclusive", "--time=40", wrap="sleep 600")
    leaving = app.take_shrink()
    cluster.wait_state(asking, "RUNNING")
    assert cluster.nodes_of(asking) == cluster.expand(leaving["node_list"])
    cluster.run("scancel", first)
    cluster.wait_state(head, "RUNNING")
    assert cluster.nodes_of(head) == names(cluster, LEFT)


def test_an_evolving_job_gets_idle_nodes_and_those_of_its_victims(cluster, elastic):
    elastic(**LINA, ExpandTrigger="never")
    victim = cluster.actor("malleable,min=1,max=5", "-N5", "--time=50")
    asking = cluster.actor("evolving,min=1,max=8", "-N1", "--time=50")
    asking.do("request", 4, 4, 60)
    leaving = victim.take_shrink()
    assert leaving["nodes"] == 2, "two are idle"
    cluster.wait_size(asking.job, 5)


def test_a_claimed_job_may_start_on_the_idle_nodes_that_are_kept_for_it(cluster, elastic):
    elastic(**LINA, InitialSize="requested", GraceTime=300)
    other = cluster.sbatch("-N2", "--exclusive", "--time=50", wrap="sleep 600")
    cluster.wait_state(other, "RUNNING")
    app = cluster.actor("malleable,min=1,max=4", "-N4", "--time=50")
    asking = cluster.sbatch("-N4", "--exclusive", "--time=40", wrap="sleep 600")
    assert app.event("offer_shrink")["nodes"] == 2, "two are idle"
    # The application does not answer, but two more nodes come free.
    cluster.run("scancel", other)
    cluster.wait_state(asking, "RUNNING")
    assert app.event("ended")["outcome"] == "cancelled"
    assert len(cluster.nodes_of(app.job)) == 4


def answer(app, release=False):
    """Accepts the shrink offered next, and leaves the nodes at once or not; the offer."""
    offer = app.event("offer_shrink")
    app.do("accept", offer["op"])
    app.event("accepted")
    if release:
        app.do("done", offer["op"])
    return offer


def wait_for_three_victims(cluster, filler):
    """A job of two nodes that waits for two victims, one of which has left its node, and one of one node that waits for
    a third; `filler` has the last two nodes."""
    cluster.wait_state(filler, "RUNNING")
    apps = [cluster.actor("malleable,min=1,max=2", "-N2", "--time=50") for _ in range(3)]
    wide = cluster.sbatch("-N2", "--exclusive", "--time=40", wrap="sleep 600")
    offers = [answer(apps[0], release=True), answer(apps[1])]
    narrow = cluster.sbatch("-N1", "--exclusive", "--time=40", wrap="sleep 600")
    offers.append(answer(apps[2]))
    cluster.wait_two_passes()
    assert cluster.state(wide) == cluster.state(narrow) == "PENDING"
    return apps, [offer["node_list"] for offer in offers], [offer["op"] for offer in offers], wide, narrow


def fill(cluster, nodes):
    return cluster.sbatch(f"-N{nodes}", "--exclusive", "--time=50", wrap="sleep 600")


def test_a_claim_is_traded(cluster, elastic):
    elastic(**LINA, GraceTime=300)
    apps, nodes, ops, wide, narrow = wait_for_three_victims(cluster, fill(cluster, 2))
    elastic(**LINA, GraceTime=300, StartsOn="steal")
    cluster.wait_state(narrow, "RUNNING")
    assert cluster.nodes_of(narrow) == [nodes[0]], "what the first victim has left for the wide one"
    assert apps[0].event("resized")["size"] == 1
    apps[1].do("done", ops[1])
    cluster.wait_two_passes()
    assert cluster.state(wide) == "PENDING"
    apps[2].do("done", ops[2])
    cluster.wait_state(wide, "RUNNING")
    assert cluster.nodes_of(wide) == sorted(nodes[1:])
    for app in apps[1:]:
        assert app.event("resized")["size"] == 1


@pytest.mark.starts_itself("its loops start whom idle nodes suffice for")
def test_agreed_nodes_are_waited_for(cluster, elastic):
    """Though idle ones would do, and do with the default."""
    elastic(**LINA, GraceTime=300, StartsOn="agreed")
    filler = fill(cluster, 2)
    _, _, _, wide, narrow = wait_for_three_victims(cluster, filler)
    cluster.run("scancel", filler)
    cluster.wait_state(filler, "CANCELLED")
    cluster.wait_two_passes()
    assert cluster.state(wide) == cluster.state(narrow) == "PENDING"
    elastic(**LINA, GraceTime=300, StartsOn="idle")
    cluster.wait_state(wide, "RUNNING")


def test_a_job_starts_on_the_common_pool(cluster, elastic):
    """One node has been left for it, one is idle, and what its other victim gives up is for anybody."""
    elastic(**LINA, GraceTime=300, StartsOn="agreed")
    first = fill(cluster, 1)
    cluster.wait_state(first, "RUNNING")
    apps = [cluster.actor("malleable,min=1,max=2", "-N2", "--time=50") for _ in range(3)]
    second = fill(cluster, 1)
    cluster.wait_state(second, "RUNNING")
    idle = cluster.nodes_of(first)
    wide = cluster.sbatch("-N2", "--exclusive", "--time=40", wrap="sleep 600")
    offers = [answer(apps[0], release=True), answer(apps[1])]
    cluster.run("scancel", first)
    cluster.wait_state(first, "CANCELLED")
    cluster.wait_two_passes()
    assert cluster.state(wide) == "PENDING"
    elastic(**LINA, GraceTime=300, StartsOn="pool")
    cluster.wait_state(wide, "RUNNING")
    assert cluster.nodes_of(wide) == sorted(cluster.expand(offers[0]["node_list"]) + idle)
    assert apps[0].event("resized")["size"] == 1
    apps[1].do("done", offers[1]["op"])
    assert apps[1].event("resized")["size"] == 1


@pytest.fixture
def halves(cluster):
    """halves(): from now until slurm.conf is read again n1 to n4 have feature a, n5 to n7 have b, n8 has neither."""
    def set_features(nodes, features):
        cluster.run("scontrol", "update", f"NodeName={nodes}", f"AvailableFeatures={features}",
                    f"ActiveFeatures={features}")

    def halves():
        set_features("n[1-4]", "a")
        set_features("n[5-7]", "b")

    yield halves
    cluster.clean()
    set_features("n[1-7]", "")


def grows_to(cluster, app, nodes):
    """Once or, as nodes come free, several times."""
    while app.take_expand()["size"] < len(nodes):
        pass
    cluster.wait_two_passes()
    app.no_event()
    assert cluster.nodes_of(app.job) == nodes


@pytest.mark.parametrize("constraint", ["[a|b]", "[a|b]&(a|b)"])
def test_growth_keeps_to_the_feature_that_a_job_has(cluster, elastic, halves, constraint):
    elastic(**LINA)
    halves()
    first = cluster.sbatch("-N2", "--exclusive", "-w", "n[1-2]", "--time=50", wrap="sleep 600")
    cluster.wait_state(first, "RUNNING")
    left = cluster.actor("malleable,min=1,max=8", "-N2", f"--constraint={constraint}", "--time=50")
    cluster.wait_two_passes()
    left.no_event()
    right = cluster.actor("malleable,min=1,max=8", "-N2", f"--constraint={constraint}", "--time=50")
    grows_to(cluster, right, names(cluster, range(5, 8)))
    cluster.run("scancel", first)
    grows_to(cluster, left, names(cluster, range(1, 5)))


def test_no_update_makes_a_job_count_features(cluster, halves):
    halves()
    job = cluster.sbatch("--hold", "--elastic=malleable,min=1,max=4", "-N2", "--constraint=a", wrap="true")
    result = cluster.run("scontrol", "update", f"JobId={job}", "Features=[a*1&b*1]", check=False)
    assert result.code != 0, str(result)
    assert "--constraint=[a*1&b*1] counts nodes" in cluster.log
    assert cluster.job(job)["Features"] == "a"
