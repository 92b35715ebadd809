# SPDX-License-Identifier: MIT
"""doc/malleable-programs.md does what it says: its files are written and its commands run as a reader would, section by
section, and print what it shows.

A fenced block whose info string names a file is that file; one of `console` has commands and what they print. Only
times, the node that is given up, the steps at which a resize came, and offers that came too early may be others.
"""

import difflib
import functools
import importlib.util
import re
import shutil
import subprocess
import sys

import pytest
from elastic_live import CLONE, wait_until

PAGE = CLONE / "doc/malleable-programs.md"
PATIENCE = 240  # seconds: programs of half a minute
PAGES_JOB = "41"
# What selastic-run says of offers for a program that is not ready: the page has them repeated.
DECLINED = re.compile(r"^selastic-run: .* declined\b.* (has|had) not opened libelastic-mpi.*\n", re.M)


@functools.cache
def sections():
    """{title: its fenced blocks [(info string, lines)...]}, without those of the introduction."""
    found, info, blocks = {}, None, []
    for line in PAGE.read_text().splitlines():
        if line.startswith("```"):
            info = None if info is not None else line[3:]
            if info is not None:
                blocks.append((info, []))
        elif info is not None:
            blocks[-1][1].append(line)
        elif line.startswith("## "):
            blocks = found.setdefault(line[3:], [])
    assert info is None, f"{PAGE}: a block has no end"
    return found


def without_chance(line):
    """It without what differs from run to run: seconds, which node leaves, and where a resize came; the first world
    begins with step 0."""
    for pattern, stands in ((r"\d+\.\d+ s\b", "T s"), (r"\bgive up n\d\b", "give up N"),
                            (r"\bstep [1-9]\d*", "step N")):
        line = re.sub(pattern, stands, line)
    return line


class Reader:
    """Does what a section says in a folder of its own."""

    def __init__(self, cluster, title, env):
        self.cluster, self.env = cluster, env
        self.folder = cluster.new_folder("tutorial")
        self.blocks, self.job, self.resizes = sections()[title], None, 0
        self.printed, self.expected = [], []

    def read(self, resizes=2):
        for info, lines in self.blocks:
            if info == "console":
                self._do(lines)
            else:
                (self.folder / info.split()[1]).write_text("\n".join(lines) + "\n")
        difference = "\n".join(difflib.unified_diff(self.expected, self.printed, "shown", "printed", lineterm=""))
        assert not difference, f"{difference}\n\n{self.output()}"
        assert self.resizes == resizes, "where are the resizes?"

    def _do(self, lines):
        assert lines[0].startswith("$ "), lines
        for line in lines:
            self.expected.append(without_chance(line))
            if line.startswith("$ "):
                self.printed.append(line)
                self.printed += map(without_chance, self._run(line[2:]).splitlines())

    def _run(self, command):
        """What it prints, as if the job had the number that it has in the page."""
        if f"slurm-{PAGES_JOB}" in command:
            state = self.cluster.wait_state(self.job, "COMPLETED", "FAILED", within=PATIENCE)
            assert state == "COMPLETED", self.output()
        resizes = command.startswith(("selastic shrink", "selastic expand"))
        command = re.sub(rf"\b{PAGES_JOB}\b", str(self.job), command)
        done = self._resize(command) if resizes else self._command(command)
        if command.startswith("sbatch "):
            self.job = int(done.split()[-1])
        return re.sub(rf"(?<=job ){self.job}\b", PAGES_JOB, DECLINED.sub("", done))

    def _command(self, command):
        done = self._try(command)
        assert done.code == 0 or (command.startswith("diff ") and done.code == 1), done
        return done.out

    def _try(self, command):
        return self.cluster.run("bash", "-c", command, cwd=self.folder, env=self.env, check=False, within=PATIENCE)

    def _resize(self, command):
        """Repeats it as the page says: until the program takes the offer, which it declines before it has begun."""
        self.resizes += 1
        said = re.compile(rf"^selastic-run: resize {self.resizes}: \d -> {command.split()[-1]} nodes", re.M)
        while not said.search(self.output()):
            declined = len(self.cluster.journal(self.job, "decline"))
            done = wait_until(lambda: self._offer(command), f"job {self.job} can be resized", PATIENCE)
            wait_until(lambda: said.search(self.output())
                       or len(self.cluster.journal(self.job, "decline")) > declined
                       or self.cluster.state(self.job) != "RUNNING",
                       lambda: f"something comes of {done}\n{self.output()}", PATIENCE)
        return done.out

    def _offer(self, command):
        done = self._try(command)
        assert self.cluster.state(self.job) in ("PENDING", "RUNNING"), f"it ends unresized: {done}\n{self.output()}"
        return done if done.code == 0 else None

    def output(self):
        path = self.folder / f"slurm-{self.job}.out"
        return path.read_text() if path.exists() else ""


@pytest.fixture
def python(cluster):
    """The environment of a reader whose python3 is the tests' own."""
    path = cluster.new_folder("bin")
    (path / "python3").symlink_to(sys.executable)
    return {"PATH": f"{path}:{cluster.env['PATH']}"}


def open_mpi(cluster):
    library = cluster.build / ".libs/libelastic-mpi-openmpi.so.0"
    if not library.exists():
        pytest.skip("libelastic-mpi is not built for Open MPI: contribs/install-deps --applications, configure")
    if not (cluster.tools / library.name).exists():
        shutil.copy(library, cluster.tools)
    return library


@pytest.fixture
def installed(cluster):
    """What `make install` leaves of libelastic-mpi, as pkg-config finds it."""
    library, root = open_mpi(cluster), cluster.new_folder("installed")
    for header in ("elastic_mpi.h", "elastic_mpi.hpp"):
        shutil.copy(CLONE / "src/runtime" / header, root)
    shutil.copy(library, root)
    (root / "libelastic-mpi-openmpi.so").symlink_to(library.name)
    described = (cluster.build / "src/runtime/libelastic-mpi-openmpi.pc").read_text()
    (root / "libelastic-mpi-openmpi.pc").write_text(
        re.sub("^(libdir|includedir)=.*$", rf"\1={root}", described, flags=re.M))
    return {"PKG_CONFIG_PATH": str(root)}


def test_all_sections_are_tested():
    tested = [title for title, blocks in sections().items() if blocks]
    assert [title.split(".")[0] for title in tested] == ["1", "2", "3", "4", "5", "6"], tested


def title(number):
    return next(found for found in sections() if found.startswith(f"{number}. "))


def test_a_program_with_a_restart_file(cluster, python):
    Reader(cluster, title(1), python).read()


def test_python(cluster, python):
    for module in ("mpi4py", "numpy"):
        if not importlib.util.find_spec(module):
            pytest.skip(f"there is no python3-{module}: contribs/install-deps --applications")
    vendor = subprocess.run([sys.executable, "-c", "from mpi4py import rc; rc.initialize = False\n"
                             "from mpi4py import MPI; print(MPI.get_vendor()[0])"],
                            capture_output=True, text=True, check=True).stdout.strip()
    if vendor != "Open MPI":
        pytest.skip(f"mpi4py is that of {vendor}, and the page is for Open MPI's")
    open_mpi(cluster)
    reader = Reader(cluster, title(2), {**python, "PYTHONPATH": str(cluster.tools)})
    for program in ("heat.py", "elastic_heat.py"):
        shutil.copy(CLONE / "contribs/examples" / program, reader.folder)
    reader.read()


def test_a_bag_of_tasks(cluster, python):
    read_with(cluster, python, 4, "elastic_pool.py")


def test_dask(cluster, python):
    if not importlib.util.find_spec("distributed"):
        pytest.skip("there is no python3-distributed: contribs/install-deps --applications")
    read_with(cluster, python, 5, "elastic_dask.py", resizes=0)


def test_torch(cluster, python):
    if not importlib.util.find_spec("torch"):
        pytest.skip("there is no python3-torch: contribs/install-deps --applications")
    read_with(cluster, python, 6, "elastic_train.py")


def read_with(cluster, python, number, *programs, resizes=2):
    """A section whose programs are examples, for the package as it is installed."""
    reader = Reader(cluster, title(number), {**python, "PYTHONPATH": str(cluster.tools)})
    for program in programs:
        shutil.copy(CLONE / "contribs/examples" / program, reader.folder)
    reader.read(resizes)


def test_cpp(cluster, installed):
    if not shutil.which("mpicxx.openmpi"):
        pytest.skip("there is no mpicxx of Open MPI: contribs/install-deps --applications")
    path = cluster.new_folder("bin")
    (path / "mpicxx").symlink_to(shutil.which("mpicxx.openmpi"))
    Reader(cluster, title(3), {**installed, "PATH": f"{path}:{cluster.env['PATH']}"}).read()
