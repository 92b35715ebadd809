# SPDX-License-Identifier: MIT
"""A cluster whose clock runs many times too fast, by Debian's faketime.

Daemons, jobs and all commands that talk to them live in fast time; the test, and
contribs/minicluster with its deadlines, in real time.  Only sleeping gets faster:
what takes the processor 10 ms takes a second at a rate of 100.
"""

import dataclasses
import os
import pathlib
import shlex
import subprocess
import time

from elastic_live import CLONE, HERE, Cluster

DAEMONS = ("slurmctld", "slurmd", "slurmstepd")


@dataclasses.dataclass
class Job:
    """What steady_app does, whichever nodes it is given."""

    submit: float   # seconds
    run: float      # seconds, at `nodes` nodes
    nodes: int
    limit: int      # minutes, what the scheduler is told
    low: int = 0    # an elastic job's range
    high: int = 0
    kind: str = "malleable"
    partition: str = ""
    user: str = ""  # and the QOS; empty: whoever runs the test, and none
    qos: str = ""

    @property
    def elastic(self):
        return f"{self.kind},min={self.low},max={self.high}" if self.high else ""


class FastClock:
    """Keeps faketime's shared memory, in which the clock's beginning stands."""

    def __init__(self, rate, folder):
        self.rate = rate
        shim = pathlib.Path(folder) / "clockwait.so"
        subprocess.run(["cc", "-std=c11", "-O1", "-shared", "-fPIC", "-o", str(shim),
                        str(HERE / "soak" / "clockwait.c")], check=True)
        self._keeper = subprocess.Popen(
            ["faketime", "-f", f"+0 x{rate}", "sh", "-c", "env -0; printf '\\n'; exec cat"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        text = self._keeper.stdout.readline().decode()
        faked = dict(entry.split("=", 1) for entry in text.split("\0") if "=" in entry)
        self.env = {key: faked[key] for key in ("FAKETIME", "FAKETIME_SHARED")}
        self.env["LD_PRELOAD"] = f"{shim}:{faked['LD_PRELOAD']}"
        if os.getuid() == 0:  # for jobs of others
            for name in faked["FAKETIME_SHARED"].split():
                for place in pathlib.Path("/dev/shm").glob(f"*{name.strip('/')}"):
                    place.chmod(0o666)
        shown = subprocess.run(["date", "+%s.%N"], env={**os.environ, **self.env},
                               capture_output=True, text=True, check=True).stdout
        self._fast, self._real = float(shown), time.time()

    def now(self):
        return self._fast + (time.time() - self._real) * self.rate

    def sleep_until(self, moment):
        time.sleep(max(0.0, (moment - self.now()) / self.rate))

    def stop(self):
        self._keeper.stdin.close()
        self._keeper.wait()


class FastCluster(Cluster):
    """The front-end emulator, whose few daemons bear a high rate."""

    sanitized = None  # faketime has to be preloaded

    def __init__(self, rate, **settings):
        timeouts = [f"MessageTimeout={10 * rate}", f"TCPTimeout={2 * rate}", "SlurmdTimeout=0"]
        super().__init__("fe", conf=[*timeouts, *settings.pop("conf", [])], **settings)
        self.clock = FastClock(rate, self.base)

    def up(self):
        self._wrap_daemons()
        super().up()
        self.env.update(self.clock.env)
        self.app = self.compile(HERE / "steady_app.c")

    def submit(self, job):
        elastic = [f"--elastic={job.elastic}"] if job.elastic else []
        where = [f"--partition={job.partition}"] if job.partition else []
        qos = [f"--qos={job.qos}"] if job.qos else []
        return self.sbatch(*elastic, *where, *qos, f"-N{job.nodes}", "--exclusive", f"--time={job.limit}",
                           wrap=f"exec {self.app} {job.run * job.nodes}", user=job.user or None)

    def down(self):
        super().down()
        self.clock.stop()

    # A build of Slurm whose daemons are started in fast time.
    def _wrap_daemons(self):
        said = subprocess.run([CLONE / "contribs" / "slurm-source", "frontend"],
                              capture_output=True, text=True, check=True).stdout
        real = pathlib.Path(dict(line.split("=", 1) for line in said.split())["SLURM_FRONTEND"])
        prefix = self.base / "slurm"
        (prefix / "sbin").mkdir(parents=True)
        for name in ("bin", "lib"):
            (prefix / name).symlink_to(real / name)
        settings = " ".join(f"{key}={shlex.quote(value)}" for key, value in self.clock.env.items())
        for name in DAEMONS:
            wrapper = prefix / "sbin" / name
            wrapper.write_text(f"#!/bin/sh\nexec env {settings} {real}/sbin/{name} \"$@\"\n")
            wrapper.chmod(0o755)
        os.environ["SLURM_FRONTEND"] = str(prefix)
