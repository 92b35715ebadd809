# SPDX-License-Identifier: MIT
"""Jobs with a burst buffer: what is planned for them while data are staged in."""

import burst_buffers
import pytest
from burst_buffers import end_staging, has_begun, submit, wait_begun, wait_reason
from elastic_live import ELASTIC, Cluster, wait_until

pytestmark = [pytest.mark.modes("ms"),
              pytest.mark.starts_itself("its loops deal with them, see test_slurms_loops.py")]


@pytest.fixture(scope="module")
def cluster(request):
    if not burst_buffers.has_plugin():
        pytest.skip("this Slurm was built without Lua")
    mode, select = request.param
    with Cluster(mode, select, build=request.config.getoption("--build"), conf=burst_buffers.CONF,
                 elastic=[f"{key}={value}" for key, value in ELASTIC.items()],
                 options=burst_buffers.OPTIONS) as started:
        yield started


@pytest.fixture(autouse=True)
def what_slurm_says(expect_errors):
    """Of a job that is ended while its data would be staged out."""
    expect_errors.append(burst_buffers.SAID_AT_END)


def test_a_job_starts_when_its_data_are_there(cluster):
    """Until then its nodes are kept for it."""
    job = submit(cluster, "-N8")
    wait_begun(cluster, job)
    wait_reason(cluster, job, "BurstBufferStageIn")
    later = cluster.sbatch("-N1", "--exclusive", "--time=60", wrap="sleep 600")
    cluster.wait_two_passes()
    assert cluster.state(later) == "PENDING"
    end_staging(cluster, job)
    cluster.wait_state(job, "RUNNING")


def test_data_are_staged_in_before_a_job_has_its_turn(cluster):
    filler = cluster.sbatch("-N8", "--exclusive", "--time=10", wrap="sleep 600")
    cluster.wait_state(filler, "RUNNING")
    first, second = submit(cluster, "-N8"), submit(cluster, "-N8")
    for job in (first, second):
        wait_begun(cluster, job)
        end_staging(cluster, job)
    wait_reason(cluster, first, "Resources")
    wait_reason(cluster, second, "Priority")
    cluster.run("scancel", filler)
    cluster.wait_state(first, "RUNNING")


def test_nobody_waits_for_a_job_whose_data_are_lost(cluster, expect_errors):
    expect_errors.append("slurm_bb_data_in for JobId=[0-9]+ failed")
    job = submit(cluster, "-N8")
    wait_begun(cluster, job)
    later = cluster.sbatch("-N8", "--exclusive", "--time=60", wrap="sleep 600")
    end_staging(cluster, job, "fail")
    cluster.wait_state(later, "RUNNING")
    wait_until(lambda: cluster.job(job)["Priority"] == "0", "it is held")
    assert "the data are gone" in str(cluster.job(job)) or "BurstBuffer" in cluster.job(job)["Reason"]


def test_no_nodes_are_kept_for_a_job_that_waits_for_room_in_the_buffer(cluster):
    first = submit(cluster, "-N1", capacity=8)
    wait_begun(cluster, first)
    end_staging(cluster, first)
    cluster.wait_state(first, "RUNNING")
    second = submit(cluster, "-N7", capacity=8)
    wait_reason(cluster, second, "BurstBufferResources")
    cluster.wait_state(cluster.sbatch("-N7", "--exclusive", "--time=60", wrap="sleep 600"), "RUNNING")
    assert not has_begun(cluster, second)
    cluster.run("scancel", first)
    wait_begun(cluster, second)


def test_the_elements_of_an_array_are_staged_in_one_by_one(cluster):
    array = submit(cluster, "-N1", "--array=1-2")
    begun = wait_until(lambda: sorted((cluster.dir / "bb").glob("*.begun")) and
                       [job for job in cluster.run("squeue", "--noheader", "--array", "--format=%A").out.split()
                        if has_begun(cluster, job)], "one is staged in")
    end_staging(cluster, begun[0])
    cluster.wait_state(begun[0], "RUNNING")
    assert array
