# SPDX-License-Identifier: MIT
"""A cluster with a slurmdbd of its own, and for every test an account of its own.

So limits need not be taken back, and what an account has used is what its test
has.  Its user is daemon; root, whom no limit concerns, has another.
"""

import os
import re
import shutil

import pytest
from elastic_live import ELASTIC, Cluster, wait_until

# With priority/multifactor the time of running jobs is taken off what they may still use.
CONF = ["PriorityType=priority/multifactor", "PriorityCalcPeriod=00:01:00", "GresTypes=gpu",
        "AccountingStorageTRES=gres/gpu"]
OPTIONS = ["--accounting", "--node-line", "ALL Gres=gpu:2", "--file-line", "gres.conf",
           "Name=gpu File=@DIR@/dev/gpu[0-1]"]
USER = "daemon"


def skip_without_what_it_needs():
    if os.getuid() != 0:
        pytest.skip("only root can act as another user")
    for program in ("slurmdbd", "mariadbd"):
        if not shutil.which(program, path=os.environ["PATH"] + ":/usr/sbin"):
            pytest.skip(f"there is no {program}: contribs/install-deps --test")


@pytest.fixture(scope="session")
def cluster(request):
    skip_without_what_it_needs()
    mode, select = request.param
    with Cluster(mode, select, build=request.config.getoption("--build"), conf=CONF,
                 elastic=[f"{key}={value}" for key, value in ELASTIC.items()],
                 options=OPTIONS) as started:
        yield started


class Account:
    """An account with one user, who has jobs in it."""

    made = 0

    def __init__(self, cluster):
        Account.made += 1
        self.cluster, self.name = cluster, f"account{Account.made}"
        self.sacctmgr("add", "account", self.name)
        self.sacctmgr("add", "user", USER, f"account={self.name}")

    def sacctmgr(self, *arguments):
        self.cluster.run("sacctmgr", "--immediate", *arguments)

    def actor(self, annotation, *arguments, **more):
        return self.cluster.actor(annotation, "-A", self.name, *arguments, user=USER, **more)

    def sbatch(self, *arguments, **more):
        return self.cluster.sbatch("-A", self.name, *arguments, user=USER, **more)

    def limit(self, setting, shown):
        """sacctmgr modify ... set SETTING; returns when the controller shows it so."""
        self.sacctmgr("modify", "user", USER, "where", f"account={self.name}", "set", setting)
        self.wait_shown(self.association, shown)

    def add_qos(self, name, setting, shown):
        """A QOS with that limit, which the user may use."""
        self.sacctmgr("add", "qos", name, setting)
        self.change_qos(name, setting, shown)
        self.sacctmgr("modify", "user", USER, "where", f"account={self.name}", "set",
                      f"qos+={name}")

    def change_qos(self, name, setting, shown):
        self.sacctmgr("modify", "qos", name, "set", setting)
        self.wait_shown(lambda: self.qos(name), shown)

    def wait_shown(self, show, pattern):
        wait_until(lambda: re.search(pattern, show(), re.M),
                   lambda: f"the controller shows {pattern}:\n{show()}")

    def association(self):
        """The controller's lines on the user's association."""
        text = self.cluster.run("scontrol", "show", "assoc_mgr", "flags=assoc",
                                f"accounts={self.name}", f"users={USER}").out
        found = re.search(rf"^ClusterName=\S+ Account={self.name} UserName={USER}\(.*?"
                          r"(?=^ClusterName=|\Z)", text, re.M | re.S)
        return found.group(0) if found else ""

    def qos(self, name):
        """The controller's lines on a QOS."""
        return self.cluster.run("scontrol", "show", "assoc_mgr", "flags=qos", f"qos={name}").out

    def used(self):
        """What of GrpTRES and the like is in use: {"GrpTRES cpu": 4, ...}, without what is 0."""
        lines = re.findall(r"^\s+(GrpTRES|GrpTRESRunMins|GrpJobs|GrpSubmitJobs)=(.*)$",
                           self.association().replace(" GrpSubmitJobs", "\n GrpSubmitJobs"), re.M)
        assert len(lines) == 4, self.association()
        used = {}
        for key, text in lines:
            for what, count in re.findall(r"(?:([a-z/]+)=)?\w+\((\d+)\)", text.split(" ")[0]):
                if int(count):
                    used[f"{key} {what}".strip()] = int(count)
        return used


@pytest.fixture
def account(cluster):
    return Account(cluster)


@pytest.fixture
def accounts(cluster):
    return [Account(cluster) for _ in range(5)]


@pytest.fixture
def sacct(cluster):
    """sacct(job, FIELD...): the job's records, oldest first, one for each size it has had."""
    def records(job, *fields):
        text = cluster.run("sacct", "--noheader", "--parsable2", "--allocations", "--duplicates",
                           "--jobs", job, "--format", ",".join(fields)).out
        return [tuple(line.split("|")) for line in text.splitlines()]
    return records
