# SPDX-License-Identifier: MIT
"""selastic top in a terminal, which is tmux's."""

import json
import os
import re
import shutil
import signal

import pytest
from elastic_live import wait_until

pytestmark = pytest.mark.skipif(not shutil.which("tmux"), reason="no tmux (contribs/install-deps --test)")


class Terminal:
    """A window of a tmux of its own, in which `selastic top` runs and a shell is told how it ended."""

    def __init__(self, cluster, *arguments, width=80, height=24):
        self.cluster = cluster
        self.socket = cluster.new_folder("tmux") / "socket"
        command = " ".join(["selastic", "top", *arguments])
        self.tmux("-f", "/dev/null", "new-session", "-d", "-x", width, "-y", height,
                  f"trap : INT; {command}; echo ended $?; stty -a; exec cat")

    def tmux(self, *arguments, check=True):
        return self.cluster.run("tmux", "-S", self.socket, *arguments, check=check)

    def screen(self):
        return self.tmux("capture-pane", "-p").out

    def keys(self, *keys):
        self.tmux("send-keys", *keys)

    def wait(self, pattern):
        """Until the screen has this; the screen."""
        wait_until(lambda: re.search(pattern, self.screen(), re.M), f"the screen has {pattern}")
        return self.screen()

    def wait_restored(self, code):
        """Until the program has ended with this code and the terminal is a shell's again."""
        screen = self.wait(rf"^ended {code}$")
        self.wait(r"(?<!-)icanon\b")
        self.wait(r"(?<!-)echo\b")
        assert "selastic top" not in screen
        assert self.tmux("display", "-p", "#{alternate_on}#{cursor_flag}").out == "01\n"

    def process(self):
        """The process that has the screen."""
        shell = self.tmux("display", "-p", "#{pane_pid}").out.strip()
        keeper = self.cluster.run("pgrep", "-P", shell, "-x", "selastic").out.strip()
        return int(self.cluster.run("pgrep", "-P", keeper).out)

    def close(self):
        self.tmux("kill-server", check=False)


@pytest.fixture
def top(cluster):
    opened = []

    def start(*arguments, **size):
        opened.append(Terminal(cluster, *arguments, **size))
        return opened[-1]

    yield start
    for terminal in opened:
        terminal.close()


def row(job, nodes):
    return rf"^{job} +\S+ +\S+ +{nodes} "


def test_a_resize_is_seen(cluster, top):
    app = cluster.actor("malleable,min=1,max=6", "-N3", "--job-name=seen")
    waits = cluster.sbatch("-N8", "--job-name=late", wrap="true")
    terminal = top()
    terminal.wait(row(app.job, 3) + r" +1-6 =+#+\.*$")
    assert all(len(line) <= 80 for line in terminal.screen().splitlines())
    terminal.wait(r"^selastic top  \d\d:\d\d:\d\d  8 nodes, 5 idle, policy easy$")
    terminal.wait(rf"^{waits} .*\d\d:\d\d:\d\d +PENDING")
    cluster.run("selastic", "shrink", app.job, 2)
    terminal.wait(rf"^{app.job} .*-1 offered$")
    terminal.wait(rf"^job {app.job}: to give up 1 node, offered, \d+ s left \(asked for by ")
    app.take_shrink()
    terminal.wait(row(app.job, 2))
    terminal.wait(rf"job {app.job}: 3 -> 2 nodes")
    cluster.run("scancel", waits)
    terminal.wait("no job waits")
    terminal.keys("q")
    terminal.wait_restored(0)


def test_keys_and_the_size_of_the_window(cluster, top):
    jobs = [cluster.sbatch("-N1", f"--job-name={name}", wrap="sleep 300") for name in ("bb", "aa")]
    for job in jobs:
        cluster.wait_state(job, "RUNNING")
    terminal = top("--sort", "name")
    both = r"(?s){} .*^{} .*ASKED"
    terminal.wait(both.format(*reversed(jobs)))
    terminal.keys("r")
    terminal.wait(both.format(*jobs))
    terminal.keys("/", "q", "a", "BSpace", "BSpace", "a", "a", "Enter")
    screen = terminal.wait(r"filter: aa")
    assert re.search(rf"^{jobs[1]} ", screen, re.M) and not re.search(rf"^{jobs[0]} ", screen, re.M)
    terminal.keys("Escape")
    terminal.wait(rf"^{jobs[0]} ")
    terminal.tmux("resize-window", "-x", 130, "-y", 12)
    wait_until(lambda: any(len(line) > 80 for line in terminal.screen().splitlines()), "it uses the width")
    assert re.search("q quit", terminal.screen().splitlines()[11])
    terminal.tmux("resize-window", "-x", 20, "-y", 3)
    terminal.wait(r"^selastic top  \d\d:\d\d")
    terminal.tmux("resize-window", "-x", 80, "-y", 24)
    terminal.wait("q quit")
    terminal.keys("C-c")
    terminal.wait(r"^ended 130$")


def test_a_controller_that_is_away_is_waited_for(cluster, top):
    app = cluster.actor("malleable,min=1,max=6", "-N2")
    terminal = top()
    terminal.wait(row(app.job, 2))
    cluster.run("scontrol", "shutdown", "slurmctld")
    terminal.wait(r"^no answer from the controller for \d+ s \(.*\); below is its last$")
    terminal.wait(row(app.job, 2))
    cluster.start_controller()
    wait_until(lambda: "no answer" not in terminal.screen(), "it goes on")
    cluster.wait_connected(app.job)
    cluster.run("selastic", "expand", app.job, 4)
    app.take_expand()
    terminal.wait(row(app.job, 4))
    terminal.keys("q")
    terminal.wait_restored(0)


def test_the_terminal_is_put_back_whatever_ends_it(top):
    for number, code in [(signal.SIGTERM, 143), (signal.SIGKILL, 2), (signal.SIGSEGV, 2)]:
        terminal = top()
        terminal.wait("^selastic top")
        os.kill(terminal.process(), number)
        terminal.wait_restored(code)
        if code == 2:
            terminal.wait(rf"^selastic: error: ended by signal {int(number)} ")


def test_once_prints_text_and_json(cluster):
    app = cluster.actor("malleable,min=1,max=6", "-N3", "--job-name=once")
    text = cluster.run("selastic", "top", "--once").out
    assert re.search(row(app.job, 3), text, re.M) and "\x1b" not in text
    assert all(len(line) <= 80 for line in text.splitlines())
    read = json.loads(cluster.run("selastic", "top", "--json").out)
    assert [job["nodes"] for job in read["cluster"]["jobs"] if job["job"] == app.job] == [3]
    assert {"event": "start", "job": app.job, "count": 3}.items() <= read["events"][-1].items()
    none = cluster.run("selastic", "top", check=False)
    assert (none.code, none.err) == (
        2, "selastic: error: standard input and output are no terminal; --once prints text\n")
    terminal = Terminal(cluster)
    try:
        terminal.tmux("respawn-pane", "-k", "TERM=no-such selastic top; echo ended $?; exec cat")
        terminal.wait("the terminal 'no-such' is not known")
        terminal.wait("^ended 2$")
    finally:
        terminal.close()
