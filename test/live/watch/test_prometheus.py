# SPDX-License-Identifier: MIT
"""A real Prometheus scrapes selastic serve; all that the dashboard asks has an answer, and the alerts fire in time."""

import contextlib
import json
import shutil
import socket
import subprocess
import urllib.error
import urllib.parse
import urllib.request

import pytest
from elastic_live import CLONE, HERE, wait_until
from watching import need

GRAFANA = CLONE / "contribs/grafana"
DASHBOARD = json.loads((GRAFANA / "slurm-elastic.json").read_text())


class Prometheus:
    """Scrapes one server each second."""

    def __init__(self, served, folder):
        with contextlib.closing(socket.socket()) as probe:
            probe.bind(("127.0.0.1", 0))
            self.url = f"http://127.0.0.1:{probe.getsockname()[1]}"
        shutil.copy(GRAFANA / "slurm-elastic.rules.yml", folder)
        (folder / "prometheus.yml").write_text(json.dumps({
            "global": {"scrape_interval": "1s", "evaluation_interval": "1s"},
            "rule_files": ["slurm-elastic.rules.yml"],
            "scrape_configs": [{"job_name": "slurm-elastic",
                                "static_configs": [{"targets": [f"{served.host}:{served.port}"]}]}]}))
        with open(folder / "log", "w", encoding="ascii") as self.log:
            self.process = subprocess.Popen(
                ["prometheus", f"--config.file={folder}/prometheus.yml", f"--storage.tsdb.path={folder}/data",
                 f"--web.listen-address={self.url[7:]}"], stdout=self.log, stderr=self.log)
        self.log_path = folder / "log"

    def api(self, path, **parameters):
        """The data of an answer, None while there is none."""
        try:
            with urllib.request.urlopen(f"{self.url}/api/v1/{path}?{urllib.parse.urlencode(parameters)}") as answer:
                return json.load(answer)["data"]
        except urllib.error.HTTPError as error:
            raise AssertionError(f"{path} {parameters}: {error.read().decode()}") from error
        except OSError:
            return None

    def query(self, text):
        return (self.api("query", query=text) or {"result": []})["result"]


@pytest.fixture
def prometheus(cluster, serve, tmp_path):
    need("prometheus", "promtool")
    running = Prometheus(serve(), tmp_path)
    yield running
    running.process.terminate()
    running.process.wait(30)


def filled_in(query):
    """As Grafana sends it."""
    return query.replace("$__rate_interval", "15s").replace("$instance", ".*")


@pytest.mark.modes("ms")
def test_a_prometheus_scrapes_it(cluster, prometheus):
    app = cluster.actor("malleable,min=1,max=4", "-N4")
    cluster.run("selastic", "shrink", app.job, 3)
    app.take_shrink()
    cluster.sbatch("-N8", wrap="true")

    def scraped():
        found = (prometheus.api("targets") or {"activeTargets": []})["activeTargets"]
        return found if found and found[0]["health"] != "unknown" else None
    targets = wait_until(scraped, "it scrapes", within=60)
    assert (targets[0]["health"], targets[0]["lastError"]) == ("up", "")
    wait_until(lambda: prometheus.query('sum(increase(slurm_elastic_resizes_total{event="applied"}[1m])) >= 0'),
               "resizes are known")
    wait_until(lambda: prometheus.query("count_over_time(slurm_elastic_up[1m]) >= 50"), "a minute of scrapes",
               within=120)
    queries = [filled_in(target["expr"]) for panel in DASHBOARD["panels"] for target in panel["targets"]]
    answered = [query for query in queries if prometheus.query(query)]
    assert not [query for query in queries if query not in answered], "these have no answer"
    rules = prometheus.api("rules")["groups"][0]["rules"]
    assert [(rule["health"], rule["state"]) for rule in rules] == [("ok", "inactive")] * 3, rules
    assert not [line for line in prometheus.log_path.read_text().splitlines() if "level=error" in line]


def test_the_dashboard_is_whole():
    """What Grafana's schema asks of a dashboard that is imported, and that panels do not lie on each other."""
    assert {"title", "uid", "schemaVersion", "templating", "time", "panels"} <= DASHBOARD.keys()
    assert {"datasource", "instance"} == {variable["name"] for variable in DASHBOARD["templating"]["list"]}
    taken, numbers = set(), set()
    for panel in DASHBOARD["panels"]:
        assert panel["type"] in ("stat", "timeseries") and panel["title"] and panel["targets"]
        assert panel["datasource"] == {"type": "prometheus", "uid": "${datasource}"}
        place = panel["gridPos"]
        cells = {(x, y) for x in range(place["x"], place["x"] + place["w"])
                 for y in range(place["y"], place["y"] + place["h"])}
        assert not cells & taken and place["x"] + place["w"] <= 24, panel["title"]
        taken |= cells
        numbers.add(panel["id"])
    assert len(numbers) == len(DASHBOARD["panels"])


def test_alerts(tmp_path):
    need("promtool")
    for source in (GRAFANA / "slurm-elastic.rules.yml", HERE / "watch/alerts.test.yml"):
        shutil.copy(source, tmp_path)
    for arguments in (["check", "rules", "slurm-elastic.rules.yml"], ["test", "rules", "alerts.test.yml"]):
        done = subprocess.run(["promtool", *arguments], cwd=tmp_path, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
