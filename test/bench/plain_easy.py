#!/usr/bin/python3 -B
# SPDX-License-Identifier: MIT
"""plain_easy LOG: EASY backfilling in plain Python, as anybody would write it first; prints the mean wait in seconds.

What simulator_bench measures `selastic-sim run --policy easy` against. Jobs have processors for nodes, as in a log that
names none per node, and are ended at their limits.
"""

import bisect
import gzip
import heapq
import sys


def read(path):
    """[(submit, processors, seconds to run, limit in seconds)] and the processors of the machine."""
    jobs, machine = [], 0
    with (gzip.open if path.endswith(".gz") else open)(path, "rt", errors="replace") as log:
        for line in log:
            if line.startswith(";"):
                if line.startswith("; MaxProcs:"):
                    machine = int(line.split()[2])
                continue
            fields = line.split()
            if len(fields) < 9:
                continue
            submit, run, limit = (float(fields[i]) for i in (1, 3, 8))
            processors = max(int(fields[7]), int(fields[4]))
            if run <= 0 or processors < 1:
                continue
            limit = limit if limit > 0 else run
            jobs.append((submit, processors, min(run, limit), limit))
    return sorted(jobs, key=lambda job: job[0]), machine


class Easy:
    def __init__(self, machine):
        self.free = machine
        self.queue = []
        self.expected = []  # (end by the limit, processors) of those that run, the first end first
        self.ends = []  # (end, processors, end by the limit)
        self.waited = 0.0

    def start(self, job, now):
        submit, processors, run, limit = job
        self.free -= processors
        self.waited += now - submit
        bisect.insort(self.expected, (now + limit, processors))
        heapq.heappush(self.ends, (now + run, processors, now + limit))

    def reservation(self, wanted):
        """When so many processors are free by the limits, and how many more are at that moment."""
        free, found = self.free, None
        for end, processors in self.expected:
            if found is not None and end > found:
                break
            free += processors
            if free >= wanted:
                found = end
        return found, free - wanted

    def schedule(self, now):
        while self.queue and self.queue[0][1] <= self.free:
            self.start(self.queue.pop(0), now)
        if not self.queue or self.free == 0:
            return
        shadow, extra = self.reservation(self.queue[0][1])
        left = [self.queue[0]]
        for job in self.queue[1:]:
            _, processors, _, limit = job
            ends_in_time = now + limit <= shadow
            if processors <= self.free and (ends_in_time or processors <= extra):
                self.start(job, now)
                if not ends_in_time:
                    extra -= processors
            else:
                left.append(job)
        self.queue = left

    def run(self, jobs):
        arrivals = iter(jobs)
        coming = next(arrivals, None)
        while coming or self.ends:
            now = min(coming[0] if coming else float("inf"), self.ends[0][0] if self.ends else float("inf"))
            while self.ends and self.ends[0][0] <= now:
                _, processors, limit = heapq.heappop(self.ends)
                self.free += processors
                del self.expected[bisect.bisect_left(self.expected, (limit, processors))]
            while coming and coming[0] <= now:
                self.queue.append(coming)
                coming = next(arrivals, None)
            self.schedule(now)
        return self.waited / max(1, len(jobs))


def main():
    jobs, machine = read(sys.argv[1])
    print(f"{Easy(machine).run(jobs):.2f}")


if __name__ == "__main__":
    main()
