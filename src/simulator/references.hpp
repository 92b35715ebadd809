// SPDX-License-Identifier: MIT
// What the figures of a policy are to be measured against: a bound that no policy can be below, and
// one schedule that pays neither for fairness nor for resizes, which a policy may well be below.
#pragma once

#include <string>

#include "common/json.hpp"
#include "simulator/metrics.hpp"
#include "simulator/workload.hpp"

namespace elastic::simulator {

// Means over all jobs; times in seconds.
struct Means {
    Duration turnaround = 0;
    double slowdown = 0, bounded_slowdown = 0;
    Duration makespan = 0;
};

// For any schedule that gives each job a size within its limits at any time, with any resizes, at
// no cost, whatever a job's true speed-up.  Each figure but the makespan is the largest over some
// splits of the jobs into those counted by the first of these and those by the others (fewer jobs
// only end sooner on one machine, so each split is a bound):
//  - the jobs' least run times, as if each had the machine for itself;
//  - the shortest remaining processing time first (Schrage 1968, optimal for the mean turnaround on
//    one machine) of the jobs' least work on one machine as fast as all nodes together (turnaround
//    only);
//  - mean busy times (Goemans, Queyranne, Schulz, Skutella, Wang 2002, section 2): on that machine
//    no schedule has a smaller weighted sum of mean busy times than the one that always works on
//    the job with most weight by work, and a job ends at least half of its least run time after its
//    mean busy time.
Means lower_bound(const Workload&);

// Smallest remaining work first, looked at anew at each arrival and end: whatever fits starts, be
// others passed over for ever; malleable jobs are resized at no cost and keep no more than their
// minimum if smaller jobs want the rest. Other elastic jobs keep their preferred size and ask for
// nothing.  Not a bound: where jobs come and go often, jobs are cut down to their minimum again and
// again, which elastic on LLNL Atlas does better than.
Means greedy(const Workload&);

// A table with `summary` beside both.
struct References {
    Means least, greedy;
};
std::string to_text(const References&, const Summary&);
Json to_json(const References&);

}  // namespace elastic::simulator
