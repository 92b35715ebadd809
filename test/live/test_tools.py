# SPDX-License-Identifier: MIT
"""selastic for users and operators: what it shows, what it steers, and for whom."""

import json
import os
import re
import shutil
import subprocess
import sys
import time

import pytest
from elastic_live import SLURM_VERSION, wait_until


def entry(cluster, job, **more):
    listed = cluster.selastic("jobs", **more)["jobs"]
    return next(item for item in listed if item["job"] == job)


def test_jobs(cluster):
    app = cluster.actor("malleable,min=1,max=6", "-N2", "--job-name=shown")
    shown = entry(cluster, app.job)
    assert (shown["class"], shown["state"], shown["nodes"]) == ("malleable", "RUNNING", 2)
    assert (shown["min"], shown["pref"], shown["max"]) == (1, 2, 6)
    assert shown["connected"] is True
    assert cluster.expand(shown["node_list"]) == cluster.nodes_of(app.job)
    line = next(line for line in cluster.run("selastic", "jobs").out.splitlines()
                if line.split()[:1] == [str(app.job)])
    assert "1/2/6" in line and "malleable" in line
    cluster.run("selastic", "shrink", app.job, 1)
    agreement = entry(cluster, app.job)["agreement"]
    assert (agreement["kind"], agreement["state"], agreement["nodes"]) == ("shrink", "offered", 1)


def test_show_and_journal(cluster):
    app = cluster.actor("malleable,min=1,max=6", "-N3")
    cluster.run("selastic", "shrink", app.job, 2)
    app.take_shrink()
    shown = cluster.selastic("show", app.job)["job"]
    kinds = ["submit", "start", "offer", "accept", "release", "resize"]
    assert [event["event"] for event in shown["history"]] == kinds
    assert shown["annotation"]["max"] == 6
    lines = cluster.run("selastic", "journal", "--job", app.job, "--json").out.splitlines()
    assert [json.loads(line)["event"] for line in lines] == kinds
    assert f"{app.job}" in cluster.run("selastic", "show", app.job).out
    tail = cluster.run("selastic", "journal", "--job", app.job, "--tail", 1).out
    assert len(tail.splitlines()) == 1 and "3 -> 2 nodes" in tail


def test_python_says_what_it_sees_and_takes_nothing_over(cluster):
    app = cluster.actor("malleable,min=1,max=6", "-N3")
    cluster.run("selastic", "shrink", app.job, 2)

    def seen(*arguments, job=app.job):
        return cluster.run(sys.executable, "-B", "-m", "elastic", *arguments,
                           env={"PYTHONPATH": str(cluster.tools), "SLURM_JOB_ID": str(job)}, check=False)
    shown = json.loads(seen("--json").out)
    assert (shown["job"], shown["nodes"], shown["min"], shown["max"]) == (app.job, 3, 1, 6)
    assert shown["elastic"] and shown["reachable"] and shown["connected"]
    assert (shown["asked"]["kind"], shown["asked"]["count"], shown["asked"]["answer"]) == ("shrink", 1, "")
    app.take_shrink()
    assert re.search(r"the controller asked it to give up 1 node\(s\) \(asked for by \S+\): resize\n", seen().out)
    unknown = seen(job=99999)
    assert unknown.code == 1 and "answers: job 99999 is not known" in unknown.out


def test_what_cannot_be_is_refused(cluster):
    app = cluster.actor("malleable,min=2,max=6,sizes=step:2", "-N4")
    rigid = cluster.sbatch("-N1", wrap="sleep 60")
    cluster.wait_state(rigid, "RUNNING")
    for arguments, words in [
            (("shrink", app.job, 1), ["min=2"]), (("shrink", app.job, 3), ["sizes"]),
            (("shrink", app.job, 4), ["not fewer"]), (("expand", app.job, 8), ["max=6"]),
            (("expand", app.job, 5), ["sizes"]), (("expand", app.job, 3), ["not more"]),
            (("shrink", rigid, 1), ["not malleable"]), (("shrink", 999999, 1), ["not running"])]:
        result = cluster.run("selastic", *arguments, check=False)
        assert result.code == 1, str(result)
        assert all(word in result.err for word in words), str(result)
    app.no_event()


def test_check_takes_whatever_size_a_rigid_job_has(cluster):
    most = 0 if SLURM_VERSION < (26, 5) else 8  # that -n says
    for arguments, held, most in [(("-n8",), 2, most), (("-N2-4", "-pshared"), None, 4)]:
        job = cluster.sbatch(*arguments, wrap="sleep 60")
        cluster.wait_state(job, "RUNNING")
        start = cluster.wait_journal(job, "start")
        assert held in (None, start["count"])
        assert cluster.journal(job, "submit")[0]["max"] == most
    changed = cluster.sbatch("-N1", "-n3", "--hold", wrap="sleep 60")
    cluster.wait_journal(changed, "submit", max=1)
    cluster.run("scontrol", "update", f"JobId={changed}", "NumNodes=3-3")
    cluster.run("scontrol", "release", changed)
    cluster.wait_journal(changed, "start", count=3)
    cluster.check_journal()


def test_elements_of_arrays_are_named_as_users_know_them(cluster):
    array = cluster.sbatch("-N2", "--elastic=malleable,min=1,max=4", "--array=1-3%2", wrap="sleep 60")
    first, second = f"{array}_1", f"{array}_2"
    wait_until(lambda: cluster.state(first) == cluster.state(second) == "RUNNING", "two run")
    listed = cluster.run("selastic", "jobs").out
    assert re.search(rf"^{first} ", listed, re.M) and re.search(rf"^{second} ", listed, re.M)
    for element in (first, second):
        text = cluster.run("selastic", "show", element).out
        assert f"job          {element}\n" in text and f"job {element}: starts on 2 nodes" in text
        assert cluster.selastic("show", element)["job"]["array"] == element
        events = cluster.run("selastic", "journal", "--job", element).out
        assert f"job {element}: starts" in events
        assert cluster.run("selastic", "journal", "--job", element, "--file",
                           cluster.journal_path()).out == events
        result = cluster.run("selastic", "shrink", element, 1, check=False)
        assert result.code == 1 and f"job {element} has not connected" in result.err
    for arguments in [("show", f"{array}_7"), ("shrink", f"{array}_7", 1),
                      ("journal", "--job", f"{array}_7")]:
        result = cluster.run("selastic", *arguments, check=False)
        assert result.code == 1 and f"{array}_7" in result.err, str(result)


@pytest.mark.parametrize("arguments, error", [
    (("show", "1_x"), "JOB: '1_x' is no job: 12 is one, and 12_3 is the element 3 of the array 12"),
    (("shrink", "1.5", "2"), "JOB: '1.5' is no job"),
    (("shrink", "1", "0"), "N: '0' is no whole number from 1 to 1000000"),
    (("expand", "1", "many"), "N: 'many' is no whole number from 1 to 1000000"),
    (("journal", "--job", "-3"), "--job: '-3' is no job"),
    (("wait", "--timeout", "-1"), "--timeout: '-1' is no number from 0 to 100000000"),
    (("accept", "x"), "OP: 'x' is no whole number from 1 to"),
])
def test_errors_about_numbers_can_be_read(cluster, arguments, error):
    result = cluster.run("selastic", *arguments, check=False)
    assert result.code == 2 and error in result.err, str(result)


def test_one_agreement_at_a_time(cluster):
    app = cluster.actor("malleable,min=1,max=6", "-N4")
    cluster.run("selastic", "shrink", app.job, 2)
    result = cluster.run("selastic", "expand", app.job, 6, check=False)
    assert result.code == 1 and "in flight" in result.err


def test_permissions(cluster, stranger):
    mine = cluster.actor("malleable,min=1,max=4", "-N2")
    for arguments in [("shrink", mine.job, 1), ("expand", mine.job, 3),
                      ("evacuate", cluster.nodes_of(mine.job)[0])]:
        result = cluster.run("selastic", *arguments, user=stranger, check=False)
        assert result.code == 1, str(result)
        assert "not yours" in result.err or "operator" in result.err, str(result)
    mine.no_event()
    theirs = cluster.actor("malleable,min=1,max=4", "-N2", user=stranger)
    cluster.run("selastic", "shrink", theirs.job, 1, user=stranger)
    assert theirs.take_shrink()["size"] == 1
    cluster.run("selastic", "expand", theirs.job, 2)  # an operator may
    assert theirs.take_expand()["size"] == 2


def test_private_jobs(cluster, stranger):
    mine = cluster.sbatch("-N1", "--elastic=malleable,min=1,max=4", wrap="sleep 100")
    theirs = cluster.sbatch("-N1", wrap="sleep 100", user=stranger)
    for job in (mine, theirs):
        cluster.wait_state(job, "RUNNING")

    def seen_by(user):
        listed = cluster.selastic("jobs", user=user)["jobs"]
        return {job["job"] for job in listed} & {mine, theirs}

    try:
        cluster.set_slurm(PrivateData="events,jobs")
        wait_until(lambda: seen_by(stranger) == {theirs}, "others see their own jobs only")
        assert seen_by(None) == {mine, theirs}  # an operator
        for arguments in [("show", mine), ("journal",)]:
            result = cluster.run("selastic", *arguments, user=stranger, check=False)
            assert result.code == 1 and result.err, str(result)
        assert cluster.selastic("show", theirs, user=stranger)["job"]["job"] == theirs
    finally:
        cluster.set_slurm(PrivateData="events")
    wait_until(lambda: seen_by(stranger) == {mine, theirs}, "others see all jobs again")


@pytest.fixture
def other_journal(cluster, elastic, tmp_path):
    """other_journal(event...): the controller has a journal with these events and its own next ones."""
    def use(*events):
        tmp_path.chmod(0o755)
        path = tmp_path / "journal"
        path.write_text("".join(json.dumps(event, separators=(",", ":")) + "\n" for event in events))
        elastic(JournalFile=path)
    return use


def cancelled(job, op, text="x"):
    return {"time": 1, "event": "cancel", "job": job, "op": op, "reason": text}


def test_answers_are_of_the_journals_end(cluster, other_journal):
    """Else they would cost the scheduler time."""
    early, late = 4000001, 4000002
    other_journal(cancelled(early, 1), *[cancelled(late, op, "x" * 200) for op in range(2, 20000)])
    assert cluster.run("selastic", "show", early, check=False).code == 1
    assert not cluster.run("selastic", "journal", "--job", early).out
    assert cluster.selastic("show", late)["job"]["history"][-1]["op"] == 19999


def test_answers_that_would_be_too_long(cluster, other_journal):
    """They are cut, and say so."""
    job = 4000003
    other_journal(*[cancelled(job, op, "x" * 900) for op in range(1, 3001)])
    result = cluster.run("selastic", "journal", "--tail", 2500, "--json")
    shown = [json.loads(line)["op"] for line in result.out.splitlines()
             if json.loads(line)["event"] == "cancel"]
    assert 300 < len(shown) < 2000 and shown == list(range(shown[0], 3001))
    assert "too many for an answer" in result.err
    assert 300 < len(cluster.selastic("show", job)["job"]["history"]) < 1000
    short = cluster.run("selastic", "journal", "--tail", 10)
    assert len(short.out.splitlines()) == 10 and not short.err


def test_a_long_name_is_cut_in_lists(cluster):
    job = cluster.sbatch("-N1", "--job-name=" + "n" * 1000, wrap="sleep 60")
    cluster.wait_state(job, "RUNNING")
    assert entry(cluster, job)["name"] == "n" * 64
    assert cluster.selastic("show", job)["job"]["name"] == "n" * 1000


def test_following_the_journal(cluster):
    """Each event once and in order, however many there are when it begins."""
    first = cluster.actor("malleable,min=1,max=6", "-N2")
    with subprocess.Popen(["selastic", "journal", "--follow", "--json", "--tail", "1"],
                          env=cluster.env, stdout=subprocess.PIPE, text=True) as following:
        try:
            assert json.loads(following.stdout.readline())  # it has begun
            cluster.run("selastic", "expand", first.job, 4)
            first.take_expand()
            cluster.run("selastic", "shrink", first.job, 1)
            first.take_shrink()
            seen = []
            while [event["event"] for event in seen].count("resize") < 2:
                seen.append(json.loads(following.stdout.readline()))
        finally:
            following.terminate()
    written = [event for event in cluster.journal(first.job) if event["event"] != "submit"]
    mine = [event for event in seen if event.get("job") == first.job]
    assert mine == [event for event in written if event in mine]
    assert [event["to"] for event in mine if event["event"] == "resize"] == [4, 1]


def processor_time(cluster):
    """Seconds of it that slurmctld has taken."""
    with open(f"/proc/{cluster.controller_pid}/stat") as stat:
        fields = stat.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def test_no_interval_is_no_busy_loop(cluster, elastic):
    elastic(Interval=0)
    cluster.wait_quiet()
    before, begin = processor_time(cluster), time.monotonic()
    time.sleep(3)  # what is measured
    assert processor_time(cluster) - before < (time.monotonic() - begin) / 20


@pytest.fixture
def small_disk(tmp_path):
    """A folder with room for 64 KiB."""
    folder = tmp_path / "small"
    folder.mkdir()
    tmp_path.chmod(0o755)
    done = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "small", str(folder)],
                          capture_output=True, text=True, check=False)
    if done.returncode != 0:
        pytest.skip(f"cannot mount a small disk: {done.stderr.strip()}")
    yield folder
    subprocess.run(["umount", "--lazy", str(folder)], check=True)


def fill(disk):
    """No byte is left."""
    with open(disk / "filler", "wb", buffering=0) as filler:
        for size in (4096, 1):
            try:
                while filler.write(b"x" * size):
                    pass
            except OSError:
                pass


def test_the_journal_of_a_disk_that_was_full(cluster, elastic, expect_errors, small_disk):
    """It says what there is when it can be written again, and is without a violation."""
    expect_errors.append("cannot write to the journal")
    journal = small_disk / "journal"
    before = cluster.actor("malleable,min=1,max=6", "-N2")
    ended = cluster.sbatch("-N1", wrap="sleep 100")
    cluster.wait_state(ended, "RUNNING")
    elastic(JournalFile=journal)
    first = cluster.sbatch("-N1", wrap="sleep 100")
    cluster.wait_state(first, "RUNNING")
    fill(small_disk)
    cluster.run("scancel", ended)
    name, last = "n" * 200, cluster.all_nodes[-1]  # more than the journal's last page holds; others stay idle
    unseen = [cluster.sbatch("-N1", "-w", last, "-J", name, wrap="sleep 100") for _ in range(20)]
    wait_until(lambda: "cannot write to the journal" in cluster.log, "the disk is full")
    cluster.wait_state(unseen[0], "RUNNING")
    (small_disk / "filler").unlink()
    cluster.run("selastic", "expand", before.job, 3)
    before.take_expand()
    cluster.run("scancel", first)
    wait_until(lambda: f'"job":{first},"state":"CANCELLED"' in journal.read_text(), "it is written")
    text = journal.read_text()
    assert text.count('"what":"resume"') >= 2  # it was another one before, and it was full
    checked = cluster.run("selastic", "check", "--running", journal, check=False)
    assert checked.code == 0, checked.out + text
    cluster.end_jobs()  # Slurm's front end does not survive a reconfiguration while batch jobs end


def rotate(cluster, journal, how):
    """What was written so far, in a file of its own."""
    old = journal.with_name(f"{journal.name}.{how}")
    if how == "copytruncate":
        shutil.copy(journal, old)
        os.truncate(journal, 0)
    elif how == "delete":
        shutil.copy(journal, old)
        journal.unlink()
    elif how == "restart":
        cluster.run("scontrol", "shutdown", "slurmctld")
        wait_until(lambda: not cluster.minicluster.daemon("slurmctld").pid(), "slurmctld has ended")
        journal.rename(old)
        cluster.start_controller()
    else:
        journal.rename(old)
        cluster.reconfigure("configuration read")
    return old


@pytest.mark.parametrize("how", ["rename", "copytruncate", "delete", "restart"])
def test_a_rotated_journal_can_be_read_alone(cluster, elastic, how):
    """Agreements in flight, elements of arrays, jobs that wait or are suspended, prices: all is told anew."""
    rotate(cluster, cluster.journal_path(), "rename")  # a chart has room for some jobs only
    spot = cluster.dir / "spot"
    spot.write_text(f"{cluster.all_nodes[0]} price=0.5\n")
    elastic(SupplyFile=spot, SupplyInterval=1)
    wait_until(lambda: cluster.selastic("jobs")["supply"], "the price is in force")
    app = cluster.actor("malleable,min=1,max=4", "-N3")
    array = cluster.sbatch("-N1", "--exclusive", "--array=1-2", wrap="sleep 200")
    cluster.wait_state(f"{array}_2", "RUNNING")
    suspended = cluster.sbatch("-N1", "--exclusive", wrap="sleep 200")
    cluster.wait_journal(suspended, "start")
    cluster.run("scontrol", "suspend", suspended)
    cluster.wait_journal(suspended, "end", state="SUSPENDED")
    waiting = cluster.sbatch(f"-N{cluster.nodes}", "--exclusive", wrap="true")
    cluster.run("selastic", "shrink", app.job, 2)
    offer = app.event("offer_shrink")
    cluster.wait_journal(waiting, "submit")
    old = rotate(cluster, cluster.journal_path(), how)
    if how == "restart":
        cluster.wait_connected(app.job)
    app.do("accept", offer["op"])
    app.event("accepted")
    app.do("done", offer["op"])
    app.event("resized")
    cluster.wait_journal(app.job, "resize")
    cluster.run("scontrol", "resume", suspended)
    cluster.wait_journal(suspended, "start")
    first, *told = cluster.journal()
    if how != "copytruncate":  # what came before the cut was noticed would stand before it
        assert (first["event"], first["what"]) == ("controller", "resume"), (first, told)
    assert {f"{array}_1", f"{array}_2"} <= {event.get("array") for event in cluster.journal(event="start")}, told
    assert [event["price"] for event in cluster.journal(event="supply")][:1] == [0.5]
    for files in [[cluster.journal_path()], [cluster.journal_path(), old]]:
        cluster.run("selastic", "check", "--running", *files)
        hours = json.loads(cluster.run("selastic", "hours", "--json", *files).out)["jobs"]
        assert {str(app.job), f"{array}_1", f"{array}_2"} <= {job["job"] for job in hours}
    drawn = cluster.run("selastic", "gantt", "--ascii", "--width", 200, cluster.journal_path(), old).out
    assert re.search(rf"^\S+ +{app.job} .* 3 -> 2$", drawn, re.M), drawn
    elastic()  # a slurmctld that is executed anew reads the prices once more
    spot.unlink()


def test_a_file_that_is_no_journal_is_left_alone(cluster, elastic, expect_errors, tmp_path):
    """The journal before stays in use."""
    expect_errors.append("holds something other than a journal")
    other = tmp_path / "passwd"
    other.write_text("root:x:0:0:root:/root:/bin/sh\n")
    app = cluster.actor("malleable,min=1,max=6", "-N2")
    elastic(JournalFile=other)
    kinds = [event["event"] for event in cluster.selastic("show", app.job)["job"]["history"]]
    assert kinds == ["submit", "start"]
    assert other.read_text() == "root:x:0:0:root:/root:/bin/sh\n"


def test_sdiag_counts_the_schedulers_cycles(cluster):
    def counter(name):
        found = re.search(name + r":\s*(\d+)", cluster.run("sdiag").out)
        return int(found[1])

    held = [cluster.sbatch("-N1", "--hold", wrap="true")]
    running = cluster.sbatch(f"-N{cluster.nodes}", "--exclusive", wrap="sleep 100")
    cluster.wait_state(running, "RUNNING")
    waiting = [cluster.sbatch("-N1", wrap="sleep 60") for _ in range(3)]
    before = counter("Total cycles")
    wait_until(lambda: counter("Total cycles") > before, "cycles are counted")
    wait_until(lambda: counter("Last queue length") == len(waiting), "the queue is counted")
    assert counter("Max cycle") >= counter("Last cycle") > 0
    cluster.run("scancel", running, *waiting, *held)


@pytest.mark.starts_itself("they are backfill's own cycles, see test_slurms_loops.py")
def test_sdiag_counts_passes_as_cycles_of_backfill(cluster):
    def shown():
        section = cluster.run("sdiag").out.split("Backfilling stats")[1]
        return {name.strip(): int(value) for name, value in re.findall(r"^\t([^:]+): +(\d+)$", section, re.M)}

    jobs = "Total backfilled jobs (since last slurm start)"
    before = shown()
    running = cluster.sbatch(f"-N{cluster.nodes - 2}", "--exclusive", "--time=5", wrap="sleep 600")
    cluster.wait_state(running, "RUNNING")
    assert shown()[jobs] == before[jobs]
    large = cluster.sbatch(f"-N{cluster.nodes}", "--exclusive", "--time=1", wrap="true")
    small = cluster.sbatch("-N1", "--exclusive", "--time=1", wrap="sleep 600")
    cluster.wait_state(small, "RUNNING")
    assert shown()[jobs] == before[jobs] + 1
    wait_until(lambda: (now := shown())["Last queue length"] == 1 and now["Total cycles"] > before["Total cycles"],
               "the pass after that start has been counted")
    now = shown()
    assert now["Last depth cycle"] == now["Last depth cycle (try sched)"] == now["Last table size"] == 1
    assert now["Max cycle"] >= now["Last cycle"] > 0
    cluster.run("scancel", running, large, small)


def test_a_journal_that_cannot_be_opened(cluster, elastic, expect_errors):
    """The one before stays in use, and that one is shown."""
    expect_errors.append("cannot open the journal /nonexistent/journal")
    app = cluster.actor("malleable,min=1,max=6", "-N2")
    elastic(JournalFile="/nonexistent/journal")
    kinds = [event["event"] for event in cluster.selastic("show", app.job)["job"]["history"]]
    assert kinds == ["submit", "start"]
