#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Compares what was decided in two journals: compare_journals.py EXPECTED ACTUAL TOLERANCE

A decision is a start or a resize.  Each job must have the same ones, with the same sizes, in
the same order; decisions of different jobs must come in the same order, unless both were made
in one instant of the expected journal; and none may come more than TOLERANCE seconds earlier
or later (earlier: a job that is shrunk late has done more by then).  Times count from each journal's first
submission, jobs from its lowest number.  Prints one line a job that differs; exit status 1 if
any does.
"""

import collections
import json
import sys

Decision = collections.namedtuple("Decision", "time job action before after")


def show(decision):
    if decision is None:
        return "nothing"
    sizes = f"on {decision.after}" if decision.action == "start" \
        else f"{decision.before} -> {decision.after}"
    return f"{decision.action} {sizes} at {decision.time:.1f}"


def decisions(events):
    """In order; jobs numbered from 1, times from the first submission."""
    submits = [event for event in events if event["event"] == "submit"]
    zero = min(event["time"] for event in submits)
    number = {job: place for place, job in
              enumerate(sorted({event["job"] for event in submits}), start=1)}
    result = []
    for event in events:
        if event["event"] == "start":
            result.append(Decision(event["time"] - zero, number[event["job"]], "start", 0,
                                   event["count"]))
        elif event["event"] == "resize":
            result.append(Decision(event["time"] - zero, number[event["job"]], event["kind"],
                                   event["from"], event["to"]))
    return result


def by_job(items):
    jobs = collections.defaultdict(list)
    for item in items:
        jobs[item.job].append(item)
    return jobs


def same(left, right):
    return left and right and left[2:] == right[2:]


def first_difference(expected, actual, tolerance):
    """Of one job's decisions; None if there is none."""
    for place in range(max(len(expected), len(actual))):
        want = expected[place] if place < len(expected) else None
        have = actual[place] if place < len(actual) else None
        if not same(want, have):
            return f"decision {place + 1}: expected {show(want)}, found {show(have)}"
        late = have.time - want.time
        if tolerance is not None and abs(late) > tolerance(want):
            return f"decision {place + 1}: expected {show(want)}, found {late:+.1f} s later"
    return None


def out_of_order(expected, actual):
    """Pairs of decisions, made one after the other, that should have been the other way round."""
    place = collections.Counter()
    wanted = by_job(expected)
    latest = None
    for have in actual:
        if place[have.job] >= len(wanted[have.job]):
            continue
        want = wanted[have.job][place[have.job]]
        place[have.job] += 1
        if latest and want.time < latest.time:
            yield f"job {have.job}: {show(want)} came after job {latest.job}: {show(latest)}"
        else:
            latest = want


def compare(expected, actual, tolerance=None):
    """The differences of two journals' events, a line each; of times only with a tolerance, seconds by decision."""
    expected, actual = decisions(expected), decisions(actual)
    want, have = by_job(expected), by_job(actual)
    lines = []
    for job in sorted(want.keys() | have.keys()):
        difference = first_difference(want[job], have[job], tolerance)
        if difference:
            lines.append(f"job {job}: {difference}")
    return lines + list(out_of_order(expected, actual))


def summary(expected, actual):
    """What was compared, for people."""
    expected, actual = decisions(expected), decisions(actual)
    kinds = collections.Counter(decision.action for decision in expected)
    want, have = by_job(expected), by_job(actual)
    late = sorted(abs(there.time - here.time) for job in want
                  for here, there in zip(want[job], have[job]) if same(here, there))
    spread = f"; {late[len(late) // 2]:.1f} s apart in the median, {late[-1]:.1f} at most" \
        if late else ""
    return f"{len(want)} jobs, {kinds['start']} starts, {kinds['shrink']} shrinks, " \
           f"{kinds['expand']} expansions{spread}"


def read(path):
    with open(path, encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def main():
    expected, actual, tolerance = read(sys.argv[1]), read(sys.argv[2]), float(sys.argv[3])
    print(summary(expected, actual))
    lines = compare(expected, actual, lambda _: tolerance)
    print("\n".join(lines or ["no difference"]))
    return 1 if lines else 0


if __name__ == "__main__":
    sys.exit(main())
