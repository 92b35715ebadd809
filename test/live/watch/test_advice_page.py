# SPDX-License-Identifier: MIT
"""The page of selastic-sim advise in a real browser: on a phone, on a desk, on paper; finished or interrupted."""

import pathlib
import re
import signal
import subprocess

import pytest
from elastic_live import CLONE, wait_until
from watching import need

pytest.importorskip("selenium.webdriver", reason="no python3-selenium: contribs/install-deps --watch")

from browser import Browser  # noqa: E402

PHONE, DESK, PAPER = (360, 740), (1280, 800), (718, 1020)  # the last is A4 at 96 dots an inch, less margins of 1 cm


@pytest.fixture(scope="module")
def sim(request):
    return pathlib.Path(request.config.getoption("--build")).resolve() / "selastic-sim"


@pytest.fixture(scope="module")
def chromium():
    need("chromedriver")
    browser = Browser()
    yield browser
    browser.driver.quit()


def waiting_log(sim, folder):
    """A log whose jobs waited quite otherwise than in a simulation."""
    text = subprocess.run([sim, "generate", "lublin", "--jobs", "300", "--procs", "64", "--load", "0.9", "--seed", "2"],
                          check=True, capture_output=True, text=True).stdout
    log = folder / "waits.swf"
    log.write_text(re.sub(r"(?m)^( *\d+ +[\d.]+ +)-1", r"\g<1>7200", text), encoding="ascii")
    return log


def interrupted(sim, folder):
    """What there is after an interrupt behind the first page."""
    log, page = folder / "long.swf", folder / "interrupted.html"
    with log.open("w", encoding="ascii") as file:
        subprocess.run([sim, "generate", "lublin", "--jobs", "60000", "--load", "0.8"], check=True, stdout=file)
    with subprocess.Popen([sim, "advise", log, "--sample", "1000", "--html", page], stdout=subprocess.DEVNULL,
                          stderr=subprocess.DEVNULL) as process:
        wait_until(page.exists, "there is a first page", within=300)
        process.send_signal(signal.SIGINT)
        assert process.wait(60) == -signal.SIGINT
    assert "</html>" in page.read_text(encoding="ascii")
    assert list(folder.glob("interrupted.html*")) == [page]
    return page


@pytest.fixture(scope="module", params=["advised", "not advised", "interrupted"])
def page(request, sim, chromium, tmp_path_factory):
    """A browser that has the page open, with all that is folded open, too."""
    folder = tmp_path_factory.mktemp("advice")
    path = folder / "advice.html"
    if request.param == "interrupted":
        path = interrupted(sim, folder)
    else:
        log = [CLONE / "test/data/site.sacct", "--nodes", "64"] if request.param == "advised" else [
            waiting_log(sim, folder)]
        subprocess.run([sim, "advise", *log, "--html", path], check=True, capture_output=True)
    chromium.kind = request.param
    chromium.driver.get(path.as_uri())
    yield chromium
    assert not chromium.complaints()
    chromium.driver.get("about:blank")


def unfold(page, is_open=True):
    page.run(f"document.querySelectorAll('details').forEach((one) => one.open = {str(is_open).lower()})")


def too_wide(page):
    """What goes beyond the right edge and cannot be scrolled by itself."""
    return page.run("""const width = document.documentElement.clientWidth;
        return [...document.querySelectorAll("body *")].filter((one) => one.getBoundingClientRect().right > width + 1 &&
            (getComputedStyle(document.querySelector("div.table")).overflowX != "auto" || !one.closest("div.table")))
            .map((one) => one.outerHTML.slice(0, 80)).concat(
                document.documentElement.scrollWidth > width ? ["the page"] : [])""")


@pytest.mark.parametrize("media, size", [("screen", PHONE), ("screen", DESK), ("print", PAPER)])
def test_nothing_is_cut_off(page, media, size):
    page.media(media)
    page.size(*size)
    for is_open in (False, True):
        unfold(page, is_open)
        assert not too_wide(page)
    small = page.run("""return Math.min(...[...document.querySelectorAll("svg text")].map(
        (one) => one.getBoundingClientRect().height))""")
    assert small >= 10, "texts of pictures can be read"


def test_no_figure_is_missing(page):
    page.media("screen")
    page.size(*DESK)
    unfold(page)
    text = page.run("return document.body.textContent")
    assert not re.search(r"\b(nan|inf|infinity|undefined|null)\b", text, re.IGNORECASE), text
    assert len(page.find("svg")) == 5
    broken = page.run("""return [...document.querySelectorAll("svg *")].filter((one) =>
        [...one.attributes].some((of) => /nan|inf/i.test(of.value))).map((one) => one.outerHTML)""")
    assert not broken
    for drawn in page.run("""return [...document.querySelectorAll("svg")].map(
            (one) => one.querySelectorAll("circle, rect, path[fill=none]").length)"""):
        assert drawn > 0
    empty = page.run("""return [...document.querySelectorAll("table")].flatMap((table) => {
        const names = [...table.rows[0].cells].map((cell) => cell.textContent);
        return [...table.rows].slice(1).flatMap((row) => [...row.cells].map((cell, at) => [names[at], cell.textContent])
            .filter(([name, text]) => text == "" && name != "verdict" && name != "run with"));
    })""")
    assert not [name for name, _ in empty if name not in ("ratio", "rank_correlation")]
    shares = page.run("""return [...document.querySelectorAll("table")].filter(
        (one) => one.rows[0].cells[0].textContent == "share_%").flatMap(
            (one) => [...one.rows].slice(1).map((row) => row.cells[0].textContent))""")
    assert {"50"} <= set(shares)
    assert page.kind == "interrupted" or {"5", "10", "20", "100"} <= set(shares)


def test_the_answer_is_seen_first(page):
    page.media("screen")
    unfold(page, False)
    title = "No advice" if page.kind == "not advised" else "Recommended: "
    assert page.find("h2")[0].text.startswith(title)
    assert ("Not finished: " in page.run("return document.body.textContent")) == (page.kind == "interrupted")
    if page.kind == "not advised":
        return
    first = page.run("return document.querySelector('.first').textContent")
    assert "The longest delay of a single job in any run: " in first and "Trust: " in first
    bottom = {}
    for size in (PHONE, DESK):
        page.size(*size)
        bottom[size] = page.run("""const bottom = (one) => one.getBoundingClientRect().bottom + scrollY;
            return [[...document.querySelectorAll(".first p")].map(bottom).at(-1),
                    bottom(document.querySelector(".first svg"))]""")
    assert max(bottom[DESK]) < DESK[1], bottom
    assert bottom[PHONE][0] < PHONE[1] and bottom[PHONE][1] < 1.7 * PHONE[1], bottom


def test_a_policy_has_one_colour(page):
    colours = {}
    for name, colour in page.run("""return [...document.querySelectorAll(".legend > span")].map(
            (one) => [one.textContent, getComputedStyle(one.firstChild).backgroundColor])"""):
        colours.setdefault(name, set()).add(colour)
    assert len(colours) >= 4 and all(len(of) == 1 for of in colours.values())
    assert len(set().union(*colours.values())) == len(colours)


def test_dark_light_and_paper(page):
    def paper_and_ink():
        return [sum(map(int, re.findall(r"\d+", page.run(
            f"return getComputedStyle(document.body).{of}"))[:3])) for of in ("backgroundColor", "color")]
    page.media("screen", "light")
    paper, ink = paper_and_ink()
    assert paper > 600 > 200 > ink
    page.media("screen", "dark")
    paper, ink = paper_and_ink()
    assert ink > 600 > 200 > paper
    page.media("print", "dark")
    paper, ink = paper_and_ink()
    assert paper > 600 > 200 > ink
    page.media("screen")
