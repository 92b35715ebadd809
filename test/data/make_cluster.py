#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Makes cluster.sacct, the export of a cluster with partitions of which doc/choosing-a-policy.md tells.

    make_cluster.py SELASTIC_SIM > cluster.sacct        (beside cluster.conf and cluster.qos)

Jobs are drawn. They wait as they do when selastic-sim runs them with all that the cluster has, and a few of them
longer, as on a cluster where somebody holds jobs, nodes fail and users come and go.
"""

import csv
import datetime
import pathlib
import random
import subprocess
import sys
import tempfile

JOBS, CPUS, HERE = 600, 32, pathlib.Path(__file__).parent
BEGIN = datetime.datetime(2026, 9, 7)
FIELDS = ("JobID|JobIDRaw|AllocCPUS|NNodes|Submit|Eligible|Start|End|ElapsedRaw|Timelimit|State|User|Account|"
          "Partition|QOS")
# Share of the jobs; the largest; mean of the logarithm of the run time; users.
PARTITIONS = {"batch": (60, 24, 8.6, range(1, 9)), "gpu": (25, 4, 8.9, range(6, 12)),
              "long": (15, 4, 9.9, range(1, 4))}


def time(seconds):
    return (BEGIN + datetime.timedelta(seconds=seconds)).strftime("%Y-%m-%dT%H:%M:%S")


def limit(seconds):
    minutes = -(-seconds // 900) * 15
    return f"{minutes // 1440}-{minutes // 60 % 24:02}:{minutes % 60:02}:00"


def draw():
    """Jobs: submission, nodes, run time, time limit, user, partition."""
    at = 0
    for _ in range(JOBS):
        # Three in four come by day.
        while True:
            at += random.expovariate(1 / 700)
            if random.random() < (1 if 8 <= at / 3600 % 24 < 20 else 0.33):
                break
        name = random.choices(list(PARTITIONS), [row[0] for row in PARTITIONS.values()])[0]
        _, most, length, users = PARTITIONS[name]
        nodes = min(most, 2 ** int(random.expovariate(0.7)))
        run = int(random.lognormvariate(length, 1)) + 30
        asked = min(int(run * random.choice([1.1, 1.5, 2, 4])) + 60, 5 * 86400)
        yield int(at), nodes, min(run, asked), asked, f"u{random.choice(users):02}", name


def table(jobs, waits):
    lines = [FIELDS]
    for number, ((at, nodes, run, asked, user, name), wait) in enumerate(zip(jobs, waits), 4001):
        lines.append("|".join(map(str, [
            number, number, nodes * CPUS, nodes, time(at), time(at), time(at + wait), time(at + wait + run), run,
            limit(asked), "COMPLETED", user, f"a{int(user[1:]) % 3}", name, "long" if name == "long" else "normal"])))
    return "\n".join(lines) + "\n"


def simulated_waits(program, jobs):
    with tempfile.TemporaryDirectory() as folder:
        log, out = pathlib.Path(folder, "log.sacct"), pathlib.Path(folder, "jobs.csv")
        log.write_text(table(jobs, [0] * len(jobs)), encoding="ascii")
        subprocess.run([program, "run", log, "--policy", "easy", "--slurm-conf", HERE / "cluster.conf", "--qos",
                        HERE / "cluster.qos", "--jobs-out", out], check=True, capture_output=True)
        with out.open(encoding="ascii") as file:
            rows = {int(row["job_id"]): row for row in csv.DictReader(file)}
    return [int(float(rows[number]["wait"])) for number in range(4001, 4001 + len(jobs))]


if __name__ == "__main__":
    random.seed(7)
    drawn, waits = list(draw()), []
    for wait in simulated_waits(sys.argv[1], drawn):
        held = int(random.expovariate(1 / 9000)) if random.random() < 0.1 else 0
        waits.append(wait + int(random.expovariate(1 / 40)) + held)
    print(table(drawn, waits), end="")
