# SPDX-License-Identifier: MIT
"""Burst buffers of burst_buffer/lua, with a script that does what files tell it: bb/JOB.in ends the staging in of a
job, well unless it says "fail"."""

import os
import pathlib

from elastic_live import minicluster, wait_until

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
CONF = ["BurstBufferType=burst_buffer/lua"]
OPTIONS = [option for line in SCRIPT.strip().splitlines() for option in ("--file-line", "burst_buffer.lua", line)]
OPTIONS += ["--file-line", "burst_buffer.conf", "StageInTimeout=60"]


def has_plugin():
    """Slurm builds it where there is Lua."""
    slurm = os.environ.get("ELASTIC_SLURM")
    folders = [minicluster.built_slurm(False, slurm) / "lib/slurm"] if slurm else pathlib.Path("/usr/lib").glob(
        "*/slurm-wlm")
    return any((folder / "burst_buffer_lua.so").exists() for folder in folders)


SAID_AT_END = "REASON: burst_buffer/lua: Stage-out in progress"  # of a job whose data would be staged out


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
