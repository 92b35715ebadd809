# SPDX-License-Identifier: MIT
"""Evolution profiles: steps at their time, early, late, waited for, and what an application makes of them."""

import pytest

from elastic_live import wait_until

of_later_steps = pytest.mark.starts_itself("its loops keep nothing free for later steps")


def step_of(cluster, job):
    entries = cluster.selastic("jobs")["jobs"]
    return next(entry for entry in entries if entry["job"] == job).get("step", {})


def wait_step(cluster, job, **fields):
    def there():
        step = step_of(cluster, job)
        return all(step.get(key) == value for key, value in fields.items())
    wait_until(there, lambda: f"job {job} is at {fields}, not {step_of(cluster, job)}")


@pytest.mark.smoke
def test_a_step_brings_nodes_without_asking(cluster):
    """The job's program knows nothing of all this."""
    job = cluster.sbatch("--elastic=evolving,profile=2@1+5@600", "--time=20", wrap="sleep 600")
    cluster.wait_size(job, 5)
    cluster.wait_journal(job, "resize")  # which is written after the records
    journal = cluster.journal(job)
    assert [entry["event"] for entry in journal] == ["submit", "start", "step", "request", "grant", "resize"]
    assert (journal[1]["count"], journal[2]["nodes"], journal[2]["held"]) == (2, 5, 2)
    assert journal[5]["time"] - int(journal[1]["time"]) >= 1  # Slurm says in which second it has started


def test_a_step_comes_early(cluster):
    app = cluster.actor("evolving,profile=2@600+5@600+3@600", "--time=60")
    assert app.opened["nodes"] == 2
    app.do("step", 0, 0)
    planned = app.event("planned")
    assert (planned["size"], planned["nodes"]) == (5, 3)
    assert planned["deadline"] == 0  # it depends on when the nodes are there
    app.event("queued")
    resized = app.event("resized")
    assert (resized["kind"], resized["size"]) == ("expand", 5)
    app.do("done", resized["op"])
    wait_step(cluster, app.job, number=2, waits=False)
    app.do("step", 0, 0)
    assert app.event("planned")["size"] == 3
    assert app.take_shrink()["size"] == 3
    cluster.wait_size(app.job, 3)


def test_a_step_comes_late_or_with_other_nodes(cluster):
    app = cluster.actor("evolving,profile=2@600+5@600,max=6", "--time=60")
    app.do("step", 6, 900)
    planned = app.event("planned")
    assert (planned["size"], planned["nodes"]) == (2, 6)
    assert 890 < planned["deadline"] <= 900
    wait_step(cluster, app.job, next_nodes=6)
    app.do("step", 7, 0)
    refused = app.event("ended")
    assert (refused["outcome"], refused["kind"], refused["op"]) == ("denied", "", 0)
    assert "7 nodes" in refused["reason"]
    app.do("step", 0, 1)
    app.event("planned")
    assert app.event("step")["size"] == 6
    cluster.wait_size(app.job, 6)


@of_later_steps
def test_who_has_no_profile_says_what_comes_next(cluster):
    app = cluster.actor("evolving,min=1,max=8", "-N2", "--time=20")
    app.do("step", 0, 0)
    assert "say with how many nodes" in app.event("ended")["reason"]
    app.do("step", 8, 600)
    app.event("planned")
    other = cluster.sbatch("-N6", "--exclusive", "--time=15", wrap="sleep 600")
    short = cluster.sbatch("-N6", "--exclusive", "--time=5", wrap="sleep 600")
    cluster.wait_state(short, "RUNNING")
    assert cluster.state(other) == "PENDING"


def test_a_script_takes_its_steps(cluster):
    script = cluster.base / "out" / "steps.sh"
    script.write_text("""#!/bin/bash
selastic step --timeout 60 || exit 2
eval "$(selastic env)"
selastic done --timeout 60 >/dev/null
echo "has $SLURM_JOB_NUM_NODES"
eval "$(selastic step --timeout 60)"
echo "$ELASTIC_EVENT $ELASTIC_KIND $ELASTIC_NODES"
selastic accept >/dev/null && selastic done >/dev/null
eval "$(selastic env)"
echo "has $SLURM_JOB_NUM_NODES"
selastic step --in 30 --nodes 3
""")
    job = cluster.sbatch("--elastic=evolving,profile=1@600+4@600+2@600,max=8", "--time=60", str(script))
    cluster.wait_state(job, "COMPLETED")
    out = cluster.output(job)
    assert "has 4\noffer shrink 2\nhas 2\n" in out, out
    assert "ELASTIC_EVENT=planned" in out.split("has 2")[1], out


@of_later_steps
def test_later_steps_are_kept_free(cluster):
    """Neither a job that is backfilled nor one that asks takes the nodes of a step."""
    first = cluster.sbatch("--elastic=evolving,profile=2@600+6@600", "--time=20", wrap="sleep 600")
    cluster.wait_state(first, "RUNNING")
    short = cluster.sbatch("-N2", "--exclusive", "--time=5", wrap="sleep 600")
    long = cluster.sbatch("-N4", "--exclusive", "--time=15", wrap="sleep 600")
    cluster.wait_state(short, "RUNNING")
    app = cluster.actor("evolving,min=1,max=8", "-N1", "--time=30")
    app.do("request", 2, 2, 0.0)
    app.event("queued")
    assert app.event("ended")["outcome"] == "denied"
    assert cluster.state(long) == "PENDING"


def test_a_step_that_waits_holds_what_it_has(cluster):
    app = cluster.actor("evolving,profile=2@600+6@600", "--time=20")
    other = cluster.sbatch("-N4", "--exclusive", "--time=5", wrap="sleep 600")
    cluster.wait_state(other, "RUNNING")
    app.do("step", 0, 0)  # earlier than planned
    assert app.event("planned")["size"] == 6
    app.event("queued")
    wait_step(cluster, app.job, waits=True, nodes=6)
    assert len(cluster.nodes_of(app.job)) == 2
    assert "step 2, 6 nodes: waits for them" in cluster.run("selastic", "jobs").out
    assert cluster.journal(app.job, "step")[-1]["held"] == 2
    cluster.run("scancel", other)
    assert app.event("resized")["size"] == 6
    wait_step(cluster, app.job, waits=False, number=2)


def test_nodes_that_are_not_given_back_are_asked_for_again(cluster, elastic):
    elastic(GraceTime=1, BackOff=0)
    app = cluster.actor("evolving,profile=4@1+2@600", "--time=20")
    app.event("step")
    first = app.event("offer_shrink")
    assert app.event("ended")["outcome"] == "expired"
    again = app.event("offer_shrink")
    assert again["op"] > first["op"]
    assert len(cluster.nodes_of(app.job)) == 4
    elastic(GraceTime=20, BackOff=0)
    app.event("ended")
    app.take_shrink()
    cluster.wait_size(app.job, 2)


@of_later_steps
def test_two_jobs_that_both_need_more_do_not_block_each_other(cluster):
    """Each has half of the nodes and needs more than there is left for both: the second starts after the first."""
    profile = "--elastic=evolving,profile=4@1+7@600"
    first = cluster.sbatch(profile, "--time=20", wrap="sleep 600")
    second = cluster.sbatch(profile, "--time=20", wrap="sleep 600")
    cluster.wait_size(first, 7)
    assert cluster.state(second) == "PENDING"
    cluster.run("scancel", first)
    cluster.wait_size(second, 7)


def test_a_restart_in_the_middle_of_a_step(cluster):
    app = cluster.actor("evolving,profile=2@600+5@600,min=1,max=8", "--time=30")
    app.do("step", 4, 500)
    app.event("planned")
    started = cluster.journal(app.job, "start")
    cluster.restart_controller()
    cluster.wait_connected(app.job)
    step = step_of(cluster, app.job)
    assert (step["number"], step["next_nodes"]) == (1, 4)
    assert 400 < step["next_in"] <= 500
    assert cluster.journal(app.job, "start") == started
    app.do("step", 0, 0)
    app.event("planned")
    cluster.wait_size(app.job, 4)
