# SPDX-License-Identifier: MIT
"""A private Slurm cluster on this host, up in seconds, gone without trace.

Two modes. By default Debian's slurmctld and one real slurmd a node, each on a port of its own: everything is real,
good for tens of nodes. With --frontend Slurm's front-end emulator from contribs/slurm-source, where one slurmd stands
for thousands of nodes.

With --accounting there is a slurmdbd, and a mariadbd of its own: it has no port, and no passwords either, since only
slurmctld's user reaches its socket.

With --auth slurm there is no MUNGE: Slurm's daemons themselves say who somebody is, at sockets below /run that nothing
can move. So each daemon has in the place of /run, in a mount namespace of its own, a folder in run.d/, and the sackd of
a login node has the one that commands see.

A cluster is a directory. It holds the configuration, MUNGE key and socket, state, logs, and in pids/ one file a daemon
with its process id and the time the kernel says that process began. Daemons are started with `-D` and kept as plain
background processes, so their ids are known from the first moment.

Always:
- nothing outside the directory is written, the host's Slurm and MUNGE are neither used nor touched, ports are free
  ones, several clusters coexist;
- a process is signalled only if it is one of ours: a recorded id whose start time agrees, or a process that our slurmds
  started for a job (it carries our SLURM_CONF together with SLURMD_NODENAME, or is a slurmstepd of ours);
- `up` that fails or is interrupted leaves no process; after a failure the directory stays for its logs, and the next
  `up` replaces it;
- every wait is for a condition, with a deadline.

As a module: Cluster(directory).up("--nodes", "8"), .down(), ...; what goes wrong is a Failure.
"""

import argparse
import contextlib
import itertools
import json
import os
import pathlib
import pwd
import random
import re
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
CONTROLLER_PLUGINS = ("sched_elastic.so", "job_submit_elastic.so")
OUR_PLUGINS = (*CONTROLLER_PLUGINS, "preempt_elastic_qos.so", "preempt_elastic_partition_prio.so", "spank_elastic.so")
INTERRUPTIONS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Failure(Exception):
    """Something the user has to know; the text says what."""


def say(text):
    print(f"minicluster: {text}", file=sys.stderr, flush=True)


def wait_until(seconds, condition):
    """Whether the condition has come true in time."""
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() >= deadline:
            return False
        time.sleep(0.05)
    return True


def output_of(*command, env=None):
    """What a short command prints; None if it fails."""
    with contextlib.suppress(subprocess.SubprocessError):
        return subprocess.run(command, env=env, stdin=subprocess.DEVNULL, capture_output=True, timeout=10, check=True,
                              text=True).stdout
    return None


def succeeds(*command, env=None):
    return output_of(*command, env=env) is not None


def user_name():
    return pwd.getpwuid(os.getuid()).pw_name


def program(name, package):
    """The path of a program of a Debian package."""
    path = shutil.which(name, path=os.environ.get("PATH", "") + ":/usr/sbin:/sbin")
    if not path:
        raise Failure(f"no {name}: install the package {package}, or run contribs/install-deps")
    return path


# ---- ports

def reserve_ports(count):
    """Sockets that hold so many ports in a row, below the range from which the kernel hands out its own.

    Only programs that agree to share a port, as Slurm's daemons and ours do, can take one of these; and only this
    function does not, so that no two clusters choose the same.
    """
    for _ in range(1000):
        first = random.SystemRandom().randrange(10000, 32000 - count)
        held = [socket.socket() for _ in range(count)]
        with contextlib.suppress(OSError):
            for port, holder in enumerate(held, first):
                holder.bind(("", port))
                holder.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            return held
    raise Failure(f"found no {count} free ports in a row")


def is_listened_to(port):
    """Whether a daemon has opened this port; looked up, since a connection would be an error in its log."""
    return any(re.search(f":{port:04X} [0-9A-F]+:0000 0A ", table.read_text())
               for table in pathlib.Path("/proc/net").glob("tcp*"))


# ---- processes

@contextlib.contextmanager
def uninterrupted():
    """Interruptions wait until this is over."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, INTERRUPTIONS)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def default_signals():
    """For a child: nothing blocked, nor ignored as in a shell's background processes."""
    signal.pthread_sigmask(signal.SIG_SETMASK, ())
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    signal.signal(signal.SIGQUIT, signal.SIG_DFL)


def process_began(pid):
    """When a process that runs began, in clock ticks since boot; None if there is none."""
    try:
        fields = pathlib.Path(f"/proc/{pid}/stat").read_text(errors="replace").rsplit(")", 1)[1].split()
    except OSError:
        return None
    return None if fields[0] == "Z" else int(fields[19])


class Daemon:
    """A process of ours, as its file in pids/ has it."""

    def __init__(self, record):
        self.record, self.name = record, record.name

    def start(self, command, env, log):
        """In a session of its own."""
        with open(log, "ab") as out, uninterrupted():
            process = subprocess.Popen(command, env=env, cwd=log.parent, umask=0o022, start_new_session=True,
                                       stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.STDOUT,
                                       preexec_fn=default_signals)
            process.returncode = 0  # nobody will wait for it
            self.record.write_text(f"{process.pid} {process_began(process.pid) or 0}\n")

    def pid(self):
        """Its process id while it runs, else None."""
        try:
            pid, began = map(int, self.record.read_text().split())
        except (OSError, ValueError):
            return None
        return pid if process_began(pid) == began else None

    def kill(self, number):
        pid = self.pid()
        if pid:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, number)


def end_daemons(daemons, signals=(signal.SIGTERM, signal.SIGKILL)):
    """Orderly, else by force; a Failure if that does not help."""
    for number in signals:
        for daemon in daemons:
            daemon.kill(number)
        if wait_until(10, lambda: not any(daemon.pid() for daemon in daemons)):
            return
    raise Failure("would not end: " + " ".join(daemon.name for daemon in daemons if daemon.pid()))


def is_slurm_process(pid):
    """Once the daemons are gone: a slurmstepd, a slurmd's child on the way to become one, or slurmscriptd."""
    return re.search(r"/slurm(ctld|d|stepd)([- ].*)?$", os.readlink(f"/proc/{pid}/exe"))


def has_open(pid, folder):
    """Whether the process has a file below the folder open."""
    return any(os.readlink(link).startswith(f"{folder}/") for link in pathlib.Path(f"/proc/{pid}/fd").iterdir())


def ancestors():
    """The ids of this process and of those that it descends from."""
    pid, found = os.getpid(), set()
    while pid > 1:
        found.add(pid)
        pid = int(re.search(r"^PPid:\s*(\d+)", pathlib.Path(f"/proc/{pid}/status").read_text(), re.M).group(1))
    return found


def job_processes(slurm_conf):
    """The ids of the processes that a slurmd of ours started, and of slurmstepds themselves.

    salloc's shell, for one, has no SLURMD_NODENAME and belongs to its user. Newer slurmstepds lose their environment
    when they set their title, but have a log file open.
    """
    ours, found = f"SLURM_CONF={slurm_conf}".encode(), set()
    for environ in pathlib.Path("/proc").glob("[0-9]*/environ"):
        with contextlib.suppress(OSError):
            variables, pid = environ.read_bytes().split(b"\0"), int(environ.parent.name)
            by_slurmd = any(variable.startswith(b"SLURMD_NODENAME=") for variable in variables)
            if ours in variables and by_slurmd:
                found.add(pid)
            elif is_slurm_process(pid) and (ours in variables or has_open(pid, slurm_conf.parent)):
                found.add(pid)
    return found - ancestors()


def end_job_processes(slurm_conf):
    """To be called when no slurmd runs, so that nothing new begins.

    A slurmstepd whose slurmctld is gone would wait for it, so after a moment for the tasks to tidy up all are killed.
    """
    def none_left(number=0):
        left = job_processes(slurm_conf)
        for pid in left:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, number)
        return not left

    if not (none_left(signal.SIGTERM) or wait_until(1, none_left) or
            wait_until(10, lambda: none_left(signal.SIGKILL))):
        raise Failure(f"processes of jobs would not end: {job_processes(slurm_conf)}")


# ---- namespaces

def can_unshare():
    return os.getuid() == 0 and succeeds("unshare", "--mount", "--uts", "true")


def in_namespaces(host_name, mounts, command):
    """The command with a host name, if any, and mounts (arguments of mount) that nobody else sees."""
    steps = [*([f"echo {host_name} >/proc/sys/kernel/hostname"] if host_name else []),
             *(shlex.join(["mount", *map(str, mount)]) for mount in mounts), 'exec "$@"']
    return ["unshare", "--mount", "--uts", "sh", "-ec", "\n".join(steps), "sh", *command]


# ---- Slurm, and our plugins

def link_debian_slurm(directory):
    """Debian's Slurm in DIRECTORY/bin and sbin; its folder of plugins, and of libraries if it does not find them.

    By its own names: the plain ones are alternatives that another package (slurm-wlm-emulator) may have redirected.
    Links give them the plain names, since Slurm's code knows in which daemon it runs by the program's name alone; in a
    `slurmctld-wlm` it takes itself for a command.
    """
    for folder in ("bin", "sbin"):
        (directory / folder).mkdir()
    for name, package in (("slurmctld", "slurmctld"), ("slurmd", "slurmd"), ("slurmstepd", "slurmd")):
        (directory / "sbin" / name).symlink_to(program(f"{name}-wlm", package))
    for name in re.findall("^/usr/bin/(.+)$", output_of("dpkg", "-L", "slurm-client") or "", re.M):
        (directory / "bin" / name).symlink_to(f"/usr/bin/{name}")
    return debian_plugins(), ""


def debian_plugins():
    """The folder of plugins of Debian's Slurm."""
    plugins = re.search(r"^(.*)/select_linear\.so$", output_of("dpkg", "-L", "slurm-wlm-basic-plugins") or "", re.M)
    if not plugins:
        raise Failure("no Slurm plugins: install slurm-wlm-basic-plugins")
    return plugins.group(1)


def link_built_slurm(directory, prefix):
    """The same for a Slurm that contribs/slurm-source has built.

    Root's build may lie where other users cannot look (/root); its jobs and users need it all the same, so they get a
    copy. One that was moved does not find its library by itself.
    """
    if not os.access(prefix / "sbin/slurmctld", os.X_OK):
        raise Failure(f"no build of Slurm in '{prefix}'")
    if os.getuid() == 0:
        for folder in ("bin", "sbin", "lib"):
            shutil.copytree(prefix / folder, directory / "slurm" / folder, symlinks=True,
                            ignore=shutil.ignore_patterns("*.a", "*.la"))
        prefix = directory / "slurm"
    for folder in ("bin", "sbin"):
        (directory / folder).symlink_to(prefix / folder)
    return str(prefix / "lib/slurm"), f"{prefix}/lib/slurm:{prefix}/lib"


def built_slurm(frontend, slurm):
    """The prefix of slurm-source's build; the first one takes minutes."""
    what, name = ("frontend", "SLURM_FRONTEND") if frontend else ("daemons", "SLURM_PREFIX")
    with subprocess.Popen([str(HERE / "slurm-source"), what, *(["--slurm", slurm] if slurm else [])],
                          stdout=subprocess.PIPE, text=True, start_new_session=True) as build:
        try:
            said = re.search(f"^{name}=(.*)$", build.communicate()[0], re.M)
        except BaseException:
            os.killpg(build.pid, signal.SIGTERM)
            raise
    if build.returncode or not said:
        raise Failure(f"no build of Slurm {slurm}{' with front ends' * frontend}")
    return pathlib.Path(said.group(1))


def link_slurm(directory, settings):
    """The Slurm of these settings, linked into DIRECTORY."""
    if settings.frontend and os.environ.get("SLURM_FRONTEND") and not settings.slurm:
        return link_built_slurm(directory, pathlib.Path(os.environ["SLURM_FRONTEND"]))
    if settings.frontend or settings.slurm:
        return link_built_slurm(directory, built_slurm(settings.frontend, settings.slurm))
    return link_debian_slurm(directory)


def find_plugins(*folders):
    """The first folder that has our plugins."""
    for folder in filter(None, folders):
        if all(os.path.exists(f"{folder}/{name}") for name in OUR_PLUGINS):
            return os.path.realpath(folder)
    raise Failure(f"no {', '.join(OUR_PLUGINS)} in {' or '.join(map(str, filter(None, folders)))}: build the project"
                  " first, name the folder with --plugins, or use --stock")


def sanitizer_environment(folder):
    """For a slurmctld that loads plugins with AddressSanitizer: its library has to be there before all others."""
    plugin = pathlib.Path(folder) / CONTROLLER_PLUGINS[0]
    if b"__asan_init" not in plugin.read_bytes():
        raise Failure(f"{plugin} is not built with -fsanitize=address")
    library = output_of("g++", "-print-file-name=libasan.so").strip()
    return {"LD_PRELOAD": os.path.realpath(library), "ASAN_OPTIONS": "detect_leaks=0:abort_on_error=1"}


# ---- configuration

# The daemons listen on all addresses (Slurm cannot be told to use the loopback one alone); what keeps others out is the
# cluster's own key.
SLURM_CONF = """\
ClusterName=minicluster
SlurmctldPort={controller_port}
SlurmdPort={slurmd_port}
SlurmUser={slurm_user}
SlurmdUser={user}
StateSaveLocation=@DIR@/state
SlurmdSpoolDir=@DIR@/spool/%n
SlurmctldPidFile=@DIR@/run/slurmctld.pid
SlurmdPidFile=@DIR@/run/%n.pid
SlurmctldLogFile=@DIR@/log/slurmctld.log
SlurmdLogFile=@DIR@/log/%n.log
PlugStackConfig=@DIR@/plugstack.conf
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SwitchType=switch/none
MpiDefault=none
JobAcctGatherType=jobacct_gather/none
JobCompType=jobcomp/none
MailProg=/bin/true
SlurmdParameters=config_overrides
PropagateResourceLimits=NONE
ReturnToService=2
SlurmctldTimeout=30
SlurmdTimeout=60
KillWait=3
InactiveLimit=0
MinJobAge=600
MaxJobCount=100000
SelectType=select/{select}
"""

STOCK = """\
SchedulerType=sched/backfill
PluginDir={slurm_plugins}
"""

ELASTIC = """\
SchedulerType=sched/elastic
SchedulerParameters=sched_interval=-1,defer
JobSubmitPlugins=elastic
PluginDir=@DIR@/plugins:{slurm_plugins}
"""

WITH_ACCOUNTING = """\
AccountingStorageType=accounting_storage/slurmdbd
AccountingStorageHost=localhost
AccountingStoragePort={accounting_port}
AccountingStorageEnforce=associations,limits,qos
"""

SLURMDBD_CONF = """\
DbdHost=localhost
DbdPort={accounting_port}
SlurmUser={slurm_user}
PluginDir={slurmdbd_plugins}
LogFile=@DIR@/log/slurmdbd.log
PidFile=@DIR@/run/slurmdbd.pid
StorageType=accounting_storage/mysql
StorageHost=localhost
StorageUser=slurm
StorageLoc=slurm_acct_db
"""

# For slurm.conf, for its connection to slurmdbd, and for slurmdbd.conf. MUNGE's socket is where a password would be in
# the second; AuthInfo does not count there.
AUTHENTICATION = {
    "munge": ("AuthType=auth/munge\nAuthInfo=socket=@DIR@/munge/socket\nCredType=cred/munge\n",
              "AccountingStoragePass=@DIR@/munge/socket\n",
              "AuthType=auth/munge\nAuthInfo=socket=@DIR@/munge/socket\n"),
    "slurm": ("AuthType=auth/slurm\nCredType=auth/slurm\n", "", "AuthType=auth/slurm\n"),
}

# Two controllers on a host have an address each. The address is the host name, too: a slurmctld knows by it which of
# the two it is, and /etc/hosts needs no entry.
CONTROLLERS = {"slurmctld": "127.0.0.1", "slurmctld2": "127.0.0.2"}


def slurm_conf_lines(settings):
    """All but those that the user has asked for."""
    lines = ["SlurmctldHost=localhost"]
    if settings.controllers == 2:
        lines = [f"SlurmctldHost={address}" for address in CONTROLLERS.values()]
        lines.append("CommunicationParameters=NoCtldInAddrAny")
    lines += SLURM_CONF.format(user=user_name(), **vars(settings)).splitlines()
    if settings.select == "cons_tres":
        lines.append("SelectTypeParameters=CR_CPU")
    if settings.frontend:
        lines.append(f"FrontendName=frontend FrontendAddr=localhost Port={settings.slurmd_port}")
    lines += node_lines(settings)
    everywhere = hostlist(settings, range(1, settings.nodes + 1))
    lines.append(f"PartitionName=debug Nodes={everywhere} Default=YES DefaultTime=60 MaxTime=INFINITE State=UP")
    own, at_slurmdbd, _ = AUTHENTICATION[settings.auth]
    rest = own + (STOCK if settings.stock else ELASTIC) + (WITH_ACCOUNTING + at_slurmdbd) * settings.accounting
    return lines + rest.format(**vars(settings)).splitlines()


def with_lines(lines, more):
    """The lines, where a later line replaces an earlier one of the same key, or of the same partition or the like."""
    def subject(line):
        key, _, value = line.lower().partition("=")
        return (key, *value.split()[:1]) if key in ("nodename", "partitionname", "frontendname", "include") else key

    for line in more:
        lines = [other for other in lines if subject(other) != subject(line)] + [line]
    return "\n".join(lines) + "\n"


def node_name(settings, number):
    """n1 to n9, n01 to n16, n001 to n128, ..."""
    return f"n{number:0{len(str(settings.nodes))}}"


def node_names(settings):
    return [node_name(settings, number) for number in range(1, settings.nodes + 1)]


def ranges(numbers, width=0):
    """[1, 2, 3, 5] is 1-3,5."""
    runs = [[pair[1] for pair in run] for _, run in
            itertools.groupby(enumerate(sorted(numbers)), lambda pair: pair[1] - pair[0])]
    return ",".join("-".join(f"{end:0{width}}" for end in sorted({run[0], run[-1]})) for run in runs)


def hostlist(settings, numbers):
    several = f"n[{ranges(numbers, len(str(settings.nodes)))}]"
    return several if len(numbers) > 1 else node_name(settings, numbers[0])


def node_numbers(settings, text):
    """Those of n[1-4,7], n1,n2 or ALL."""
    if text == "ALL":
        return list(range(1, settings.nodes + 1))
    if not re.fullmatch(r"(,?n(\d+|\[[\d,-]+\]))+", text):
        raise Failure(f"--node-line: no nodes: '{text}'")
    ends = [(int(first), int(last or first)) for first, last in re.findall(r"(\d+)(?:-(\d+))?", text)]
    if any(not 1 <= first <= last <= settings.nodes for first, last in ends):
        raise Failure(f"--node-line: there are no such nodes: '{text}'")
    return [number for first, last in ends for number in range(first, last + 1)]


def node_lines(settings):
    """A line for all nodes with the same parameters: the usual ones, and those of their last --node-line."""
    parameters = dict.fromkeys(range(1, settings.nodes + 1), "")
    for line in settings.node_line:
        names, _, more = line.partition(" ")
        parameters.update(dict.fromkeys(node_numbers(settings, names), more))
    for more in dict.fromkeys(parameters.values()):
        numbers = [number for number, own in parameters.items() if own == more]
        words = {"NodeName": hostlist(settings, numbers), "NodeAddr": "localhost"}
        if not settings.frontend:
            ports = ranges([settings.slurmd_port + number - 1 for number in numbers])
            words |= {"NodeHostname": "localhost", "Port": f"[{ports}]" if len(numbers) > 1 else ports}
        words |= {"CPUs": settings.cpus, "State": "UNKNOWN"} | dict(word.partition("=")[::2] for word in more.split())
        yield " ".join(f"{key}={value}" for key, value in words.items())


# ---- a cluster

class Cluster:
    """A directory and what runs in it.

    settings: the options of up, where Slurm and our plugins are, the ports, and how each daemon is started.
    """

    def __init__(self, directory):
        self.dir = pathlib.Path(os.path.realpath(directory))
        self.conf = self.dir / "slurm.conf"
        self.settings = None

    def daemon(self, name):
        return Daemon(self.dir / "pids" / name)

    def daemons(self):
        return [Daemon(record) for record in sorted((self.dir / "pids").glob("*"))]

    def _is_ours(self):
        """Whether there is a cluster; a Failure if it is another user's."""
        mark = self.dir / "minicluster"
        if not mark.is_file() or not (self.dir / "pids").is_dir():
            return False
        if mark.stat().st_uid != os.geteuid():
            raise Failure(f"{self.dir} belongs to {mark.owner()}")
        return True

    def _load(self):
        if not self._is_ours() or not (self.dir / "settings").is_file():
            raise Failure(f"no cluster in {self.dir} (--dir names another, 'up' starts one)")
        self.settings = argparse.Namespace(**json.loads((self.dir / "settings").read_text()))

    # -- its environment

    def _variables(self):
        """What makes commands talk to this cluster: variables, and the folders to stand first in PATH and its like."""
        settings = self.settings
        munge = {"MUNGE_SOCKET": f"{self.dir}/munge/socket"} if settings.auth == "munge" else {}
        # Nodes with names of their own share an address, from which to itself Open MPI 5 by default finds no route.
        mpi = {"OMPI_MCA_reachable": "weighted"} if settings.private_tmp else {}
        return ({"MINICLUSTER_DIR": str(self.dir), "SLURM_CONF": str(self.conf)} | munge | mpi,
                {"PATH": ":".join([f"{self.dir}/bin", *settings.tools]), "LD_LIBRARY_PATH": settings.library_path})

    def environment(self):
        """This process's environment, made to talk to this cluster and to no other."""
        foreign = re.compile("SLURM|(SBATCH|SALLOC|SRUN|SINFO|SQUEUE|SCONTROL)_")
        env = {name: value for name, value in os.environ.items() if not foreign.match(name)}
        variables, before = self._variables()
        joined = {name: ":".join(filter(None, [value, env.get(name)])) for name, value in before.items() if value}
        return env | variables | joined

    def _shell(self):
        """Shell commands that do the same."""
        variables, before = self._variables()
        hint = f"[ /run -ef {self.dir}/run.d/login ] || " \
               "echo \"minicluster: commands find this cluster in 'contribs/minicluster shell' alone\" >&2\n"
        return "".join(
            [f"export {name}={shlex.quote(value)}\n" for name, value in variables.items()] +
            [f'export {name}={shlex.quote(value)}"${{{name}:+:${name}}}"\n' for name, value in before.items()
             if value] + [hint] * (self.settings.auth == "slurm"))

    def _output_of(self, command, *arguments):
        """What one of Slurm's commands prints, None if it fails."""
        return output_of(*self.placed([str(self.dir / "bin" / command), *arguments]), env=self.environment())

    def placed(self, command, host="login"):
        """The command on that host of the cluster: with auth/slurm each has its own /run."""
        if self.settings.auth == "munge":
            return command
        run = self.dir / "run.d" / host
        run.mkdir(parents=True, exist_ok=True)
        shutil.chown(run, self.settings.slurm_user)
        return in_namespaces("", [("--bind", run, "/run")], command)

    # -- conditions; ports come first: Slurm's commands are slow to give up on a closed one

    def _munge_answers(self):
        return succeeds("munge", "--no-input", f"--socket={self.dir}/munge/socket")

    def _administers_database(self, *command):
        return succeeds("mariadb-admin", "--no-defaults", f"--socket={self.dir}/db/socket", *command)

    def _database_answers(self):
        return self._administers_database("ping")

    def _accounting_answers(self):
        return is_listened_to(self.settings.accounting_port) and \
            self._output_of("sacctmgr", "--noheader", "list", "cluster") is not None

    def _controller_answers(self, name=None):
        """This one, or any."""
        pings = self._output_of("scontrol", "ping") if is_listened_to(self.settings.controller_port) else None
        address = CONTROLLERS[name] if name and self.settings.controllers == 2 else ".*"
        return re.search(f" at {address} is UP$", pings or "", re.M)

    def _nodes_idle(self):
        return self._output_of("sinfo", "--noheader", "--format=%t") == "idle\n"

    def _await(self, seconds, condition, what, *daemons):
        """Until the condition holds; gives up at once when a daemon that is to bring it about has ended."""
        def ended():
            return " ".join(daemon.name for daemon in daemons if not daemon.pid())

        in_time = wait_until(seconds, lambda: ended() or condition())
        if not in_time or ended():
            raise Failure(f"waited in vain until {what}: {ended() + ' ended' if ended() else f'{seconds} s'}")

    # -- up

    def up(self, *arguments):
        """Start a cluster, with the command's options; afterwards its nodes are idle."""
        self.settings = checked(parse(["up", *arguments]))
        self._claim()
        try:
            self._make_folders()
            self._find_programs()
            with contextlib.ExitStack() as held:
                self._choose_ports(held)
                self._write_configuration()
                self._start_everything()
        except BaseException as problem:
            with uninterrupted():
                self._give_up(keep=isinstance(problem, Exception))
            raise
        say(f"{self.settings.nodes} nodes up in {self.dir} ({self._mode()}, select/{self.settings.select})")

    def _mode(self):
        return "front-end emulator" if self.settings.frontend else "one slurmd a node"

    def _claim(self):
        """The directory is ours from mkdir on.

        Slurm makes sockets such as DIR/spool/n0001/n0001_12345.4294967291; a socket's path has at most 107 characters.
        """
        if len(str(self.dir)) > 60:
            raise Failure(f"the directory's name is too long for sockets inside it (60 at most): {self.dir}")
        if not re.fullmatch("[A-Za-z0-9_./+-]+", str(self.dir)):
            raise Failure(f"the directory's name has characters that slurm.conf cannot take: {self.dir}")
        if self.dir.exists():
            self._remove_old()
        try:
            self.dir.parent.mkdir(parents=True, exist_ok=True)
            self.dir.mkdir()
        except OSError as error:
            raise Failure(f"cannot make {self.dir}: {error.strerror}") from None
        (self.dir / "minicluster").write_text(f"made by contribs/minicluster; 'down --dir {self.dir}' removes it\n")
        (self.dir / "pids").mkdir()

    def _remove_old(self):
        """Only if a cluster was here, and nothing of it runs any more."""
        if not self._is_ours():
            raise Failure(f"{self.dir} exists and is not a cluster's directory")
        if any(daemon.pid() for daemon in self.daemons()):
            raise Failure(f"a cluster is up in {self.dir}; 'down' ends it")
        end_job_processes(self.conf)
        shutil.rmtree(self.dir)

    def _make_folders(self):
        settings = self.settings
        spools = [] if settings.frontend else [f"spool/{name}" for name in settings.slurmds]
        for name in ("dev", "log", "munge", "plugins", "run", "spool", "state", *spools):
            (self.dir / name).mkdir()
        for name in ("log", "state"):
            shutil.chown(self.dir / name, settings.slurm_user)
        for number in range(8):
            (self.dir / f"dev/gpu{number}").symlink_to("/dev/null")

    def _find_programs(self):
        settings = self.settings
        settings.slurm_plugins, settings.library_path = link_slurm(self.dir, settings)
        # The emulator is built without a slurmdbd; Debian's is of the same version.
        settings.slurmdbd_plugins = settings.slurm_plugins
        if settings.accounting and settings.frontend:
            settings.slurmdbd_plugins = debian_plugins()
        settings.tools = []
        if not settings.stock:
            settings.plugins = find_plugins(settings.plugins) if settings.plugins else find_plugins(
                os.environ.get("ELASTIC_PLUGIN_DIR"), HERE.parent / "build/src/plugins/.libs",
                HERE.parent / "src/plugins/.libs", settings.slurm_plugins)
            self._copy_plugins()
            tools = os.path.realpath(os.environ.get("ELASTIC_TOOL_DIR") or f"{settings.plugins}/../../..")
            settings.tools = [tools] * os.path.exists(f"{tools}/selastic")
        if settings.auth == "slurm" and not os.path.exists(f"{settings.slurm_plugins}/auth_slurm.so"):
            raise Failure(f"--auth slurm: no auth_slurm.so in {settings.slurm_plugins}: take a newer Slurm"
                          " (--slurm 24.11), built where libjwt-dev is")

    def _copy_plugins(self):
        """Our plugins where all users can read them; made anew when the controller is started again."""
        folder = self.dir / self.settings.upgraded / "plugins"
        for name in OUR_PLUGINS:
            sanitized = self.settings.sanitized if name in CONTROLLER_PLUGINS else ""
            shutil.copy(f"{sanitized or self.settings.plugins}/{name}", folder / ".new")
            (folder / ".new").rename(folder / name)

    def _choose_ports(self, held):
        settings = self.settings
        ports = [held.enter_context(holder).getsockname()[1] for holder in reserve_ports(3 + len(settings.slurmds))]
        settings.controller_port, settings.elastic_port, settings.accounting_port, settings.slurmd_port = ports[:4]

    def _write_configuration(self):
        settings = self.settings
        files = {"slurm.conf": with_lines(slurm_conf_lines(settings), settings.conf_line), "plugstack.conf": ""}
        if not settings.stock:
            front_end = " front_end" if settings.frontend else ""
            files["plugstack.conf"] = f"optional @DIR@/plugins/spank_elastic.so records=@DIR@/initialised{front_end}\n"
            files["elastic.conf"] = with_lines([f"ListenPort={settings.elastic_port}"], settings.elastic_line)
        if not os.path.ismount("/sys/fs/cgroup"):  # slurmd looks for one, and ends, but here nothing uses it
            files["cgroup.conf"] = "CgroupPlugin=cgroup/v1\n"
        if settings.accounting:
            files["slurmdbd.conf"] = SLURMDBD_CONF.format(**vars(settings)) + AUTHENTICATION[settings.auth][2]
        for name, line in settings.file_line:
            files[name] = files.get(name, "") + line + "\n"
        for name, text in files.items():
            (self.dir / name).write_text(text.replace("@DIR@", str(self.dir)))
        if settings.auth == "slurm":
            (self.dir / "slurm.key").write_bytes(os.urandom(128))
        for name in ("slurmdbd.conf", "slurm.key"):  # Slurm wants them to be readable by its user alone
            with contextlib.suppress(FileNotFoundError):
                (self.dir / name).chmod(0o600)
                shutil.chown(self.dir / name, settings.slurm_user)
        settings.commands = self._daemon_commands()
        self._write_settings()
        (self.dir / "env.sh").write_text(self._shell())

    def _write_settings(self):
        (self.dir / "settings").write_text(json.dumps(vars(self.settings)))

    def _daemon_commands(self):
        """What starts each of Slurm's daemons."""
        settings, conf, sbin = self.settings, str(self.conf), self.dir / "sbin"
        slurmd = [f"{sbin}/slurmd", "-D", "-f", conf, "-d", f"{sbin}/slurmstepd", "-N"]
        commands = {name: [*slurmd, name] for name in settings.slurmds}
        if settings.private_tmp:
            commands = {name: self._with_private_tmp(name, command) for name, command in commands.items()}
        if settings.auth == "slurm":
            commands["sackd"] = [f"{sbin}/sackd" if settings.slurm else program("sackd", "sackd"), "-D", "-f", conf]
        commands["slurmctld"] = [f"{sbin}/slurmctld", "-D", "-f", conf]
        if settings.private_tmp:  # to it, an srun is where its host's name says
            commands["slurmctld"] = in_namespaces("", [self._hosts_mount()], commands["slurmctld"])
        if settings.controllers == 2:
            commands |= {name: self._on_own_host(name, commands["slurmctld"]) for name in CONTROLLERS}
        if settings.accounting:
            own = ["env", "-u", "LD_LIBRARY_PATH", program("slurmdbd", "slurmdbd")]
            commands["slurmdbd"] = [*([f"{sbin}/slurmdbd"] if settings.slurm else own), "-D"]
        return {name: self.placed(command, "login" if name == "sackd" else name) for name, command in commands.items()}

    def _on_own_host(self, name, command):
        """A controller that has its own host name, and its own folder for the file with its process id."""
        run = self.dir / f"run.{name}"
        run.mkdir(exist_ok=True)
        return in_namespaces(CONTROLLERS[name], [("--bind", run, self.dir / "run")],
                             [*command, "-L", str(self.dir / f"log/{name}.log")])

    def _with_private_tmp(self, name, command):
        """A slurmd that sees of the host's /tmp this cluster's directory alone, and what is to be shared.

        Its programs find the other nodes by name, as on a real cluster.
        """
        tmp = self.dir / "tmp" / name
        mounts = [("-t", "tmpfs", "tmpfs", "/dev/shm"), self._hosts_mount()]
        tmp.mkdir(parents=True, exist_ok=True)
        tmp.chmod(0o1777)
        for folder in map(os.path.realpath, [self.dir, *self.settings.share]):
            if folder.startswith("/tmp/"):
                place = tmp / os.path.relpath(folder, "/tmp")
                place.mkdir(parents=True, exist_ok=True)
                mounts.append(("--rbind", folder, place))
        return in_namespaces(name, [*mounts, ("--rbind", tmp, "/tmp")], command)

    def _hosts_mount(self):
        hosts = self.dir / "hosts"
        names = ["localhost", socket.gethostname(), *node_names(self.settings)]
        hosts.write_text(f"127.0.0.1 {' '.join(names)}\n")
        return "--bind", hosts, "/etc/hosts"

    # -- starting

    def _start(self, name, *more):
        """One of Slurm's daemons; afterwards it answers, but for slurmd and sackd, which are not waited for."""
        env = self.environment() | {"MYSQL_UNIX_PORT": str(self.dir / "db/socket")}
        if name in CONTROLLERS and self.settings.sanitized:
            env |= sanitizer_environment(self.settings.sanitized)
        self.daemon(name).start([*self.settings.commands[name], *more], env, self.dir / f"log/{name}.out")
        if name in CONTROLLERS:  # a backup of 24.11 takes half a minute to give up
            self._await(60, lambda: self._controller_answers(name), f"{name} answers", self.daemon(name))
        elif name == "slurmdbd":
            self._await(30, self._accounting_answers, "slurmdbd answers", self.daemon(name))

    def _start_everything(self):
        if self.settings.auth == "munge":
            self._start_munged()
        else:
            self._start("sackd")
        if self.settings.accounting:
            self._start_mariadbd()
            self._start("slurmdbd")
            self._add_associations()
        for name in [*list(CONTROLLERS)[:self.settings.controllers], *self.settings.slurmds]:
            self._start(name)
        self._await(30 + self.settings.nodes // 10, self._nodes_idle, "nodes are idle", *self.daemons())

    def _start_munged(self):
        """--force: it would refuse a directory below one that others own; who may write there can take over the
        cluster, and is whoever chose --dir."""
        munge, munged = self.dir / "munge", self.daemon("munged")
        (munge / "key").touch(0o600)
        (munge / "key").write_bytes(os.urandom(128))
        munged.start([program("munged", "munge"), "--foreground", "--force", f"--socket={munge}/socket",
                      f"--key-file={munge}/key", f"--seed-file={munge}/seed",
                      f"--pid-file={self.dir}/run/munged.pid", f"--log-file={self.dir}/log/munged.log"],
                     self.environment(), self.dir / "log/munged.out")
        self._await(20, self._munge_answers, "munged answers", munged)

    def _start_mariadbd(self):
        """The database goes with the cluster: what a crash of the host would lose is not worth waiting for the disk.

        A folder for temporary tables of its own, since each mariadbd that starts removes all there are in /tmp.
        """
        database, mariadbd = self.dir / "db", self.daemon("mariadbd")
        (database / "tmp").mkdir(mode=0o700, parents=True)
        database.chmod(0o700)
        shutil.chown(database, self.settings.slurm_user)
        options = ["--no-defaults", f"--datadir={database}/data", f"--tmpdir={database}/tmp", f"--user={user_name()}"]
        install = [program("mariadb-install-db", "mariadb-server"), *options, "--skip-test-db",
                   "--auth-root-authentication-method=normal"]
        with open(self.dir / "log/mariadb-install-db.log", "wb") as log:
            if subprocess.run(install, stdin=subprocess.DEVNULL, stdout=log, stderr=log, check=False).returncode:
                raise Failure("cannot make a database")
        mariadbd.start([program("mariadbd", "mariadb-server"), *options, f"--socket={database}/socket",
                        f"--pid-file={self.dir}/run/mariadbd.pid", "--skip-networking", "--skip-grant-tables",
                        "--innodb-flush-log-at-trx-commit=0", "--innodb-fast-shutdown=2",
                        "--loose-innodb-snapshot-isolation=OFF"],  # which slurmdbd does not get on with
                       self.environment(), self.dir / "log/mariadbd.out")
        self._await(30, self._database_answers, "mariadbd answers", mariadbd)
        # A slurmdbd that makes it itself does not get over having found none, with MariaDB 11.8's library.
        if not self._administers_database("create", "slurm_acct_db"):
            raise Failure("cannot make a database")

    def _add_associations(self):
        """root has one in every cluster."""
        additions = ["cluster minicluster"]
        if user_name() != "root":
            additions += ["account users", f"user {user_name()} account=users"]
        for addition in additions:
            if self._output_of("sacctmgr", "--immediate", "add", *addition.split()) is None:
                raise Failure(f"cannot add to the accounting database: {addition}")

    def _give_up(self, keep):
        """Whatever ends `up` early comes through here; keep the logs, if there are any."""
        keep = keep and any((self.dir / "log").glob("*"))
        if keep:
            self._show_logs()
        self._end_everything()
        if keep:
            say(f"everything is ended; the logs are in {self.dir}/log")
        else:
            shutil.rmtree(self.dir)

    def _show_logs(self):
        """Of slurmctld and of up to three daemons that ended by themselves."""
        names = [daemon.name for daemon in self.daemons() if daemon.name != "slurmctld" and not daemon.pid()][:3]
        for name in [name for name in ["slurmctld", *names] if (self.dir / "pids" / name).exists()]:
            logs = [self.dir / f"log/{name}{suffix}" for suffix in (".log", ".out")]
            log = next((log for log in logs if log.exists() and log.stat().st_size), logs[-1])
            print(f"--- the end of {log}", *log.read_text(errors="replace").splitlines()[-20:], sep="\n",
                  file=sys.stderr)

    # -- ending

    def _end_everything(self):
        """Those that others talk to go last."""
        last = ("slurmdbd", "mariadbd", "munged", "sackd")
        end_daemons([daemon for daemon in self.daemons() if daemon.name not in last])
        end_job_processes(self.conf)
        for name in last:
            end_daemons([self.daemon(name)])
        for daemon in self.daemons():
            daemon.record.unlink()

    def down(self, keep=False):
        """End it and remove its directory."""
        if not self._is_ours():
            return say(f"no cluster in {self.dir}")
        self._end_everything()
        if not keep:
            shutil.rmtree(self.dir)

    # -- the other commands

    def variables(self):
        """Shell commands that set its environment, for anybody."""
        if not (self.dir / "env.sh").is_file():
            raise Failure(f"no cluster in {self.dir} (--dir names another, 'up' starts one)")
        return (self.dir / "env.sh").read_text()

    def enter(self):
        """Become a shell in its environment."""
        self._load()
        command = self.placed([os.environ.get("SHELL") or "/bin/sh"])
        os.execvpe(command[0], command, self.environment())

    def status(self):
        """Print what there is; whether all of it runs."""
        self._load()
        settings, daemons = self.settings, self.daemons()
        ended = [daemon.name for daemon in daemons if not daemon.pid()]
        print(f"directory   {self.dir}\n"
              f"mode        {self._mode()}, select/{settings.select}, {settings.nodes} nodes of {settings.cpus}"
              f" processors\n"
              f"scheduler   {re.search('^SchedulerType=(.*)$', self.conf.read_text(), re.M).group(1)}\n"
              f"ports       slurmctld {settings.controller_port}, elastic {settings.elastic_port},"
              f" slurmd from {settings.slurmd_port}")
        if settings.accounting:
            print(f"accounting  slurmdbd {settings.accounting_port}, database {self.dir}/db")
        print(f"daemons     {len(daemons) - len(ended)} running{', not running: ' * bool(ended)}{' '.join(ended)}")
        if not self._controller_answers():
            print("controller  does not answer")
            return False
        nodes = (self._output_of("sinfo", "--noheader", "--format=%D %t") or "").splitlines()
        states = (self._output_of("squeue", "--noheader", "--format=%T") or "").split()
        print(f"nodes       {', '.join(nodes)}\n"
              f"jobs        {states.count('RUNNING')} running, {states.count('PENDING')} pending")
        return not ended

    def kill(self, name):
        """SIGKILL a daemon; afterwards it is gone."""
        self._load()
        if not self.daemon(name).pid():
            raise Failure(f"no {name} runs in {self.dir}")
        end_daemons([self.daemon(name)], [signal.SIGKILL])

    def start(self, name, booted=False):
        """Start one of Slurm's daemons again; afterwards it answers, but for slurmd and sackd."""
        self._load()
        if name not in self.settings.commands:
            raise Failure(f"there is no '{name}' in {self.dir}")
        if self.daemon(name).pid():
            raise Failure(f"{name} runs already in {self.dir}")
        if name in CONTROLLERS and not self.settings.stock:
            self._copy_plugins()
        try:
            self._start(name, *["-b"] * booted)
        except Failure:
            self._show_logs()
            raise

    def restart(self, name):
        """End a daemon orderly, if it runs, and start it again."""
        end_daemons([self.daemon(name)])
        self.start(name)

    def upgrade(self, slurm, plugins):
        """What is started from now on is of this Slurm, with our plugins for it; what runs stays as it is.

        As on hosts of which some have been upgraded each finds its own Slurm at the same place: daemons of the new one,
        and the jobs that they start, see it mounted over the old one.
        """
        self._load()
        settings = self.settings
        if not settings.slurm or settings.stock or settings.upgraded or not can_unshare():
            raise Failure("an upgrade is for root, and once for a cluster of --slurm with our plugins")
        settings.upgraded, settings.plugins = "upgraded", find_plugins(plugins)
        home = self.dir / settings.upgraded
        (home / "plugins").mkdir(parents=True)
        link_built_slurm(home, built_slurm(settings.frontend, slurm))
        self._copy_plugins()
        mounts = [("--bind", home / name, self.dir / name) for name in ("slurm", "plugins")]
        settings.commands = {name: in_namespaces("", mounts, command) for name, command in settings.commands.items()}
        self._write_settings()


# ---- the command

COMMANDS = """\
commands:
  up                     start a cluster
  down [--keep]          end it and remove its directory (--keep: leave that)
  status                 what runs; fails unless all of it does
  env                    shell commands that make sbatch, squeue, selastic talk to it:
                         eval "$(contribs/minicluster env)"
  shell                  a shell with that environment; with --auth slurm the one way
  kill-controller        SIGKILL slurmctld and wait until it is gone
  start-controller       start it again and wait until it answers
  restart-controller     end it orderly, then start it
                         (all three: 'slurmctld2' after it means the backup)
  kill-node NAME         SIGKILL that node's slurmd ("frontend" with --frontend)
  start-node NAME        start it again; returns at once (--booted: as after a boot of the
                         machine, which power saving waits for)
  kill-accounting        SIGKILL slurmdbd
  start-accounting       start it again and wait until it answers

environment:
  SLURM_FRONTEND         prefix of a front-end build to use instead of slurm-source's
  ELASTIC_PLUGIN_DIR     see --plugins
  ELASTIC_SLURM          see --slurm
  ELASTIC_TOOL_DIR       folder of selastic (default: that of the plugins' build)
"""


def key_value(text):
    if not re.match("[A-Za-z]+=", text):
        raise argparse.ArgumentTypeError(f"not Key=Value: '{text}'")
    return text


def number_up_to(limit):
    def number(text):
        if not text.isdecimal() or not 1 <= int(text) <= limit:
            raise argparse.ArgumentTypeError(f"must be a number from 1 to {limit}, not '{text}'")
        return int(text)
    return number


def parse(arguments):
    """The command line, a default for what it lacks."""
    directory = os.environ.get("MINICLUSTER_DIR") or f"{os.environ.get('TMPDIR') or '/tmp'}/minicluster-{user_name()}"
    parser = argparse.ArgumentParser(
        prog="contribs/minicluster", usage="%(prog)s COMMAND [--dir DIR] [option...]", epilog=COMMANDS,
        allow_abbrev=False,
        formatter_class=lambda prog: argparse.RawDescriptionHelpFormatter(prog, max_help_position=25, width=100))
    add = parser.add_argument
    add("command", metavar="COMMAND", choices=re.findall("^  ([a-z-]+)", COMMANDS, re.M), help="see below")
    add("daemon", nargs="?", metavar="NAME", help="see below")
    add("--dir", default=directory, help="the cluster's directory (default: $MINICLUSTER_DIR, else"
        " ${TMPDIR:-/tmp}/minicluster-USER); one directory, one cluster")
    add("--keep", action="store_true", help="see below")
    add("--booted", action="store_true", help="see below")
    add = parser.add_argument_group("options of up").add_argument
    add("--nodes", default=16, type=number_up_to(99999), metavar="N",
        help="number of nodes (default 16); names n1..n9, n01..n16, n001..n128, ...")
    add("--cpus", default=4, type=number_up_to(9999), metavar="K", help="processors of a node (default 4)")
    add("--frontend", action="store_true", help="front-end emulator instead of one slurmd a node")
    add("--slurm", default=os.environ.get("ELASTIC_SLURM", ""), metavar="VERSION|TREE", help="another Slurm than the"
        " one that is installed, such as 24.11, or a folder with its source; contribs/slurm-source builds it, once"
        " (default: $ELASTIC_SLURM)")
    add("--accounting", action="store_true", help="with slurmdbd, limits enforced; whoever starts the cluster has an"
        " association, for others: sacctmgr add user (with --frontend not of another --slurm)")
    add("--auth", default="munge", choices=("munge", "slurm"), metavar="TYPE", help="munge or slurm (default munge);"
        " slurm: no MUNGE, but Slurm's own auth/slurm, which 22.05 lacks (as root); commands find such a cluster in"
        " 'contribs/minicluster shell' alone")
    add("--controllers", default=1, type=int, choices=(1, 2), metavar="N",
        help="2: with a backup slurmctld, which takes over (as root)")
    add("--private-tmp", action="store_true", help="each slurmd has a host name, /tmp and /dev/shm of its own, as MPI"
        " needs it (as root, else a note; not with --frontend)")
    add("--share", default=[], action="append", metavar="DIR",
        help="a folder below /tmp that nodes see all the same (repeatable)")
    add("--select", default="cons_tres", type=lambda text: text.removeprefix("select/"),
        choices=("linear", "cons_tres"), metavar="TYPE", help="linear or cons_tres (default cons_tres)")
    add("--stock", action="store_true", help="no plugins of ours: sched/backfill, for comparison")
    add("--sanitized", default="", metavar="DIR", help="what slurmctld loads is in this folder, built with"
        " -fsanitize=address; what that finds is in log/slurmctld.out")
    add("--plugins", default="", metavar="DIR", help="where our plugins are (default: $ELASTIC_PLUGIN_DIR, else the"
        " clone's build, else beside Slurm's own)")
    add("--node-line", default=[], action="append", metavar="LINE", help="other parameters of some nodes, such as"
        " 'n[1-4] CPUs=8 Gres=gpu:2' or 'ALL RealMemory=4000' (repeatable)")
    add("--conf-line", default=[], action="append", type=key_value, metavar="K=V",
        help="a line of slurm.conf, replaces one of the same key, or of the same partition (repeatable)")
    add("--elastic-line", default=[], action="append", type=key_value, metavar="K=V", help="the same for elastic.conf")
    add("--file-line", default=[], action="append", nargs=2, metavar=("FILE", "LINE"),
        help="a line of another file, such as gres.conf 'Name=gpu File=@DIR@/dev/gpu[0-3]' (repeatable); @DIR@ in a"
        " line is the directory, dev/gpu0 to dev/gpu7 in it stand for devices")
    add("--slurm-user", default=user_name(), metavar="NAME", help="as root: run slurmctld as this user (default root)")
    return parser.parse_intermixed_args(arguments)


def checked(settings):
    """The settings, if they go together and here."""
    def refuse_if(wrong, text):
        if wrong:
            raise Failure(text)

    refuse_if(settings.accounting and settings.frontend and settings.slurm,
              "--accounting is not for --frontend with --slurm: the emulator is built without a slurmdbd")
    refuse_if(settings.private_tmp and settings.frontend, "--private-tmp is not for --frontend")
    refuse_if(settings.slurm_user not in [user.pw_name for user in pwd.getpwall()],
              f"--slurm-user: there is no user '{settings.slurm_user}'")
    refuse_if(settings.slurm_user != user_name() and os.getuid() != 0, "--slurm-user is for root only")
    refuse_if(settings.auth == "slurm" and not can_unshare(), "--auth slurm is for root, where 'unshare --mount --uts'"
              " works: each daemon has a /run of its own")
    refuse_if(settings.controllers == 2 and not can_unshare(),
              "--controllers 2 is for root, where 'unshare --mount --uts' works: each has a host name of its own")
    for name, _ in settings.file_line:
        refuse_if(not re.fullmatch(r"\w+\.(conf|lua)", name), f"--file-line: not a file beside slurm.conf: '{name}'")
    if settings.private_tmp and not can_unshare():
        say("note: nodes share /tmp, /dev/shm and host name: only root, by 'unshare', can give them their own")
        settings.private_tmp = False
    settings.slurmds = ["frontend"] if settings.frontend else node_names(settings)
    settings.upgraded = ""
    return settings


def run(arguments):
    """The command; its exit status."""
    given = parse(arguments)
    cluster = Cluster(given.dir)
    verb, _, kind = given.command.partition("-")
    name = {"controller": given.daemon or "slurmctld", "accounting": "slurmdbd"}.get(kind, given.daemon or "")
    actions = {
        "up": lambda: cluster.up(*arguments[1:]),
        "down": lambda: cluster.down(given.keep),
        "env": lambda: print(cluster.variables(), end=""),
        "shell": cluster.enter,
        "status": lambda: not cluster.status(),
        "kill": lambda: cluster.kill(name),
        "start": lambda: cluster.start(name, given.booted),
        "restart": lambda: cluster.restart(name),
    }
    return int(actions[verb]() or 0)


class Interrupted(KeyboardInterrupt):
    """Somebody wants us to end; its number is the exit status."""


def interrupt(number, _):
    raise Interrupted(130 if number == signal.SIGINT else 143)


def main():
    os.umask(0o022)
    for number in INTERRUPTIONS:
        if signal.getsignal(number) != signal.SIG_IGN:
            signal.signal(number, interrupt)
    try:
        return run(sys.argv[1:])
    except Failure as failure:
        say(f"error: {failure}")
        return 1
    except Interrupted as interrupted:
        say("interrupted; everything is ended")
        return interrupted.args[0]
