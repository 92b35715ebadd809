# SPDX-License-Identifier: MIT
"""The page of selastic serve in a real browser: of a real cluster, and of 10,000 nodes that are made up."""

import contextlib
import http.server
import json
import threading

import pytest
from elastic_live import CLONE, wait_until
from watching import need

pytest.importorskip("selenium.webdriver", reason="no python3-selenium: contribs/install-deps --watch")

from browser import Browser  # noqa: E402
from selenium.webdriver.common.by import By  # noqa: E402
from selenium.webdriver.common.keys import Keys  # noqa: E402

TILES = {"nodes in use": "in-use", "idle": "idle", "not usable": "lost", "jobs that run": "running",
         "jobs that wait": "waiting", "resizes in flight": "in-flight", "resizes in this chart": "resizes"}


class Page(Browser):
    """Chromium with the page of selastic serve open."""

    def text(self, name):
        return self.run(f"return document.getElementById('{name}').textContent")

    def wait_text(self, name, text):
        wait_until(lambda: self.text(name) == text, lambda: f"{name} is {text}, not {self.text(name)}", within=60)

    def colours(self, scheme=None):
        """The number of colours of the chart, and the page's background."""
        if scheme:
            self.media(scheme=scheme)
        return self.run("""restyle(); draw();
            const all = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data, found = new Set();
            for (let i = 0; i < all.length; i += 4) found.add(all[i] << 16 | all[i + 1] << 8 | all[i + 2]);
            return [found.size, getComputedStyle(document.body).backgroundColor]""")

    def complaints(self):
        # What tests do to look at the chart is the tests' own.
        return [line for line in super().complaints() if "getImageData" not in line["message"]]


@pytest.fixture(scope="module")
def chromium():
    need("chromedriver")
    browser = Page()
    yield browser
    browser.driver.quit()


@pytest.fixture
def page(chromium):
    """A browser whose pages have had nothing to complain of."""
    yield chromium
    chromium.driver.get("about:blank")
    assert not chromium.complaints()


@pytest.mark.modes("ms")
def test_it_follows_a_job_that_is_resized(cluster, serve, page):
    page.driver.get(serve().url)
    page.wait_text("status", "live")
    page.wait_text("idle", "8")
    empty, _ = page.colours()
    app = cluster.actor("malleable,min=1,max=6", "-N4", "--job-name=drawn")
    page.wait_text("in-use", "4")
    assert page.colours()[0] > empty
    cells = "#job-rows tr td"
    wait_until(lambda: [cell.text for cell in page.find(cells)][2:3] == ["4 of 1 to 6"], "its size is a bar")
    assert [cell.text for cell in page.find(cells)][:2] == [f"{app.job} drawn (root)", "malleable"]
    assert page.find(cells + " .range b")[0].size["width"] > page.find(cells + " .range")[0].size["width"] / 2
    cluster.run("selastic", "shrink", app.job, 3)
    wait_until(lambda: "offered: to give up n4" in page.text("job-rows"), "the offer is shown")
    app.take_shrink()
    page.wait_text("in-use", "3")
    page.wait_text("resizes", "1")
    wait_until(lambda: "3 of 1 to 6" in page.text("job-rows"), "its new size is shown")
    log = page.text("log")
    assert f"job {app.job} is asked to give up n4 (asked for by" in log
    assert f"job {app.job}: 4 → 3 nodes, gave up n4 (asked for by" in log
    assert page.run("return holder.filter(Boolean).length") == 3
    waits = cluster.sbatch("-N8", "--exclusive", "--job-name=waits", wrap="true")
    wait_until(lambda: f"{waits} waits (root)" in page.text("queue-rows"), "the queue is shown")
    cluster.run("scancel", waits)
    app.exit()
    page.wait_text("running", "0")
    assert page.run("return holder.filter(Boolean).length") == 0


@pytest.mark.modes("ms")
def test_it_says_when_the_controller_is_away(cluster, serve, page):
    page.driver.get(serve().url)
    page.wait_text("status", "live")
    cluster.kill_controller()
    wait_until(lambda: page.text("status").startswith("not live"), "it says so")
    cluster.start_controller()
    page.wait_text("status", "live")


NODES, JOBS = 10_000, 1_000


def made_up():
    """Documents of a cluster in which every job was resized ten times."""
    names = [f"n{number:05}" for number in range(1, NODES + 1)]
    each = NODES // JOBS
    events = [{"time": 1e9, "event": "controller", "what": "start", "nodes": NODES}]
    jobs, nodes = [], []
    for job in range(1, JOBS + 1):
        mine = names[(job - 1) * each:job * each]
        events.append({"age": 290, "event": "start", "job": job, "nodes": ",".join(mine), "count": each})
        for turn in range(10):
            kind, held = ("shrink", (each, each - 1)) if turn % 2 == 0 else ("expand", (each - 1, each))
            events.append({"age": 280 - 20 * turn, "event": "resize", "job": job, "kind": kind, "from": held[0],
                           "to": held[1], "nodes": mine[-1], "reason": "a pending job needs the nodes"})
        jobs.append({"job": job, "user": "u", "name": f"job{job}", "class": "malleable", "state": "RUNNING",
                     "nodes": each, "min": 1, "pref": 5, "max": 40, "node_list": ",".join(mine), "connected": True,
                     "resizes": 10, "last_reason": "x"})
        nodes += [{"name": name, "state": "in use", "jobs": [job]} for name in mine]
    return events, {"version": 1, "policy": "elastic", "left_out": 0, "jobs": jobs}, {"version": 1, "nodes": nodes}


@contextlib.contextmanager
def made_up_server():
    """The page with documents that are made up; its address."""
    events, jobs, nodes = made_up()
    whole = (CLONE / "src/tools/selastic-serve/page.html").read_bytes()
    state = {"version": 1, "up": True, "trouble": "", "jobs": "1", "nodes": "1", "journal": "1"}

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            import time
            path, now = self.path.partition("?")[0], time.time()
            told = [{**event, "time": now - event["age"]} if "age" in event else event for event in events]
            body = {"/": lambda: whole,
                    "/api/events": lambda: f"event: state\ndata: {json.dumps(state)}\n\n".encode(),
                    "/api/jobs.json": lambda: json.dumps(jobs).encode(),
                    "/api/nodes.json": lambda: json.dumps(nodes).encode(),
                    "/api/journal.json": lambda: json.dumps({"version": 1, "next": "1", "more": False, "gap": False,
                                                             "events": told}).encode(),
                    "/favicon.ico": lambda: b""}[path]()
            self.send_response(200)
            self.send_header("Content-Type", {"/": "text/html", "/api/events": "text/event-stream"}.get(
                path, "application/json"))
            self.send_header("Content-Length", str(len(body) + (path == "/api/events")))  # it stays open
            self.end_headers()
            self.wfile.write(body)
            if path == "/api/events":
                done.wait()

        def log_message(self, *_):
            pass

    done = threading.Event()
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_address[1]}/"
    done.set()
    server.shutdown()


@pytest.fixture(scope="module")
def large(chromium):
    with made_up_server() as url:
        chromium.driver.get(url)
        chromium.wait_text("running", str(JOBS))
        chromium.wait_text("in-use", str(NODES))
        yield chromium


# The next frame begins when the one before is on the screen; in each, all rows of the table change.
FRAMES = """const done = arguments[arguments.length - 1], script = [], whole = [];
    let begun = 0;
    const next = () => {
      const now = performance.now();
      if (begun) whole.push(now - begun);
      if (whole.length === 20) return done([script, whole]);
      begun = now;
      for (const job of known.jobs.jobs) job.last_reason = `reason ${whole.length}`;
      showTables();
      draw();
      script.push(performance.now() - now);
      requestAnimationFrame(next);
    };
    requestAnimationFrame(next);"""


def test_ten_thousand_nodes(large):
    assert large.text("resizes") == str(JOBS * 10)
    assert len(large.find("#job-rows tr")) == JOBS
    assert "share a line of pixels" in large.text("hint")
    script, whole = map(sorted, large.driver.execute_async_script(FRAMES))
    print(f"milliseconds of a frame in which all jobs change: script {script}, in all {whole}")
    assert script[0] < 50 and whole[0] < 50, (script, whole)


def test_rows_that_are_not_seen_cost_nothing(large):
    seen = large.run("""return [...document.querySelectorAll("#job-rows tr")].map(
        (row) => row.cells[0].checkVisibility({ contentVisibilityAuto: true }))""")
    assert seen[0] and not any(seen[-JOBS // 2:])


def test_a_line_of_pixels_is_that_of_a_node(large):
    """Of the one in its middle, whose job it has the colours of."""
    assert large.run("""draw();
        const lines = picture.image.height, columns = picture.image.width, wrong = [];
        for (let line = 0; line < lines; ++line) {
          const { job } = holder[Math.floor(((line + 0.5) / lines) * rows.length)];
          if (!tileOf(job).includes(picture.pixels[line * columns + columns - 3])) wrong.push([line, job]);
        }
        return wrong""") == []
    assert large.run("return chart.drawn") >= large.run("return picture.image.height")


def test_keys_move_it(large):
    chart = large.find("#gantt")[0]
    seconds = large.run("return chart.seconds")
    chart.send_keys("+")
    assert large.run("return chart.seconds") == seconds / 2
    chart.send_keys("-")
    chart.send_keys(Keys.PAGE_UP)
    assert large.run("return chart.shown") == NODES / 2
    chart.send_keys(Keys.ARROW_DOWN)
    assert large.run("return chart.top") > 0
    chart.send_keys(Keys.ARROW_LEFT)
    assert large.run("return chart.end") is not None
    chart.send_keys(Keys.END)
    assert large.run("return chart.end") is None
    chart.send_keys(" ")
    assert large.find("#pause")[0].get_attribute("aria-pressed") == "true"
    stands = large.run("return chart.end")
    chart.send_keys(" ")
    assert stands is not None and large.run("return chart.end") is None


def test_it_is_read_without_eyes(large):
    """Everything has a name, the chart has a table in its place, and no heading is left out."""
    chart = large.find("#gantt")[0]
    assert chart.get_attribute("role") == "img" and f"{NODES} nodes" in chart.get_attribute("aria-label")
    large.find("#as-table")[0].send_keys(Keys.ENTER)
    assert not chart.is_displayed() and large.find("#node-table")[0].is_displayed()
    rows = large.find("#nodes tr")
    assert len(rows) == JOBS and [cell.text for cell in rows[0].find_elements(By.TAG_NAME, "td")] == [
        "n[00001-00010]", "10", "in use", "1"]
    large.find("#as-table")[0].send_keys(Keys.ENTER)
    assert chart.is_displayed()
    unnamed = large.run("""return [...document.querySelectorAll("button, input, select, [role=region], canvas")].filter(
        (one) => !(one.getAttribute("aria-label") || one.textContent.trim() || (one.labels && one.labels.length)))
        .map((one) => one.outerHTML)""")
    assert not unnamed
    assert large.run("return document.documentElement.lang") == "en"
    assert len(large.find("th:not([scope])")) == 0 and len(large.find("h1")) == 1
    assert [tile.text for tile in large.find(".tiles dt")] == list(TILES)


def test_dark_and_light(large):
    light, dark = large.colours("light")[1], large.colours("dark")[1]
    assert sum(map(int, light[4:-1].split(","))) > 600 > 200 > sum(map(int, dark[4:-1].split(",")))
    large.colours("light")


def test_jobs_differ_without_colour(large):
    """Neighbours have other patterns, and what fits has its number beside."""
    assert large.run("""restyle();
        const shape = (tile) => [...tile].map((pixel) => pixel === tile[9]).join();
        return new Set([4, 5, 6, 7].map((job) => shape(tileOf(job)))).size""") == 4


def test_lists_of_nodes(large):
    for given, wanted in [("n[1-3,07-08],m", ["n1", "n2", "n3", "n07", "n08", "m"]), ("", []),
                          ("r[1-2]n[1-2]", ["r1n1", "r1n2", "r2n1", "r2n2"]), ("n[9-11]", ["n9", "n10", "n11"])]:
        assert large.run(f"return expand('{given}')") == wanted
    assert large.run("return compress(['n08', 'n09', 'n10', 'm', 'n12'])") == "n[08-10],m,n12"
