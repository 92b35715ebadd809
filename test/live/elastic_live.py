# SPDX-License-Identifier: MIT
"""What live tests share: a private cluster, and applications that do as told.

A Cluster is one of contribs/minicluster with our build's plugins.  It is shared
by many tests, because starting one takes longer than most tests; so each test
leaves it as found (see conftest.py), which is itself a test.

An Actor is a job whose program (actor.py) does exactly what the test tells it
over a socket, and reports every event of libelastic.  So a test decides when
an application answers, and what.

Always: every wait is for a condition, with a deadline, and says at the end
what it has waited for; commands that fail say what they printed.
"""

import contextlib
import json
import os
import pathlib
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
CLONE = HERE.parent.parent
MINICLUSTER = CLONE / "contribs" / "minicluster"

sys.path.insert(0, str(CLONE / "contribs"))
import minicluster  # noqa: E402

# What elastic.conf has besides, unless a test says otherwise.
ELASTIC = {"Policy": "easy", "ResizeGap": 0, "GraceTime": 20, "BackOff": 1}
# Slurm's own loops start jobs, where a test is not about who does.
BESIDE_SLURM = os.environ.get("ELASTIC_STARTS") == "slurm"
if BESIDE_SLURM:
    ELASTIC["Starts"] = "slurm"
# Slurm's loops as often as they can be had.
LOOPS = "SchedulerParameters=bf_interval=1,sched_interval=2,batch_sched_delay=0,bf_resolution=1"

# For what takes an instant on an idle machine; busy ones are slow.
PATIENCE = 30.0


def slurm_version():
    """Of the Slurm that is tested with, such as (22, 5)."""
    slurm = os.environ.get("ELASTIC_SLURM")
    said = subprocess.run([CLONE / "contribs/slurm-source", "version", *(["--slurm", slurm] if slurm else [])],
                          check=True, capture_output=True, text=True).stdout
    return tuple(map(int, re.match(r"(\d+)\.(\d+)", said).groups()))


SLURM_VERSION = slurm_version()

# What Slurm's daemons call an error and is none: [pattern of "LOG: LINE", why].
HARMLESS = [
    ["mpi[_/]pmix|mpi/pmix|Couldn't load specified plugin name for mpi", "PMIx is not installed"],
    ["could not open .*/spmix_appdir", "two ends of a step's folder for PMIx"],
    ["Could not open .* state file|Trying backup .*state save file"
     "|No fed_mgr state file", "the first start"],
    ["(failure for node|invalid node specified:) \"frontend\"|Invalid batch host frontend"
     r"|Invalid step_node_list \(frontend\)", "Slurm with a front end"],
    ["High latency for 1000 calls to gettimeofday", "a busy machine"],
    ["munged is up|/run/munge/munge|has authentication error|Protocol authentication error"
     "|slurm_receive_msg .*Unspecified error", "slurmctld asks the wrong munged while it reads"
     " slurm.conf"],
    ["different slurm.conf than the slurmctld", "the daemons read it at different moments"],
    ["slurm_receive_msg .*Zero Bytes", "the port was probed, e.g. by minicluster"],
    [r"error: \*\*\* (JOB|STEP) .* (CANCELLED|FAILED) .*\*\*\*", "what a slurmstepd tells its job"],
    ["Timeout waiting for completion of .* threads", "a slurmd reads slurm.conf while it launches a job"],
    ["Unexpected missing socket error|Unable to register: "
     "|failed sending step completion message .*retrying", "the controller was killed or read slurm.conf"],
    ["auth_p_get_host: Lookup failed for", "nobody knows this machine's host name"],
    ["Database settings not recommended values", "a database for some tests"],
    ["stepd_connect to StepId=.* failed: No such file or directory", "a slurmd asks a step that has just ended"],
    ["already killed, do not launch batch job", "a job was cancelled while it was launched"],
    ['Unable to (send "ok"|receive "ok ack") to slurmd', "a slurmd was killed while it launched a job"],
    ["Locks left set|Semaphores still set", "slurmctld looks once as it ends, and what schedules or saves still does"],
    [r"frontend\.log: .*(Unable to find frontend in job hostlist|node_id=-1, not found"
     "|zero processors allocated to step|Domain socket directory .* No such file)",
     "a slurmd that stands for other nodes"],
]
# The same of newer releases, of which slurmctld is executed anew for each reconfiguration.
if SLURM_VERSION >= (23, 11):
    HARMLESS += [
        ["make_node_idle: .* comp_job_cnt underflow", "a job ended on a lost node while slurmctld began anew"],
        ["System GPU detection failed", "a node without GPUs, as 26.05 sees it"],
        ["If using PrologFlags=Contain for pam_slurm_adopt", "what slurmctld always says of that flag"],
        [r"slurm_persist_send_msg\(msg_type=RESPONSE_SLURM_RC\) failed: No error|slurm_persist_conn_recv_server_fini: ",
         "a peer of slurmdbd, or another cluster, was killed or restarted"],
        ["agent_fini: left .* agent threads active", "slurmctld is executed anew while a slurmd does not answer"],
        ["We can't find assoc 1 on cluster", "slurmdbd of a new cluster"],
        [r"msg_type=SRUN_(JOB_COMPLETE|STEP_SIGNAL)\) failed: Connection reset by peer", "srun has ended before"],
        [r"Unable to send epilog complete message|msg_type=MESSAGE_EPILOG_COMPLETE\) failed: Connection reset by peer",
         "slurmctld was executed anew"],
        [r"\*\*\* REASON: RaisedSignal", "what a slurmstepd tells its job"],
        ["Invalid job credential from", "a job was cancelled while it was launched"],
        [r"Closing accepted fd( after error)?: Bad file descriptor|Timed out waiting for \d+ connections to finish"
         r"|_handle_accept: (\[fd:\d+\] Unable to resolve socket peer|Invalid Protocol Version \d+$)"
         r"|stepd_signal_container: invalid protocol_version 0|Unrecognized request: \d+$",
         "a slurmstepd of 26.05 ends, and what asks it has gone"],
    ]
if SLURM_VERSION >= (25, 11):
    HARMLESS += [
        ["could not find JobId=.* SLUID=", "a slurmd repeats that an epilog has ended, and the job was requeued since"],
    ]
# While slurmctld reads slurm.conf, MessageTimeout is 0 for a moment: whatever it receives or sends
# just then "times out" at once, such as the registrations that the slurmds send after the
# reconfiguration before.  Anywhere else a time-out means that a peer was stuck for ten seconds.
READING_SLURM_CONF = re.compile(
    "Processing Reconfiguration Request.*?(_slurm_rpc_reconfigure_controller: completed|\\Z)", re.S)
# By that time too slurmctld tells a step that has just ended from one that should not be there any more.
TIMED_OUT = re.compile("^.*(slurm_(receive_msg|msg_sendto).*Socket timed out"
                       "|Registered JobId=.* in state CANCELLED on node).*\n?", re.M)


class Waited(AssertionError):
    """A condition has not come true in time."""


def wait_until(condition, what, within=PATIENCE, every=0.03):
    """The first true result of condition().  `what` completes: waited until...

    A look is mostly a command of Slurm; where starting one takes long, there are pauses as long between them."""
    deadline = time.monotonic() + within
    while True:
        begun = time.monotonic()
        result = condition()
        if result:
            return result
        now = time.monotonic()
        if now > deadline:
            explanation = what() if callable(what) else what
            raise Waited(f"waited {within:g} s in vain until {explanation}")
        time.sleep(max(every, now - begun))


def wait_for_another_second():
    """The database has one size of a job for each second in which it got one."""
    begin = int(time.time())
    wait_until(lambda: int(time.time()) > begin, "the next second has begun")


class Result:
    """What a command printed and how it ended."""

    def __init__(self, command, done):
        self.command, self.code = command, done.returncode
        self.out, self.err = done.stdout, done.stderr

    def __str__(self):
        return f"{self.command}: code {self.code}\n{self.out}{self.err}"


class Cluster:
    """mode: "ms" (one slurmd a node) or "fe" (front-end emulator)."""

    # A build whose plugins have AddressSanitizer: what the controller loads in the front-end mode, if it is given.
    sanitized = os.environ.get("ELASTIC_SANITIZED")
    deaths = 0  # how often a slurmctld of any cluster has ended by itself

    def __init__(self, mode, select="cons_tres", nodes=8, cpus=4, build=None, conf=(), elastic=(),
                 options=()):
        """conf and elastic: lines of slurm.conf and elastic.conf; options: more of minicluster's. With Starts=slurm
        Slurm's loops have no pauses, unless conf says otherwise."""
        self.mode, self.select, self.nodes, self.cpus = mode, select, nodes, cpus
        self.build = pathlib.Path(build or CLONE / "build")
        self.conf, self.elastic_lines, self.options = list(conf), elastic, options
        if "Starts=slurm" in elastic and not any(line.startswith("SchedulerParameters=") for line in conf):
            self.conf.append(LOOPS)
        self._begin()

    def _begin(self):
        self.base = pathlib.Path(tempfile.mkdtemp(prefix="live-"))
        self.base.chmod(0o755)
        self.dir = self.base / "c"
        self.minicluster = minicluster.Cluster(self.dir)
        self.actors = []
        self.allowed_errors = []  # regular expressions of lines that a test provokes
        self.killed = set()  # nodes whose slurmd a test has killed
        self._names = 0
        self._read_up_to = {}

    def node_name(self, number):
        return f"n{number:0{len(str(self.nodes))}}"

    @property
    def is_sanitized(self):
        """Whether AddressSanitizer is in the controller, which keeps what is freed for a while."""
        return self.mode == "fe" and bool(self.sanitized)

    @property
    def all_nodes(self):
        return [self.node_name(number) for number in range(1, self.nodes + 1)]

    # ---- life

    def up(self):
        self._copy_tools()
        for name in ("out", "sockets"):
            (self.base / name).mkdir()
            (self.base / name).chmod(0o1777)
        arguments = ["--nodes", self.nodes, "--cpus", self.cpus, "--select", self.select,
                     "--plugins", self.build / "src/plugins/.libs", "--share", self.base]
        if self.mode == "fe":
            arguments.append("--frontend")
        if self.is_sanitized:
            arguments += ["--sanitized", f"{self.sanitized}/src/plugins/.libs"]
        for line in self.conf:
            arguments += ["--conf-line", line]
        for line in self.elastic_lines:
            arguments += ["--elastic-line", line]
        self.minicluster.up(*map(str, [*arguments, *self.options]))
        self.env = self._environment()
        self.controller_pid = self.minicluster.daemon("slurmctld").pid()

    def renew(self):
        """Another cluster in its place."""
        self.down()
        self._begin()
        self.up()

    def __enter__(self):
        try:
            self.up()
        except BaseException:
            self.down()
            raise
        return self

    def __exit__(self, *_):
        self.down()

    def down(self):
        for actor in self.actors:
            actor.close()
        try:
            self.minicluster.down()
        finally:
            shutil.rmtree(self.base, ignore_errors=True)

    # Copies: other users must reach them, and a build must not change under a test.
    def _copy_tools(self):
        tools = self.base / "tools"
        tools.mkdir()
        for name in ("selastic", "selastic-run", "selastic-serve", "selastic-sim", "bag_of_tasks", "evolving_stencil",
                     "rigid_sum"):
            built = self.build / ".libs" / name
            built = built if built.exists() else self.build / name
            if built.exists() or name != "selastic-serve":  # which needs a library that may not be there
                shutil.copy(built, tools / name)
        self.library = tools / "libelastic.so.0"
        shutil.copy(self.build / ".libs" / "libelastic.so.0", self.library)
        self.actor_program = tools / "actor.py"
        shutil.copy(HERE / "actor.py", self.actor_program)
        shutil.copytree(CLONE / "src/runtime/python/elastic", tools / "elastic",
                        ignore=shutil.ignore_patterns("__pycache__"))
        for script in ("elastic_script.sh", "elastic_rounds.py"):
            shutil.copy(CLONE / "contribs/examples" / script, tools)
        self.tools = tools

    def compile(self, source):
        """A C program of the tests, linked with this build's library; its path."""
        target = self.tools / pathlib.Path(source).stem
        subprocess.run(["cc", "-std=c11", "-D_GNU_SOURCE", "-O1", f"-I{CLONE}/src/libelastic",
                        str(source), "-o", str(target), str(self.library),
                        f"-Wl,-rpath,{self.tools}"], check=True)
        return target

    def _environment(self):
        env = {key: value for key, value in self.minicluster.environment().items()
               if not key.startswith("ELASTIC_")}
        env["PATH"] = f"{self.tools}:{env['PATH']}"
        env["LD_LIBRARY_PATH"] = ":".join(
            filter(None, [str(self.tools), env.get("LD_LIBRARY_PATH")]))
        return env

    # ---- the controller

    def controller_lives(self):
        """Still the process that was started last, with no restart but ours."""
        return self.minicluster.daemon("slurmctld").pid() == self.controller_pid

    def death(self):
        """Of a slurmctld that has ended by itself: the end of its log, and where it was if it has left a core."""
        Cluster.deaths += 1
        said = "slurmctld has died:\n" + self.log[-3000:] + self._sanitizer_report()[:6000]
        for core in (self.dir / "log").glob("core*"):
            program = self.minicluster.settings.commands["slurmctld"][0]
            said += "\n" + subprocess.run(["gdb", "-batch", "-ex", "thread apply all backtrace", program, str(core)],
                                          capture_output=True, text=True, check=False).stdout[-6000:]
        return said

    def _sanitizer_report(self):
        found = re.search(r"^=+\n==\d+==ERROR: .*", (self.dir / "log/slurmctld.out").read_text(errors="replace"),
                          re.S | re.M)
        return found.group() if found else ""

    def kill_controller(self):
        """SIGKILL slurmctld."""
        self.minicluster.kill("slurmctld")

    def start_controller(self):
        """Start it again; returns when it answers."""
        self.minicluster.start("slurmctld")
        self.controller_pid = self.minicluster.daemon("slurmctld").pid()

    def restart_controller(self):
        """End slurmctld orderly and start it again."""
        self.minicluster.restart("slurmctld")
        self.controller_pid = self.minicluster.daemon("slurmctld").pid()

    # ---- the nodes

    def kill_slurmd(self, node):
        """SIGKILL a node's slurmd ("frontend" in fe mode); jobs' processes live on."""
        self.minicluster.kill(node)
        self.killed.add(node)

    def start_slurmd(self, node, booted=False):
        """Start it again, booted: as after a boot of its machine; returns at once."""
        self.minicluster.start(node, booted)

    def slurmd_lives(self, node):
        """Whether it runs."""
        return self.minicluster.daemon(node).pid() is not None

    @property
    def log(self):
        """All of slurmctld.log."""
        path = self.dir / "log" / "slurmctld.log"
        return path.read_text(errors="replace") if path.exists() else ""

    def new_errors(self):
        """The error lines of all daemons' logs since the last call, each with its log's name."""
        lines = [f"{path.name}: {line}"
                 for path in sorted((self.dir / "log").glob("*.log")) for line in self._new_lines(path)]
        return [line for line in lines if re.search(r"\b(error|fatal):", line)
                and not any(re.search(pattern, line) for pattern, _ in HARMLESS) and not self._is_late_news(line)]

    def _is_late_news(self, line):
        """Of killed nodes alone: slurmctld says every five minutes who has not answered since, whoever does now."""
        found = re.search(r"slurmctld\.log: .*error: Nodes (\S+) not responding$", line)
        return bool(found) and self.killed.issuperset(self.expand(found[1]))

    def check_as_before(self):
        """All jobs are ended; then the cluster is as it was: all nodes idle, the same slurmctld, no unexpected error in
        any daemon's log, and a journal that replays."""
        assert self.controller_lives(), self.death()
        self.clean()
        assert self.controller_lives(), self.death()
        unexpected = [line for line in self.new_errors()
                      if not any(re.search(allowed, line) for allowed in self.allowed_errors)]
        assert not unexpected, "in the daemons' logs:\n" + "\n".join(unexpected)
        self.check_journal()

    def _new_lines(self, path):
        """What a daemon has logged since the last call, but what Slurm logs while it reads slurm.conf."""
        text = path.read_text(errors="replace")
        new, self._read_up_to[path] = text[self._read_up_to.get(path, 0):], len(text)
        return READING_SLURM_CONF.sub(lambda reading: TIMED_OUT.sub("", reading.group()), new).splitlines()

    def set_elastic(self, **settings):
        """elastic.conf with these settings besides ListenPort, made known to the controller."""
        path = self.dir / "elastic.conf"
        port = re.search("^ListenPort=.*$", path.read_text(), re.M).group(0)
        lines = [port] + [f"{key}={value}" for key, value in settings.items()]
        self.write_elastic_conf("\n".join(lines) + "\n")
        self.reconfigure("configuration read")

    def write_elastic_conf(self, text):
        """elastic.conf, the controller not told."""
        self.write_conf("elastic.conf", text)

    def set_slurm(self, **settings):
        """slurm.conf with other values of these keys, made known to the daemons."""
        text = (self.dir / "slurm.conf").read_text()
        for key, value in settings.items():
            text, found = re.subn(f"^{key}=.*$", f"{key}={value}", text, flags=re.M)
            assert found, f"slurm.conf has no {key}"
        self.write_conf("slurm.conf", text)
        self.reconfigure("configuration read")

    def write_conf(self, name, text):
        """A file of the configuration, at once: a slurmd may be reading it. Nobody is told."""
        path = self.dir / name
        path.with_suffix(".new").write_text(text)
        path.with_suffix(".new").replace(path)

    def reconfigure(self, until_log_says):
        """scontrol reconfigure; returns when the controller's log has said so and all slurmds have read slurm.conf:
        one that does just then loses messages, such as that of a step's end, which Slurm repeats after a minute."""
        before = len(self.log)
        readings = {name: self._readings(name) for name in self.slurmds}
        with self.applications_reconnect():
            self.run("scontrol", "reconfigure")
            wait_until(lambda: until_log_says in self.log[before:], f"slurmctld.log says '{until_log_says}'")
        wait_until(lambda: all(self._readings(name) > count for name, count in readings.items()
                               if self.slurmd_lives(name)), "all slurmds have read slurm.conf")

    @contextlib.contextmanager
    def applications_reconnect(self):
        """Until those connected before are so afterwards: since 23.11 a reconfiguration is another slurmctld."""
        before = self._connected()
        yield
        wait_until(lambda: not any(self.state(job) == "RUNNING" for job in before - self._connected()),
                   f"jobs {before} are connected")

    def _connected(self):
        """The jobs whose applications are connected; none where the controller does not answer."""
        answer = self.selastic("jobs", check=False)
        return set() if isinstance(answer, Result) else {job["job"] for job in answer["jobs"] if job["connected"]}

    @property
    def slurmds(self):
        """The names of the daemons that stand for nodes."""
        return ["frontend"] if self.mode == "fe" else self.all_nodes

    def _readings(self, slurmd):
        """How often a slurmd has read slurm.conf: each time it says this."""
        log = self.dir / "log" / f"{slurmd}.log"
        return log.read_text(errors="replace").count("CPU frequency setting not configured") if log.exists() else 0

    # ---- commands

    def run(self, *command, user=None, check=True, within=60, env=None, cwd=None, stdin=None):
        """A command that talks to this cluster; as another user if named."""
        command = [str(part) for part in command]
        if user:
            command = ["setpriv", f"--reuid={user}", f"--regid={user}", "--clear-groups", *command]
        done = subprocess.run(self.minicluster.placed(command), env={**self.env, **(env or {})}, capture_output=True,
                              text=True, timeout=within, check=False, cwd=cwd or self.base / "out",
                              input=stdin)
        result = Result(" ".join(command), done)
        assert not check or done.returncode == 0, str(result)
        return result

    def sbatch(self, *arguments, wrap=None, user=None):
        """Submit; returns the job's id.  Without wrap, the arguments name a script."""
        command = ["sbatch", "--parsable", "--output", f"{self.base}/out/%A_%a.%j.txt", *arguments]
        if wrap is not None:
            command += ["--wrap", wrap]
        return int(self.run(*command, user=user).out.split(";")[0])

    def new_folder(self, name):
        """A folder for everybody, another one each time a test is tried."""
        made = pathlib.Path(tempfile.mkdtemp(prefix=f"{name}-", dir=self.base / "out"))
        made.chmod(0o777)
        return made

    def lasting_tasks(self):
        """Tasks for a step that last until they are killed, and say when they run."""
        self._names += 1
        return LastingTasks(self.base / "out" / f"tasks-{self._names}")

    def output(self, job):
        """What the batch script of a job (not an array's) has written."""
        return "".join(path.read_text() for path in (self.base / "out").glob(f"*.{job}.txt"))

    def selastic(self, *arguments, user=None, check=True):
        """selastic ... --json, read."""
        result = self.run("selastic", *arguments, "--json", user=user, check=check)
        return json.loads(result.out) if result.code == 0 else result

    # ---- what there is

    def job(self, job):
        """All that `scontrol show job` says, {} if nothing."""
        text = self.run("scontrol", "--oneliner", "show", "job", job, check=False).out
        line = text.splitlines()[0] if text.strip() else ""
        fields = dict(re.findall(r"(\S+?)=((?:(?! \S+=).)*)", line))
        if "AllocTRES" in fields:  # two fields since 23.02
            fields["TRES"] = fields["AllocTRES" if fields["AllocTRES"] != "(null)" else "ReqTRES"]
        return fields

    def state(self, job):
        """RUNNING, PENDING, COMPLETED... ; "" for an unknown job."""
        return self.job(job).get("JobState", "")

    def nodes_of(self, job):
        """The names of the nodes of a job."""
        nodes = self.job(job).get("NodeList", "")
        return self.expand(nodes) if nodes not in ("", "(null)") else []

    def expand(self, hostlist):
        """n[1-3] as a list."""
        return self.run("scontrol", "show", "hostnames", hostlist).out.split()

    def wait_two_passes(self):
        """Until whatever the scheduler wanted to do now, it has done."""
        before = self.selastic("jobs")["pass"]["count"]
        wait_until(lambda: self.selastic("jobs")["pass"]["count"] >= before + 2,
                   "the scheduler has planned twice")

    def wait_state(self, job, *states, within=PATIENCE):
        """Until the job is in one of the states, which is returned."""
        def there():
            state = self.state(job)
            return state if state in states else None
        return wait_until(there, lambda: f"job {job} is {' or '.join(states)}: {self.job(job)}",
                          within)

    def wait_size(self, job, nodes, within=PATIENCE):
        """Until the job has so many nodes."""
        wait_until(lambda: len(self.nodes_of(job)) == nodes,
                   lambda: f"job {job} has {nodes} nodes, not {self.nodes_of(job)}", within)

    def queue(self):
        """The ids of all jobs in the queue, completing ones included."""
        return self.run("squeue", "--noheader", "--array", "--format=%A %T").out.splitlines()

    def node_states(self, planned=False):
        """{node: state}, such as idle, allocated, mixed, drained, down; planned only if it is asked for."""
        text = self.run("sinfo", "--noheader", "--Node", "--format=%N %T").out
        if not planned:
            text = re.sub(r" planned$", " idle", re.sub(" mixed-$", " mixed", text, flags=re.M), flags=re.M)
        return dict(line.split() for line in text.splitlines())

    def quiet(self):
        """Nothing in the queue, all nodes idle."""
        return not self.queue() and set(self.node_states(planned=True).values()) == {"idle"}

    def wait_quiet(self, within=PATIENCE):
        wait_until(self.quiet, lambda: "nothing runs and all nodes are idle:\n"
                   f"{self.queue()}\n{self.node_states()}", within)

    def slurm_state(self, name):
        """The bytes of a file of StateSaveLocation, as far as there is one."""
        path = self.dir / "state" / name
        return path.read_bytes() if path.exists() else b""

    def wait_quiet_queue(self, within=PATIENCE):
        """Until nothing is in the queue."""
        wait_until(lambda: not self.queue(), lambda: f"the queue is empty: {self.queue()}", within)

    def journal_path(self):
        return self.dir / "state" / "elastic.journal"

    def journal(self, job=None, event=None):
        """The journal's events, of a job, of a kind."""
        path = self.journal_path()
        lines = path.read_text().splitlines() if path.exists() else []
        events = [json.loads(line) for line in lines]
        return [entry for entry in events if (job is None or entry.get("job") == job)
                and (event is None or entry["event"] == event)]

    def wait_journal(self, job, event, within=PATIENCE, **fields):
        """The first such event of a job that has these fields."""
        def found():
            for entry in self.journal(job, event):
                if all(entry.get(key) == value for key, value in fields.items()):
                    return entry
            return None
        return wait_until(found, lambda: f"the journal has {event} {fields} of job {job}, not only"
                          f" {self.journal(job)}", within)

    def check_journal(self):
        """Replay the journal with the independent checker."""
        checked = self.run("selastic", "check", "--running", self.journal_path())
        assert "begins in the middle" not in checked.err, str(checked)

    # ---- actors

    def actor(self, annotation, *arguments, user=None, wait=True, launcher=""):
        """Submit a job with --elastic=annotation (None: without) that does as told."""
        self._names += 1
        actor = Actor(self, f"{self.base}/sockets/{self._names}")
        self.actors.append(actor)
        elastic = [f"--elastic={annotation}"] if annotation else []
        program = f"exec {launcher} {sys.executable} {self.actor_program}" \
                  f" {actor.path} {self.library}"
        actor.job = self.sbatch(*elastic, *arguments, wrap=program, user=user)
        if wait:
            actor.wait_connected()
        return actor

    def wait_connected(self, job):
        """Until the controller knows the job's application."""
        wait_until(lambda: job in self._connected(), f"job {job} is connected")

    def end_jobs(self):
        """Until nothing is in the queue."""
        if self.queue():
            self.run("scancel", *sorted({line.split()[0] for line in self.queue()}), check=False)
        self.wait_quiet_queue(60)

    def clean(self):
        """End all jobs, forget their actors."""
        self.end_jobs()
        self.wait_quiet(60)
        for actor in self.actors:
            actor.close()
        self.actors.clear()


class LastingTasks:
    """`command` is for srun.  Slurm lists a step before its tasks run, and a node that leaves meanwhile is an error."""

    def __init__(self, program):
        self.command, self._program = str(program), program
        program.write_text(f"#!/bin/sh\ntouch {program}.$SLURM_PROCID\nexec sleep 600\n")
        program.chmod(0o755)

    def wait(self, count):
        wait_until(lambda: len(list(self._program.parent.glob(f"{self._program.name}.*"))) == count,
                   f"{count} tasks of {self.command} run")


class Actor:
    """The test's end of an application (actor.py is the other)."""

    def __init__(self, cluster, path):
        self.cluster, self.path, self.job = cluster, path, None
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(path)
        os.chmod(path, 0o777)
        self.listener.listen()
        self.connection = None
        self._text = b""
        self.events, self._replies = [], []
        self.opened = None

    def close(self):
        for end in (self.connection, self.listener):
            if end:
                end.close()
        self.connection = None

    def wait_connected(self, within=PATIENCE):
        """Until the program runs and has opened its handle."""
        self.listener.settimeout(within)
        try:
            self.connection, _ = self.listener.accept()
        except TimeoutError:
            raise Waited(f"job {self.job} has not begun: {self.cluster.job(self.job)}\n"
                         f"{self.cluster.output(self.job)}") from None
        self.opened = self._next_reply(within)
        return self

    def restart(self):
        """The job has been requeued: forget its first run, wait for the second."""
        self.connection.close()
        self._text = b""
        self.events, self._replies = [], []
        return self.wait_connected()

    def _pump(self, within):
        """Read what there is; waits for something at most so long."""
        self.connection.settimeout(max(within, 0.001))
        try:
            data = self.connection.recv(65536)
        except TimeoutError:
            return
        except ConnectionResetError:
            data = b""
        if not data:
            raise EOFError(f"the application of job {self.job} has ended: "
                           f"{self.cluster.output(self.job)}")
        self._text += data
        while b"\n" in self._text:
            line, self._text = self._text.split(b"\n", 1)
            message = json.loads(line)
            (self.events if "event" in message else self._replies).append(message)

    def _next_reply(self, within=PATIENCE):
        deadline = time.monotonic() + within
        while not self._replies:
            left = deadline - time.monotonic()
            if left <= 0:
                raise Waited(f"waited {within:g} s in vain for an answer of the application")
            self._pump(left)
        return self._replies.pop(0)

    def tell(self, call, **arguments):
        """A command whose answer is not waited for."""
        self.connection.sendall(json.dumps({"call": call, **arguments}).encode() + b"\n")

    def ask(self, call, within=PATIENCE, **arguments):
        """A command and its answer: see actor.py for what there is."""
        self.tell(call, **arguments)
        return self._next_reply(within)

    def call(self, function, *arguments):
        """elastic_FUNCTION(handle, arguments...); its result."""
        return self.ask("elastic", function=function, arguments=list(arguments))["result"]

    def do(self, function, *arguments):
        """The same, and it must succeed."""
        reply = self.ask("elastic", function=function, arguments=list(arguments))
        assert reply["result"] == 0, (function, arguments, reply)

    def shell(self, command, within=PATIENCE):
        """A shell command in the job's environment: {code, out, err}."""
        return self.ask("shell", within=within, command=command)

    def state(self):
        """nodes, node_list, min, max, connected... as the library has it."""
        return self.ask("state")

    def event(self, kind=None, within=PATIENCE):
        """The next event; it must be of that kind."""
        deadline = time.monotonic() + within
        while not self.events:
            left = deadline - time.monotonic()
            if left <= 0:
                raise Waited(f"waited {within:g} s in vain for event {kind} of job {self.job}; "
                             f"journal: {self.cluster.journal(self.job)}")
            self._pump(left)
        event = self.events.pop(0)
        assert kind is None or event["event"] == kind, f"expected {kind}, not {event}"
        return event

    def no_event(self):
        """Nothing has happened up to now, as far as the application knows."""
        self.state()  # a round trip: the program polls before it answers
        assert not self.events, self.events

    # What most tests do with an offer.

    def take_shrink(self, within=PATIENCE):
        """Accept the shrink offered next and leave; the event at its end."""
        offer = self.event("offer_shrink", within)
        self.do("accept", offer["op"])
        self.event("accepted")
        self.do("done", offer["op"])
        return self.event("resized")

    def take_expand(self, within=PATIENCE):
        """Accept the expansion offered next; the event at its end."""
        offer = self.event("offer_expand", within)
        self.do("accept", offer["op"])
        self.event("accepted")
        resized = self.event("resized")
        self.do("done", offer["op"])
        return resized

    def exit(self, code=0):
        """End the program; returns at once."""
        self.tell("exit", code=code)
