# SPDX-License-Identifier: MIT
"""A cluster of one Slurm (ELASTIC_SLURM) that becomes one of another (ELASTIC_UPGRADE_TO) while jobs run."""

import os
import shutil
import subprocess

import pytest
from elastic_live import CLONE, ELASTIC, Cluster, wait_until

# Agreements last while daemons are replaced.
SETTINGS = {**ELASTIC, "GraceTime": 600}


class UpgradableCluster(Cluster):
    """Commands are the old Slurm's, as on a login node that is upgraded last, until they are `upgraded`."""

    def up(self):
        self._enter = []
        super().up()

    def upgrade(self, slurm, build):
        """Daemons that are restarted from now on are the new Slurm's, with the plugins of this build."""
        self.new_build = build
        self.minicluster.upgrade(slurm, f"{build}/src/plugins/.libs")
        self.new_version = subprocess.run([CLONE / "contribs/slurm-source", "version", "--slurm", slurm], check=True,
                                          capture_output=True, text=True).stdout.strip()

    def restart(self, daemon):
        """A daemon, which is the new Slurm's then."""
        self.minicluster.restart(daemon)
        wait_until(lambda: f"version {self.new_version} started" in (self.dir / f"log/{daemon}.log").read_text(),
                   f"{daemon}.log says that Slurm {self.new_version} has started")

    def restart_controller(self):
        with self.applications_reconnect():
            self.restart("slurmctld")
            self.controller_pid = self.minicluster.daemon("slurmctld").pid()

    def restart_slurmd(self, node):
        """Afterwards slurmctld knows that it is a new one."""
        self.restart(node)
        wait_until(lambda: self.versions()[node] == self.new_version,
                   lambda: f"{node} is of Slurm {self.new_version}: {self.versions()}")

    def versions(self):
        """{node: version of its slurmd}."""
        text = self.run("sinfo", "--noheader", "--Node", "--Format=NodeList,Version").out
        return dict(line.split() for line in text.splitlines())

    def as_on(self, daemon):
        """What precedes a command that is to find the Slurm of that daemon."""
        return ["nsenter", f"--target={self.minicluster.daemon(daemon).pid()}", "--mount"]

    def upgrade_commands(self):
        self._enter = self.as_on("slurmctld")
        shutil.copy(f"{self.new_build}/.libs/selastic", self.tools)

    def run(self, *command, **more):
        return super().run(*self._enter, *command, **more)


@pytest.fixture(scope="session")
def cluster(request):
    if os.getuid() != 0:
        pytest.skip("only root can give daemons of a host different Slurms")
    if not os.environ.get("ELASTIC_UPGRADE_TO"):
        pytest.skip("ELASTIC_UPGRADE_TO and ELASTIC_UPGRADED_BUILD do not say to which Slurm: contribs/check upgrades")
    mode, select = request.param
    with UpgradableCluster(mode, select, build=request.config.getoption("--build"), options=["--accounting"],
                           elastic=[f"{key}={value}" for key, value in SETTINGS.items()]) as started:
        yield started
