#!/usr/bin/python3 -B
# SPDX-License-Identifier: MIT
"""Slurm's own test suite (testsuite/expect of its source) on clusters with sched/elastic.

A test that does not pass with the plugin says little by itself: many want what a cluster on one host lacks. So what did
not pass runs on a stock cluster (sched/backfill, else the same lines), and what passes there a second time on ours;
only what fails again is a failure. `known-differences` lists those that may differ, a reason each; `core` those that
exercise scheduling, ten minutes of an hour.

Tests end the programs of their own user by name, cancel whatever jobs there are and edit slurm.conf. So each cluster
has a user of its own, which is its SlurmUser and owns slurm.conf, and a copy of the suite.

Always:
- no test runs as root, and none sees a process that is not of this run: all happens in a PID namespace, which ends
  with all that is in it however this program ends, and in a mount namespace, in which alone the users exist;
- after each test its cluster is made what it was: processes, jobs, reservations, partitions, slurm.conf, nodes (what
  tests leave in the accounting database stays);
- nothing is left but the logs, if --out asks for them; the suite is run from the source package and never kept.

Ends with counts as automake writes them: PASS; XFAIL, a known difference; SKIP, not passed by stock Slurm either; FAIL.
Exit status: 0 none failed, 1 some did, 2 wrong usage, 77 cannot run here.
"""

import argparse
import collections
import contextlib
import fnmatch
import itertools
import os
import pathlib
import pwd
import queue
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

HERE = pathlib.Path(__file__).resolve().parent
CLONE = HERE.parent.parent
sys.path.insert(0, str(CLONE / "contribs"))
import minicluster  # noqa: E402

CANNOT_RUN = 77
NODES, CPUS, GPUS = 8, 4, 4

# What either kind of cluster has; the tests skip, or fail, without most of it.
SAME_LINES = ["SelectTypeParameters=CR_Core_Memory", "DefMemPerCPU=64", "JobAcctGatherType=jobacct_gather/linux",
              "PriorityType=priority/multifactor", "PriorityWeightAge=1000", "PriorityWeightPartition=1000",
              "PriorityWeightQOS=10000", "Licenses=lica:10,licb:10", "GresTypes=gpu,mps,craynetwork",
              "AccountingStorageTRES=gres/gpu,gres/mps,gres/craynetwork",
              f"PartitionName=debug Nodes=n[1-{NODES}] Default=YES MaxTime=INFINITE State=UP"]
NODE_LINE = (f"ALL Sockets=2 CoresPerSocket={CPUS // 2} ThreadsPerCore=1 RealMemory=4096 TmpDisk=1000 Feature=fa,fb"
             f" Gres=gpu:{GPUS},mps:{100 * GPUS},craynetwork:4")
GRES_LINES = [f"Name=gpu File=@DIR@/dev/gpu[0-{GPUS - 1}]", f"Name=mps Count={100 * GPUS}",
              "Name=craynetwork Count=4"]
PARAMETERS = "permit_job_expansion"  # tests that grow a job by an expand dependency

Attempt = collections.namedtuple("Attempt", "test result seconds reason")


def say(text):
    print(text, flush=True)


# ---- which tests

def in_order(tests):
    return sorted(set(tests), key=lambda test: [int(number) for number in test.split(".")])


def all_tests(source):
    return in_order(path.name.removeprefix("test") for path in (source / "testsuite/expect").iterdir()
                    if re.fullmatch(r"test\d+\.\d+", path.name))


def matching(tests, patterns):
    """The tests that patterns such as 1.14 and 28.* stand for; a Failure for one that stands for none."""
    for pattern in patterns:
        if not fnmatch.filter(tests, pattern):
            raise minicluster.Failure(f"there is no test {pattern}")
    return in_order(test for pattern in patterns for test in fnmatch.filter(tests, pattern))


def lines_of(path):
    """Line numbers and lines, without comments and empty ones."""
    for number, line in enumerate(path.read_text().splitlines(), 1):
        line = line.partition("#")[0].strip()
        if line:
            yield number, line


def read_core(path=HERE / "core"):
    return [test for _, line in lines_of(path) for test in line.split()]


def read_known(path=HERE / "known-differences"):
    """Reasons by pattern."""
    known = {}
    for number, line in lines_of(path):
        test, _, reason = line.partition(" ")
        if not re.fullmatch(r"\d+\.(\d+|\*)", test) or not reason.strip() or test in known:
            raise minicluster.Failure(f"{path}:{number}: not a test of its own and a reason: '{line}'")
        known[test] = reason.strip()
    return known


def reason_known(known, test):
    return next((reason for pattern, reason in known.items() if fnmatch.fnmatch(test, pattern)), None)


# ---- a cluster, and the suite beside it

class Bench:
    """A cluster with a user of its own and a copy of the suite.

    site: the folder of everything, with the source and its build where users can read them.
    """

    def __init__(self, site, kind, user, options):
        self.site, self.kind, self.user, self.options = site, kind, user, options
        self.work = site / f"{user}.suite"
        self.cluster = minicluster.Cluster(site / user)
        self.env, self.saved, self.partitions, self.nodes = {}, {}, set(), ""

    # -- up

    def up(self):
        arguments = ["--nodes", str(NODES), "--cpus", str(CPUS), "--accounting", "--slurm-user", self.user,
                     "--node-line", NODE_LINE, *self._scheduler()]
        for line in SAME_LINES:
            arguments += ["--conf-line", line]
        for line in GRES_LINES:
            arguments += ["--file-line", "gres.conf", line]
        self.cluster.up(*arguments)
        self._give_configuration()
        for words in (["account", "expect"], ["user", self.user, "account=expect", "adminlevel=Administrator"]):
            if self._command("sacctmgr", "--immediate", "add", *words) is None:
                raise minicluster.Failure(f"cannot add to the accounting database: {' '.join(words)}")
        self._install_suite()
        self.saved = {path.name: path.read_bytes() for path in self.cluster.dir.glob("*.conf")}
        self.partitions, self.nodes = self._named("partition"), self._node_states()
        return self

    def _scheduler(self):
        plugins = ["--plugins", self.options.plugins] if self.options.plugins else []
        if self.kind == "stock":
            return ["--stock", "--conf-line", f"SchedulerParameters={PARAMETERS}"]
        if self.options.starts == "slurm":
            return ["--elastic-line", "Starts=slurm", "--conf-line", f"SchedulerParameters={PARAMETERS}", *plugins]
        usual = re.search("^SchedulerParameters=(.*)$", minicluster.ELASTIC, re.M).group(1)
        return ["--conf-line", f"SchedulerParameters={usual},{PARAMETERS}", *plugins]

    def _give_configuration(self):
        """To the user: tests change it."""
        for path in [self.cluster.dir, *self.cluster.dir.glob("*.conf")]:
            shutil.chown(path, self.user, self.user)

    def _install_suite(self):
        """The suite, and Slurm in the form in which it looks for it."""
        settings, suite = self.cluster.settings, self.work / "testsuite"
        shutil.copytree(self.site / "source/testsuite/expect", suite / "expect", symlinks=True)
        (self.work / "home").mkdir()
        for folder in ("bin", "sbin"):
            (self.work / folder).symlink_to(self.cluster.dir / folder)
        for folder in ("include", "lib"):
            (self.work / folder).mkdir()
        (self.work / "include/slurm").symlink_to("/usr/include/slurm")
        plugins = pathlib.Path(settings.slurm_plugins)
        (self.work / "lib/slurm").symlink_to(plugins)
        for library in plugins.parent.glob("lib*.so*"):
            if re.match(r"lib(slurm|pmi)", library.name):
                (self.work / "lib" / library.name).symlink_to(library)
        (suite / "testsuite.conf").write_text(
            f"SlurmSourceDir={self.site}/source\nSlurmBuildDir={self.site}/build\nSlurmInstallDir={self.work}\n"
            f"SlurmConfigDir={self.cluster.dir}\n")
        mpicc = shutil.which("mpicc")
        (self.work / "globals.local").write_text(
            f"set slurm_dir {self.work}\nset src_dir {self.site}/source\nset build_dir {self.site}/build\n" +
            (f"set mpicc {mpicc}\n" if mpicc else ""))
        subprocess.run(["chown", "-R", f"{self.user}:", str(suite), str(self.work / "home")], check=True)

    def _environment(self, mark):
        """What a test has; its programs carry the mark wherever they go."""
        cluster = self.cluster.environment()
        return {"HOME": str(self.work / "home"), "USER": self.user, "LOGNAME": self.user, "SHELL": "/bin/bash",
                "TERM": "dumb", "LANG": "C.UTF-8", "PATH": f"{self.cluster.dir}/bin:/usr/bin:/bin:/usr/sbin:/sbin",
                "SLURM_CONF": cluster["SLURM_CONF"], "MUNGE_SOCKET": cluster["MUNGE_SOCKET"], "RUN_EXPECT": mark,
                "SLURM_LOCAL_GLOBALS_FILE": str(self.work / "globals.local"),
                "SLURM_TESTSUITE_CONF": str(self.work / "testsuite/testsuite.conf")}

    # -- what the cluster says

    def _command(self, name, *arguments):
        return minicluster.output_of(str(self.cluster.dir / "bin" / name), *arguments,
                                     env=self.cluster.environment() | {"LC_ALL": "C"})

    def _answers(self):
        return " UP" in (self._command("scontrol", "ping") or "")

    def _named(self, kind):
        """The names of partitions or of reservations."""
        shown = self._command("scontrol", "--oneliner", "show", kind) or ""
        return set(re.findall(rf"^{kind.capitalize()}Name=(\S+)", shown, re.M))

    def _node_states(self):
        """A node's being planned for is not a change."""
        states = self._command("sinfo", "--noheader", "--Node", "--format=%N %t") or ""
        return sorted(set(re.sub(r" plnd\*?$", " idle", states, flags=re.M).splitlines()))

    def _jobs(self):
        return (self._command("squeue", "--noheader", "--all", "--format=%A") or "").split()

    # -- one test

    def run(self, test, log):
        """Run it, and make the cluster what it was."""
        mark, began = f"{self.user}-{test}-{time.monotonic_ns()}", time.monotonic()
        with open(log, "wb") as out:
            process = subprocess.Popen(
                ["nice", "expect", f"test{test}"], cwd=self.work / "testsuite/expect", env=self._environment(mark),
                user=self.user, group=self.user, extra_groups=[], start_new_session=True,
                stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.STDOUT)
            try:
                status = process.wait(self.options.limit)
            except subprocess.TimeoutExpired:
                status = None
            end_marked(mark)
            process.wait()
        result = {0: "pass", 255: "skip", None: "timeout"}.get(status, "fail")
        reason = "" if result == "pass" else reason_in(log.read_text(errors="replace"), result)
        if not self._answers():
            result, reason = "fail", f"slurmctld does not answer; {reason}"
        seconds = time.monotonic() - began
        self._tidy(test)
        return Attempt(test, result, seconds, reason)

    def _tidy(self, test):
        """Back to what was there before any test."""
        if not self._answers():
            with contextlib.suppress(minicluster.Failure):
                self.cluster.restart("slurmctld")
        self._restore_configuration()
        self._end_jobs(test)
        for name in self._named("reservation"):
            self._command("scontrol", "delete", f"reservationname={name}")
        for name in self._named("partition") - self.partitions:
            self._command("scontrol", "delete", f"partitionname={name}")
        if not minicluster.wait_until(5, self._nodes_as_before):
            self._command("scontrol", "update", "nodename=ALL", "state=resume")
            if not minicluster.wait_until(20, self._nodes_as_before):
                say(f"note: nodes are not what they were before test {test} ({self.kind}): {self._node_states()}")

    def _nodes_as_before(self):
        return self._node_states() == self.nodes

    def _restore_configuration(self):
        there = {path.name: path.read_bytes() for path in self.cluster.dir.glob("*.conf*") if path.is_file()}
        if there == self.saved:
            return
        for name in there.keys() - self.saved.keys():
            (self.cluster.dir / name).unlink()
        for name, content in self.saved.items():
            if there.get(name) != content:
                path = self.cluster.dir / name
                path.write_bytes(content)
                path.chmod(0o600 if name == "slurmdbd.conf" else 0o644)
        self._give_configuration()
        self._command("scontrol", "reconfigure")

    def _end_jobs(self, test):
        def none_left():
            jobs = self._jobs()
            if jobs:
                self._command("scancel", "--quiet", *jobs)
            return not jobs

        if not minicluster.wait_until(30, none_left):
            say(f"note: jobs remain of test{test} ({self.kind}): {' '.join(self._jobs())}")


def end_marked(mark):
    """Kill the processes of a test."""
    wanted = f"RUN_EXPECT={mark}".encode()

    def none_left():
        left = []
        for environ in pathlib.Path("/proc").glob("[0-9]*/environ"):
            with contextlib.suppress(OSError):
                if wanted in environ.read_bytes().split(b"\0"):
                    left.append(int(environ.parent.name))
        for pid in left:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        return not left

    minicluster.wait_until(10, none_left)


def reason_in(log, result):
    """The test's own words: its first error, or why it skips."""
    said = re.findall(r"^.*\[[-\d]+ [\d:.]+\] *(Fatal|Error|Warning):? *(.*?)(?: \((?:sub)*(?:fail|skip)@.*)?$",
                      re.sub(r"\x1b\[[0-9;]*m", "", log), re.M)
    warnings = [text for kind, text in said if kind == "Warning"]
    errors = [text for kind, text in said if kind != "Warning"]
    chosen = warnings[-1:] if result == "skip" else errors[:1]
    return " ".join(chosen)[:160]


# ---- many tests

class Run:
    """Tests on clusters side by side; each takes the next test that nobody has taken."""

    def __init__(self, site, out, options):
        self.site, self.out, self.options = site, out, options
        self.users = own_users(site, 2 * options.clusters)

    def bench(self, kind):
        """A cluster that is up; what one that fails has written is kept."""
        bench = Bench(self.site, kind, self.users.pop(0), self.options)
        try:
            return bench.up()
        except minicluster.Failure:
            shutil.copytree(bench.cluster.dir / "log", self.out / f"{bench.user}.log", dirs_exist_ok=True)
            raise

    def attempt(self, benches, tests, tell, more=""):
        """Results by test; tell is called with each. more: what the logs' names have besides."""
        waiting, results, problems = queue.SimpleQueue(), {}, []
        for test in tests:
            waiting.put(test)

        def work(bench):
            try:
                with contextlib.suppress(queue.Empty):
                    while not problems:
                        test = waiting.get_nowait()
                        results[test] = bench.run(test, self.out / f"{bench.kind}-test{test}{more}.log")
                        tell(results[test])
            except Exception as problem:  # the other threads are to end, and the run to fail
                problems.append(problem)

        threads = [threading.Thread(target=work, args=(bench,)) for bench in benches]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        if problems:
            raise problems[0]
        return results

    def run(self, tests, known):
        """The words for each test: PASS, XFAIL, SKIP or FAIL."""
        verdicts = {}

        def tell(attempt):
            test, result, seconds, reason = attempt
            expected = reason_known(known, test)
            if result == "pass" or expected:
                verdicts[test] = "PASS" if result == "pass" else "XFAIL"
                more = "; a known difference, but it passed" if expected and result == "pass" else ""
                say(f"{verdicts[test]}: {test}  {seconds:.0f} s{more}" +
                    (f"  {result}: {expected}" if result != "pass" else ""))
            else:
                say(f"      {test}  {seconds:.0f} s  {result}: {reason}; is compared")

        benches = in_parallel(self.bench, ["elastic"] * self.options.clusters)
        first = self.attempt(benches, tests, tell)
        suspects = in_order(first.keys() - verdicts.keys())
        if suspects:
            self._compare(benches, suspects, verdicts)
        return verdicts

    def _compare(self, benches, suspects, verdicts):
        """Those that did not pass, with the stock scheduler; and once more what passes there."""
        def decide(test, verdict, said):
            verdicts[test] = verdict
            say(f"{verdict}: {test}  {said}")

        def tell_stock(attempt):
            if attempt.result != "pass":
                decide(attempt.test, "SKIP", f"not passed by stock Slurm either: {attempt.result}: {attempt.reason}")

        def tell_again(attempt):
            if attempt.result == "pass":
                decide(attempt.test, "PASS", "at the second attempt")
            else:
                decide(attempt.test, "FAIL", f"passed by stock Slurm; here {attempt.result}: {attempt.reason}")

        stock = in_parallel(self.bench, ["stock"] * min(len(suspects), len(benches)))
        self.attempt(stock, suspects, tell_stock)
        self.attempt(benches, in_order(set(suspects) - verdicts.keys()), tell_again, "-again")


def in_parallel(function, arguments):
    """The results, in the arguments' order."""
    results, problems = {}, []

    def call(index, argument):
        try:
            results[index] = function(argument)
        except BaseException as problem:
            problems.append(problem)

    threads = [threading.Thread(target=call, args=numbered) for numbered in enumerate(arguments)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if problems:
        raise problems[0]
    return [results[index] for index in range(len(arguments))]


def report(verdicts):
    counts = collections.Counter(verdicts.values())
    say(f"# TOTAL: {len(verdicts)}")
    for word in ("PASS", "SKIP", "XFAIL", "FAIL"):
        say(f"# {word + ':':<6} {counts[word]}")
    return counts["FAIL"] > 0


# ---- a world of its own

def own_users(site, count):
    """Users that exist in this mount namespace alone.

    By an /etc of its own: a file that were mounted on /etc/passwd would vanish as soon as somebody on the host changes
    that, since a mount ends when what it covers is replaced.
    """
    users = pwd.getpwall()
    free_names = (name for name in (f"expect{i}" for i in itertools.count(1)) if name not in [u.pw_name for u in users])
    free_ids = (i for i in itertools.count(64000) if i not in [user.pw_uid for user in users])
    chosen = list(itertools.islice(zip(free_names, free_ids), count))
    subprocess.run(["cp", "-a", "/etc", str(site)], check=True)
    for name, entry in (("passwd", "{0}:x:{1}:{1}::/nonexistent:/bin/bash\n"), ("group", "{0}:x:{1}:\n")):
        with open(site / "etc" / name, "a") as table:
            table.writelines(entry.format(*user) for user in chosen)
    subprocess.run(["mount", "--bind", str(site / "etc"), "/etc"], check=True)
    return [name for name, _ in chosen]


def why_not_here():
    """What keeps this program from running; None if nothing does."""
    if os.getuid() != 0:
        return "only root can give each cluster a user of its own"
    if not shutil.which("expect"):
        return "there is no 'expect'; contribs/install-deps --test installs it"
    if not minicluster.succeeds(*NAMESPACES, "true"):
        return f"'{' '.join(NAMESPACES)}' does not work"
    return None


NAMESPACES = ["unshare", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc"]


def in_namespaces(arguments):
    """Run this program again as the first process of a PID namespace, in a folder of its own; its exit status.

    Signals are handed on; whatever ends either process ends all of them.
    """
    site = pathlib.Path(tempfile.mkdtemp(prefix="expect.", dir="/tmp"))
    site.chmod(0o755)
    try:
        inner = subprocess.Popen(["setpriv", "--pdeathsig", "KILL", *NAMESPACES, sys.executable, "-B", __file__,
                                  "--site", str(site), *arguments], start_new_session=True)
        for number in minicluster.INTERRUPTIONS:
            signal.signal(number, lambda received, _: os.killpg(inner.pid, received))
        return inner.wait()
    finally:
        shutil.rmtree(site)


def as_first_process(work):
    """Do the work in a child, and reap what it orphans: that is what the first process of a namespace has to do."""
    child = os.fork()
    if not child:
        os._exit(work())
    for number in minicluster.INTERRUPTIONS:
        signal.signal(number, signal.SIG_IGN)  # the child gets it too
    while True:
        pid, status = os.wait()
        if pid == child:
            return os.waitstatus_to_exitcode(status)


def slurm_source(options):
    """Where Slurm's source and its build are."""
    if options.source and options.build:
        return options.source, options.build
    said = subprocess.run([str(CLONE / "contribs/slurm-source")], stdout=subprocess.PIPE, text=True, check=True).stdout
    return [re.search(f"^SLURM_{name}=(.*)$", said, re.M).group(1) for name in ("SOURCE", "BUILD")]


def run_inside(options):
    """All of it; the exit status."""
    site = pathlib.Path(options.site)
    for name, folder in zip(("source", "build"), slurm_source(options)):
        (site / name).mkdir()
        subprocess.run(["mount", "--bind", "-o", "ro", folder, str(site / name)], check=True)
    tests = all_tests(site / "source")
    wanted = matching(tests, options.tests or (read_core() if options.core else ["*"]))
    out = pathlib.Path(options.out or site / "out")
    out.mkdir(parents=True, exist_ok=True)
    known = read_known() if options.starts == "elastic" else {}
    return report(Run(site, out, options).run(wanted, known))


def guarded(work):
    """Its exit status, with what the user has to know said."""
    try:
        return int(work())
    except (minicluster.Failure, OSError, subprocess.SubprocessError) as problem:
        print(f"run_expect: error: {problem}", file=sys.stderr, flush=True)
        return 2
    except minicluster.Interrupted as interrupted:
        return interrupted.args[0]


def parse(arguments):
    parser = argparse.ArgumentParser(
        description="Run Slurm's own test suite on clusters with sched/elastic.",
        epilog="Prints a line a test, then counts; each test's own words are in DIR/KIND-testN.M.log with --out.")
    add = parser.add_argument
    add("tests", nargs="*", metavar="TEST", help="1.14, or '28.*' for a group (default: all)")
    add("--core", action="store_true", help="those that exercise scheduling (the file 'core')")
    add("--starts", choices=["elastic", "slurm"], default="elastic", help="who starts jobs (elastic.conf); with slurm"
        " no difference is a known one")
    add("--clusters", type=minicluster.number_up_to(8), default=3, metavar="N",
        help="so many clusters with sched/elastic side by side (default 3); as many with sched/backfill join them"
        " when there is something to compare")
    add("--limit", type=minicluster.number_up_to(9999), default=600, metavar="S", help="seconds for one test"
        " (default 600)")
    add("--out", metavar="DIR", help="keep the tests' logs there")
    add("--plugins", metavar="DIR", help="as contribs/minicluster has it")
    add("--source", metavar="DIR", help="Slurm's source (default: contribs/slurm-source gets it)")
    add("--build", metavar="DIR", help="where that was configured")
    add("--site", help=argparse.SUPPRESS)  # said to itself: inside the namespaces, everything is in this folder
    return parser.parse_args(arguments)


def main():
    options = parse(sys.argv[1:])
    if options.site:
        for number in minicluster.INTERRUPTIONS:
            signal.signal(number, minicluster.interrupt)
        return as_first_process(lambda: guarded(lambda: run_inside(options)))
    reason = why_not_here()
    if reason:
        print(f"run_expect: skipped: {reason}", flush=True)
        return CANNOT_RUN
    return in_namespaces(sys.argv[1:])


if __name__ == "__main__":
    sys.exit(main())
