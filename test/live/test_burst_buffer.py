# SPDX-License-Identifier: MIT
"""Jobs with a burst buffer, of burst_buffer/lua with a script that does what files tell it: bb/JOB.in ends the staging
in of a job, well unless it says "fail"."""

import os
import pathlib

import pytest
from elastic_live import BESIDE_SLURM, ELASTIC, Cluster, minicluster, wait_until

pytestmark = [pytest.mark.modes("ms"),
              pytest.mark.skipif(BESIDE_SLURM, reason="with Starts=slurm its loops deal with them")]

SCRIPT = """
local function done() return slurm.SUCCESS end
local function touch(name) os.execute("mkdir -p @DIR@/bb && touch @DIR@/bb/" .. name) end
slurm_bb_job_process, slurm_bb_setup, slurm_bb_job_teardown, slurm_bb_real_size = done, done, done, done
slurm_bb_paths, slurm_bb_pre_run, slurm_bb_post_run, slurm_bb_data_out = done, done, done, done
slurm_bb_test_data_in, slurm_bb_test_data_out, slurm_bb_get_status = done, done, done
function slurm_bb_pools()
  return slurm.SUCCESS, '{"pools": [{"id": "cache", "quantity": 10, "granularity": 1}]}'
end
function slurm_bb_data_in(job)
  touch(job .. ".begun")
  for _ = 1, 1200 do
    local file = io.open("@DIR@/bb/" .. job .. ".in")
    if file then
      local word = file:read("*l")
      file:close()
      if word == "fail" then return slurm.ERROR, "the data are gone" end
      return slurm.SUCCESS
    end
    os.execute("sleep 0.05")
  end
  return slurm.ERROR, "nobody ended it"
end
"""
OPTIONS = [option for line in SCRIPT.strip().splitlines() for option in ("--file-line", "burst_buffer.lua", line)]
OPTIONS += ["--file-line", "burst_buffer.conf", "StageInTimeout=60"]


def has_plugin():
    """Slurm builds it where there is Lua."""
    slurm = os.environ.get("ELASTIC_SLURM")
    folders = [minicluster.built_slurm(False, slurm) / "lib/slurm"] if slurm else pathlib.Path("/usr/lib").glob(
        "*/slurm-wlm")
    return any((folder / "burst_buffer_lua.so").exists() for folder in folders)


@pytest.fixture(scope="session")
def cluster(request):
    if not has_plugin():
        pytest.skip("this Slurm was built without Lua")
    mode, select = request.param
    with Cluster(mode, select, build=request.config.getoption("--build"), conf=["BurstBufferType=burst_buffer/lua"],
                 elastic=[f"{key}={value}" for key, value in ELASTIC.items()], options=OPTIONS) as started:
        yield started


@pytest.fixture(autouse=True)
def what_slurm_says(expect_errors):
    """Of a job that is ended while its data would be staged out."""
    expect_errors.append("REASON: burst_buffer/lua: Stage-out in progress")


def submit(cluster, *arguments, capacity=0, seconds=600):
    """A job that stages data in, with so much of the pool; Slurm lets root have no burst buffer."""
    script = cluster.base / "out" / "job.sh"
    directive = f"#BB_LUA pool=cache capacity={capacity}" if capacity else "#BB_LUA"
    script.write_text(f"#!/bin/sh\n{directive}\nsleep {seconds}\n")
    user = "daemon" if os.getuid() == 0 else None
    return cluster.sbatch("--exclusive", "--time=5", *arguments, str(script), user=user)


def has_begun(cluster, job):
    return (cluster.dir / "bb" / f"{job}.begun").exists()


def wait_begun(cluster, job):
    wait_until(lambda: has_begun(cluster, job), lambda: f"its data are being staged in: {cluster.job(job)}")


def end_staging(cluster, job, word=""):
    path = cluster.dir / "bb" / f"{job}.in"
    path.with_suffix(".new").write_text(word + "\n")
    os.replace(path.with_suffix(".new"), path)


def wait_reason(cluster, job, reason):
    wait_until(lambda: cluster.job(job)["Reason"] == reason, lambda: f"{reason}, not {cluster.job(job)['Reason']}")


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
