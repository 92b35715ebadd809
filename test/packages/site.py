#!/usr/bin/python3 -B
# SPDX-License-Identifier: MIT
"""site.py PACKAGES UPGRADED: a site with Debian's Slurm follows the administrator's guide with our packages.

To be run as root in a throwaway system without a network (contribs/check packages makes one), in which apt has what
Debian's packages need. PACKAGES is the folder with ours, UPGRADED with the same of a higher version. What the site runs
and writes into its files is taken out of the guide, so a step that fails there fails here. MariaDB, munge, slurmdbd,
slurmctld and the first slurmd are started by their packages' init scripts, slurmds of further nodes, since all share
one host, by the command line of the unit, but in the foreground where systemd would wait for their word.

The steps are in the order of a site's life and each begins with what the one before has left; the first that fails ends
the test. Prints what was done and counts as automake writes them. Always: waits for conditions, with a deadline.
"""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import time

GUIDE = pathlib.Path(__file__).resolve().parent.parent.parent / "doc/admin-guide.md"
PACKAGES, UPGRADED = sys.argv[1:]
SLURM_CONF = pathlib.Path("/etc/slurm/slurm.conf")
SLURMDBD_CONF = pathlib.Path("/etc/slurm/slurmdbd.conf")
ELASTIC_CONF = pathlib.Path("/etc/slurm/elastic.conf")
PLUGSTACK = pathlib.Path("/etc/slurm/plugstack.conf.d/elastic.conf")
STATE = pathlib.Path("/var/lib/slurm/slurmctld")
LOGS = pathlib.Path("/var/log/slurm")
OURS = ["slurm-elastic-slurmctld", "slurm-elastic-spank", "selastic", "libelastic0"]
USER = "alice"

# Of Debian's Slurm, whose packages come without any configuration; the log is where the guide looks for it. Of
# SlurmctldTimeout commands and slurmstepds sleep half when they find no slurmctld, and the init script restarts slowly.
STOCK_CONF = """\
ClusterName=site
SlurmctldHost={host}
SlurmUser=slurm
AuthType=auth/munge
StateSaveLocation=/var/lib/slurm/slurmctld
SlurmdSpoolDir=/var/lib/slurm/slurmd.%n
SlurmctldLogFile=/var/log/slurm/slurmctld.log
SlurmdLogFile=/var/log/slurm/slurmd.%n.log
SlurmctldPidFile=/run/slurmctld.pid
SlurmdPidFile=/run/slurmd.%n.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
ReturnToService=2
SlurmctldTimeout=10
MailProg=/bin/true
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
AccountingStorageType=accounting_storage/slurmdbd
AccountingStorageHost=localhost
SchedulerType=sched/backfill
NodeName=n[1-4] NodeHostname={host} NodeAddr=127.0.0.1 Port=[17001-17004] CPUs=1 State=UNKNOWN
PartitionName=main Nodes=ALL Default=YES MaxTime=1:00:00 State=UP
"""

STOCK_DBD_CONF = """\
AuthType=auth/munge
DbdHost=localhost
SlurmUser=slurm
LogFile=/var/log/slurm/slurmdbd.log
PidFile=/run/slurmdbd.pid
StorageType=accounting_storage/mysql
StorageHost=localhost
StorageUser=slurm
StorageLoc=slurm_acct_db
"""

# Besides what stock Slurm says on this site before our packages come: slurm.conf changes, as the guide says it does.
EXPECTED_ERRORS = (
    r"error: Node n\d appears to have a different slurm.conf",
    r"failed sending step completion message directly to slurmctld, retrying",  # which the init script has restarted
    r"msg_type=SRUN_(JOB_COMPLETE|STEP_SIGNAL)\) failed: Connection reset by peer",  # of 24.11: srun has ended before
    r"error: \*\*\* (JOB|STEP) [\d.]+ ON n\d CANCELLED",  # by us
)


def fail(text):
    raise AssertionError(text)


def check(condition, text):
    if not condition:
        fail(text)


def run(command, folder="/", user=None, answer="", status=0, seconds=120):
    """A shell's command as somebody types it; what it printed."""
    print("   $", command, flush=True)
    words = ["bash", "-c", command] if user is None else ["su", user, "-c", command]
    ended = subprocess.run(words, cwd=folder, input=answer, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                           text=True, timeout=seconds, check=False)
    noise = re.compile(r"\(Reading database|Unpacking|Selecting")
    lines = [line for line in ended.stdout.splitlines() if not noise.match(line)]
    print(*(f"   | {line}" for line in lines), sep="\n", flush=True)
    check(ended.returncode == status, f"{command}: status {ended.returncode}")
    return ended.stdout


def quietly(command):
    return subprocess.run(["bash", "-c", command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          timeout=60, check=False).stdout


def wait_until(condition, text, seconds=60):
    deadline = time.monotonic() + seconds
    while not (found := condition()):
        check(time.monotonic() < deadline, f"not within {seconds} s: {text}")
        time.sleep(0.1)
    return found


# ---------------------------------------------------------------- the guide

def guide_blocks(title):
    """The blocks of code of a section, by a pattern of its title."""
    section = re.search(rf"^#+ {title}\n(.*?)(?=^#+ |\Z)", GUIDE.read_text(), re.M | re.S)
    check(section, f"the guide has no section '{title}'")
    return re.findall(r"^```\n(.*?)^```", section[1], re.M | re.S)


def commands(block):
    return [line for line in block.replace("\\\n", "").splitlines() if line]


def settings(block):
    """Those of a file, without comments."""
    lines = [line.split("#")[0].strip() for line in block.splitlines()]
    return [re.sub(r"\s*=\s*", "=", line) for line in lines if line]


# ---------------------------------------------------------------- the site

def processes():
    """Name and parent of each."""
    found = {}
    for folder in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            name, rest = re.match(r"\d+ \((.*)\) \S (\d+)", (folder / "stat").read_text(), re.S).groups()
        except OSError:
            continue
        found[int(folder.name)] = (name, int(rest))
    return found


def services():
    """The daemons, without what they fork."""
    found = processes()
    return {(pid, name) for pid, (name, parent) in found.items()
            if re.match("munged|slurm(ctld|d|dbd)$", name) and found.get(parent, ("", 0))[0] != name}


def configure(lines):
    """These settings into slurm.conf, in place of those of the same keys."""
    keys = {line.split("=")[0] for line in lines}
    kept = [line for line in SLURM_CONF.read_text().splitlines() if line.split("=")[0] not in keys]
    SLURM_CONF.write_text("\n".join(kept + lines) + "\n")


def slurm_version():
    return quietly("slurmctld -V").split()[1]


def job_state(job):
    """Fields of scontrol."""
    return dict(re.findall(r"(\w+)=(\S*)", quietly(f"scontrol show job {job}")))


def size(job):
    state = job_state(job)
    return int(state["NumNodes"].split("-")[0]) if state.get("JobState") == "RUNNING" else 0


def wait_for_size(job, wanted, seconds=60):
    wait_until(lambda: size(job) == wanted, f"job {job} on {wanted} nodes: {job_state(job)}", seconds)
    print(f"   job {job} has {wanted} nodes", flush=True)


def submit(command):
    return re.search(r"Submitted batch job (\d+)", run(command, f"/home/{USER}", USER))[1]


def wait_for_controller():
    wait_until(lambda: "is UP" in quietly("scontrol ping"), "slurmctld answers")


def errors():
    """Lines of all daemons' logs, which name where they are from."""
    return [f"{log.name}: {line}" for log in sorted(LOGS.glob("*.log"))
            for line in log.read_text(errors="replace").splitlines() if re.search(r"\b(error|fatal):", line)]


def shape(line):
    """What two lines that say the same of other numbers have in common."""
    return re.sub(r"\d+", "N", re.sub(r"\[[^]]*\]", "", line.split(": ", 1)[1]))


# ---------------------------------------------------------------- the steps

class Site:
    """What one step leaves for the next."""

    def __init__(self):
        self.begun = time.monotonic()
        self.slurmds = []
        self.job = ""
        self.stock_errors = set()

    def a_site_with_debians_slurm(self):
        # As on a host that has booted: there packages may start services.
        pathlib.Path("/run/lock").mkdir(exist_ok=True)
        policy = pathlib.Path("/usr/sbin/policy-rc.d")
        policy.write_text("#!/bin/sh\nexit 0\n")
        policy.chmod(0o755)
        run("DEBIAN_FRONTEND=noninteractive apt-get -q -y --no-install-recommends install munge slurmctld slurmd"
            " slurm-client slurmdbd mariadb-server", seconds=300)
        self.accounts_begin()
        if not os.path.ismount("/sys/fs/cgroup"):  # slurmd looks for one, and ends, but here nothing uses it
            pathlib.Path("/etc/slurm/cgroup.conf").write_text("CgroupPlugin=cgroup/v1\n")
        pathlib.Path("/etc/default/slurmd").write_text('SLURMD_OPTIONS="-N n1"\n')
        run(f"useradd --create-home --shell /bin/bash {USER}")
        check(quietly("pgrep munged"), "munge's package has not started it")
        run("service slurmctld start")
        run("service slurmd start")
        unit = pathlib.Path("/lib/systemd/system/slurmd.service").read_text()
        line = re.search("ExecStart=(.*)", unit)[1]
        for node in range(2, 5):
            words = line.replace("$SLURMD_OPTIONS", f"-N n{node}").replace("--systemd", "-D").split()
            self.slurmds.append(subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL))
        wait_until(lambda: quietly("sinfo -h -t idle -o %D").strip() == "4", "four idle nodes")
        run("srun -N 4 hostname", user=USER, folder=f"/home/{USER}")
        run("service slurmctld restart")
        wait_for_controller()
        wait_until(lambda: quietly("sinfo -h -t idle -o %D").strip() == "4", "four idle nodes")
        self.stock_errors = {shape(line) for line in errors()}

    def accounts_begin(self):
        run("service mariadb start")
        run("mariadb -e \"create database slurm_acct_db; create user slurm@localhost identified via unix_socket;"
            " grant all on slurm_acct_db.* to slurm@localhost\"")
        SLURMDBD_CONF.write_text(STOCK_DBD_CONF)
        SLURMDBD_CONF.chmod(0o600)
        shutil.chown(SLURMDBD_CONF, "slurm", "slurm")
        SLURM_CONF.write_text(STOCK_CONF.format(host=quietly("hostname").strip()))
        run("service slurmdbd start")
        wait_until(lambda: not quietly("sacctmgr --noheader list cluster >/dev/null || echo not yet"),
                   "slurmdbd answers")
        run("sacctmgr --immediate add cluster site")

    def packages_install_and_change_nothing(self):
        before, conf = services(), SLURM_CONF.read_text()
        said = run(commands(guide_blocks("Packages")[1])[0], PACKAGES, answer="y\n", seconds=300)
        check(services() == before, f"services were {before}, are {services()}")
        check(SLURM_CONF.read_text() == conf, "slurm.conf was changed")
        check(not ELASTIC_CONF.exists() and not PLUGSTACK.exists(), "the site's files were made")
        printed = [re.sub(r"\s*=\s*", "=", line.strip()) for line in said.splitlines()]
        for line in self.six_lines():
            check(line in printed, f"not printed: {line}")
        self.still_works()

    def six_lines(self):
        wanted = settings(guide_blocks("5. slurm.conf")[0]) + settings(guide_blocks("6. plugstack.conf")[0])
        wanted += [line for line in settings(guide_blocks("7. elastic.conf")[0]) if not line.startswith("Policy=")]
        check(len(wanted) == 6, f"not six lines: {wanted}")
        return wanted

    def still_works(self):
        run("srun -N 1 true", user=USER, folder=f"/home/{USER}")

    def the_guide_configures_it(self):
        configure(settings(guide_blocks("5. slurm.conf")[0]))
        PLUGSTACK.parent.mkdir(exist_ok=True)
        PLUGSTACK.write_text(guide_blocks("6. plugstack.conf")[0])
        ELASTIC_CONF.write_text(guide_blocks("7. elastic.conf")[0])
        restart, line, verify = guide_blocks("8. Restart slurmctld and verify")
        first, *rest = commands(restart)
        run(first)
        wanted = line.strip().replace("22.05.8", slurm_version())
        wait_until(lambda: wanted in quietly("; ".join(rest)), wanted)
        wait_for_controller()
        for command in commands(verify):
            run(command)
        check("--elastic" in quietly(commands(verify)[0]), "sbatch has no --elastic")

    def a_job_grows(self):
        run(f"cp /usr/share/doc/selastic/examples/elastic_script.sh /home/{USER}/")
        first, refusal = guide_blocks("9. The first elastic job")
        submission, watching = commands(first)
        with open("/tmp/followed", "wb") as followed:
            watcher = subprocess.Popen(["bash", "-c", watching], stdout=followed)
        try:
            self.job = submit(submission)
            wait_for_size(self.job, 4)
            wait_until(lambda: quietly(f"grep -s round /home/{USER}/slurm-{self.job}.out"), "a round of the script")
            run(f"selastic shrink {self.job} 1", user=USER)
            wait_for_size(self.job, 1)
            run(f"selastic expand {self.job} 3", user=USER)
            wait_for_size(self.job, 3)
            wait_for_size(self.job, 4, 120)
            wait_until(lambda: b"4" in pathlib.Path("/tmp/followed").read_bytes(), "the journal's lines")
        finally:
            watcher.terminate()
            watcher.wait()
        print(f"   from a fresh system to a job that grew: {time.monotonic() - self.begun:.0f} s")
        check(time.monotonic() - self.begun < 300, "more than five minutes")
        command, *answer = refusal.splitlines()
        said = run(command[2:], f"/home/{USER}", USER, status=1)
        check(said.splitlines() == answer, f"the guide says {answer}")

    def upgrades_with_the_job_running(self):
        before, nodes = services(), job_state(self.job)["NodeList"]
        run(commands(guide_blocks("Packages")[1])[0], UPGRADED, answer="y\n", seconds=300)
        check(services() == before, f"services were {before}, are {services()}")
        check(job_state(self.job)["NodeList"] == nodes, "the job has other nodes")
        run("service slurmctld restart")
        wait_for_controller()
        check(job_state(self.job)["JobState"] == "RUNNING", "the job does not run any more")
        # A step that has ended meanwhile tries for a minute to say so, and the script goes on then only.
        wait_until(lambda: not quietly(f"selastic shrink {self.job} 2 >/dev/null || echo not yet"),
                   "the job hears of a shrink", 120)
        wait_for_size(self.job, 2)
        run(f"scancel {self.job}", user=USER)
        wait_until(lambda: not quietly(f"squeue -h -j {self.job}").strip(), "the job has ended")

    def sacct_shows_what_the_job_has_had(self):
        command = f"sacct -n -X -P -j {self.job} -o AdminComment"
        wait_until(lambda: '"had"' in quietly(command), f"sacct has the sizes: {quietly(command)}")
        sizes = [size["nodes"] for size in json.loads(run(command).splitlines()[-1])["had"]["sizes"]]
        check(sizes[-4:] == [1, 3, 4, 2], f"the job has had {sizes}")

    def back_to_stock_with_a_job_running(self):
        job = submit("sbatch --elastic=malleable,min=1,max=4 -N 2 elastic_script.sh 6")
        wait_for_size(job, 4)
        wait_until(lambda: quietly(f"grep -s round /home/{USER}/slurm-{job}.out"), "a round of the script")
        with_elastic = SLURM_CONF.read_text()
        configure(["SchedulerType=sched/backfill", "SchedulerParameters=", "JobSubmitPlugins="])
        kept = [line for line in SLURM_CONF.read_text().splitlines() if not line.endswith("=")]
        SLURM_CONF.write_text("\n".join(kept) + "\n")
        PLUGSTACK.unlink()
        run("service slurmctld restart")
        wait_for_controller()
        check(size(job) == 4, f"the job has other nodes: {job_state(job)}")
        # Each of the script's commands looks for the scheduler for seconds now.
        wait_until(lambda: job_state(job).get("JobState") == "COMPLETED", "the job ends", 240)
        output = pathlib.Path(f"/home/{USER}/slurm-{job}.out").read_text()
        print(re.sub("(?m)^", "   | ", output), flush=True)
        # An srun that finds no slurmctld, while that restarts, costs a round.
        check(re.search("[4-6] of 6 rounds, correct", output), "the script's rounds")
        self.still_works()
        SLURM_CONF.write_text(with_elastic)

    def removal_says_what_to_change(self):
        run("service slurmctld restart")
        wait_for_controller()
        before = services()
        said = run("apt remove slurm-elastic-slurmctld slurm-elastic-spank", answer="y\n")
        for line in ("SchedulerType=sched/elastic", "JobSubmitPlugins=elastic", "SchedulerType=sched/backfill"):
            check(line in said, f"removal does not name {line}")
        check(services() == before, f"services were {before}, are {services()}")
        self.still_works()
        self.goes_on_without_us()

    def goes_on_without_us(self):
        configure(["SchedulerType=sched/backfill"])
        lines = SLURM_CONF.read_text().splitlines()
        SLURM_CONF.write_text("\n".join(line for line in lines
                                        if not re.match("JobSubmitPlugins|SchedulerParameters", line)) + "\n")
        run("service slurmctld restart")
        wait_for_controller()
        self.still_works()

    def plugins_made_here_are_loaded(self):
        """As after an update of Slurm; its source is the one that the packages were made from."""
        source, made = (pathlib.Path(folder) for folder in ("/tmp/slurm-source", "/tmp/made"))
        source.mkdir()
        made.mkdir()
        run("apt install --no-install-recommends ./slurm-elastic-source_*.deb", PACKAGES, answer="y\n", seconds=300)
        run(f"tar -x --strip-components 1 -C {source} -f {PACKAGES}/slurm-elastic_*.orig-slurm.tar.xz")
        begun = time.monotonic()
        run(f"slurm-elastic-build --with-slurm-source {source}", made, seconds=1800)
        print(f"   made in {time.monotonic() - begun:.0f} s")
        check(len(list(made.iterdir())) == 2, f"made: {sorted(made.iterdir())}")
        run("apt install ./slurm-elastic-slurmctld_*.deb ./slurm-elastic-spank_*.deb", made, answer="y\n", seconds=300)
        self.the_guide_configures_it()
        job = submit("sbatch --elastic=malleable,min=1,max=4 -N 2 --wrap 'sleep 1000'")
        wait_for_size(job, 4)
        run(f"scancel {job}", user=USER)
        wait_until(lambda: not quietly(f"squeue -h -j {job}").strip(), "the job has ended")
        PLUGSTACK.unlink()
        run("apt remove slurm-elastic-source slurm-elastic-slurmctld slurm-elastic-spank", answer="y\n")
        self.goes_on_without_us()

    def purge_leaves_nothing(self):
        run(f"apt purge {' '.join(OURS)} slurm-elastic-source", answer="y\n")
        check(not quietly("dpkg-query -W -f '${Package}\\n' '*elastic*' 2>/dev/null | grep ."), "packages are left")
        # /run/slurm-elastic is what nodes have been initialised for, until they boot.
        left = set(quietly("find /usr /etc /var /opt -name '*elastic*' -not -path '/var/cache/*'").split())
        site_files = {str(ELASTIC_CONF), str(STATE / "elastic.journal")}
        check(left <= site_files, f"left: {left - site_files}")
        self.still_works()

    def nobody_said_an_error(self):
        unexpected = [line for line in errors() if shape(line) not in self.stock_errors
                      and not any(re.search(known, line) for known in EXPECTED_ERRORS)]
        check(not unexpected, "\n".join(unexpected))

    def stop(self):
        quietly("service slurmctld stop; service slurmd stop; service slurmdbd stop; service munge stop;"
                " service mariadb stop")
        for slurmd in self.slurmds:
            slurmd.terminate()
        for slurmd in self.slurmds:
            slurmd.wait(30)


def main():
    site, passed = Site(), 0
    steps = [site.a_site_with_debians_slurm, site.packages_install_and_change_nothing, site.the_guide_configures_it,
             site.a_job_grows, site.upgrades_with_the_job_running, site.sacct_shows_what_the_job_has_had,
             site.back_to_stock_with_a_job_running, site.removal_says_what_to_change,
             site.plugins_made_here_are_loaded, site.purge_leaves_nothing, site.nobody_said_an_error]
    failed = 0
    try:
        for step in steps:
            print(f"== {step.__name__.replace('_', ' ')}", flush=True)
            step()
            passed += 1
    except (AssertionError, subprocess.TimeoutExpired) as error:
        failed = 1
        print(f"E  {error}", quietly("ps -ef --forest; squeue --steps; tail -v -n 20 /home/*/slurm-*.out"), sep="\n")
        for log in sorted(LOGS.glob("*.log")):
            print(f"--- {log}", *log.read_text(errors="replace").splitlines()[-40:], sep="\n")
    finally:
        site.stop()
    print(f"{len(steps) - passed - failed} steps were not reached" if failed else "all steps")
    print(f"# PASS:  {passed}\n# FAIL:  {failed}")
    return failed


sys.exit(main())
