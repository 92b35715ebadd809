# SPDX-License-Identifier: MIT
"""selastic serve as a test's own, and what a test asks of it."""

import contextlib
import http.client
import json
import os
import shutil
import signal
import subprocess
import urllib.parse

import pytest
from elastic_live import wait_until


def need(*programs):
    """Skip without these, but not where they have to be there, as in CI."""
    for program in programs:
        if shutil.which(program):
            continue
        assert not os.environ.get("CI"), f"there is no {program}"
        pytest.skip(f"there is no {program}: contribs/install-deps --watch")


class Answer:
    """Of the server: .status, .headers, .text."""

    def __init__(self, response):
        self.status, self.headers = response.status, response.headers
        self.text = response.read().decode()

    @property
    def json(self):
        return json.loads(self.text)


class Served:
    """A selastic serve that listens."""

    def __init__(self, cluster, *options, where=("--listen", "127.0.0.1:0")):
        command = [cluster.tools / "selastic", "serve", "--interval", "0.3", *where, *options]
        user = ["setpriv", "--reuid=daemon", "--regid=daemon", "--clear-groups"] if os.getuid() == 0 else []
        self.process = subprocess.Popen([*user, *map(str, command)], env=cluster.env, stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE, text=True)
        self.url = self.process.stdout.readline().strip()
        assert self.url, self.process.stderr.read()
        parts = urllib.parse.urlsplit(self.url)
        self.host, self.port = parts.hostname, parts.port

    def get(self, path, method="GET", **headers):
        connection = http.client.HTTPConnection(self.host, self.port, timeout=20)
        with contextlib.closing(connection):
            headers = {name.replace("_", "-"): value for name, value in headers.items()}
            connection.request(method, path, headers=headers)
            return Answer(connection.getresponse())

    def wait(self, path, condition, what):
        """Until the document there is as it should be; the document."""
        def there():
            answer = self.get(path)
            return answer.json if answer.status == 200 and condition(answer.json) else None
        return wait_until(there, what)

    def metrics(self):
        """Value by name with its labels, such as 'slurm_elastic_nodes{state="idle"}'."""
        lines = [line for line in self.get("/metrics").text.splitlines() if not line.startswith("#")]
        return {line.rpartition(" ")[0]: float(line.rpartition(" ")[2]) for line in lines}

    def wait_metric(self, name, condition, what):
        return wait_until(lambda: condition(self.metrics().get(name)), lambda: f"{what}; {self.metrics()}")

    @property
    def memory(self):
        """That is not shared with others, in kB."""
        with open(f"/proc/{self.process.pid}/status", encoding="ascii") as status:
            return int(next(line for line in status if line.startswith("RssAnon")).split()[1])

    def stop(self):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        code = self.process.wait(20)
        said = self.process.stderr.read()
        assert (code, said) in ((0, ""), (-signal.SIGKILL, "")), (code, said)
