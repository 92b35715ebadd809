# SPDX-License-Identifier: MIT
"""Which nodes an action takes, where the plan counts on others."""

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
