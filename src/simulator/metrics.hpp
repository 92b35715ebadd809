// SPDX-License-Identifier: MIT
// What a simulation comes to: the figures of the papers, in one place.
#pragma once

#include <cstdint>
#include <string>

#include "common/json.hpp"
#include "simulator/engine.hpp"
#include "simulator/workload.hpp"

namespace elastic::simulator {

// Jobs shorter than this count as this long in the bounded slowdown.
inline constexpr Duration kSlowdownBound = 10;  // seconds

// "rigid", or as in the annotation.
std::string class_of(const Workload&, const Job&);

// Of one job.
Duration wait(const Job&, const JobResult&);
Duration turnaround(const Job&, const JobResult&);
// Turnaround by the run time at the preferred size, as the log has it.
double slowdown(const Job&, const JobResult&);
// max(1, turnaround / max(run time, kSlowdownBound))
double bounded_slowdown(const Job&, const JobResult&);

// What its run takes at the sizes that it asks for, node-seconds: those of its evolution profile,
// or else the preferred one.  The same under every policy.
double work_asked_for(const Workload&, const Job&);
// It started later than it was first promised, by over a second: less is rounding.
bool missed_its_promise(const JobResult&);

// A percentile is the least value that so many per cent of the jobs do not exceed.
struct Distribution {
    double mean = 0, median = 0, p95 = 0, p99 = 0, max = 0;
};

// What a group of jobs went through; all are 0 if none of them ran.
struct Experience {
    std::int64_t jobs = 0;                                      // that ran
    Distribution wait, turnaround, slowdown, bounded_slowdown;  // times in seconds
};

// Of all jobs.
struct Summary : Experience {
    int nodes = 0;  // of the machine
    std::int64_t skipped = 0, malformed = 0, rejected = 0, lost = 0;
    std::int64_t elastic = 0;  // of `jobs`
    // Jobs that have components, and how many: each component is one of `jobs`.
    std::int64_t heterogeneous = 0, components = 0;
    Experience rigid;  // the others alone
    // What the jobs of which the log says so waited in truth, and how many they are.
    Distribution logged_wait;
    std::int64_t logged = 0;
    // From the first submission to the last end, seconds.
    Duration makespan = 0;
    // Node-seconds held by jobs, by nodes times makespan; and those less what resizes cost.
    double utilisation = 0, useful_utilisation = 0;
    // work_asked_for() of the jobs that ran, by the same: what nodes do that make no job faster is
    // no work, so it only rises if all are done sooner.
    double work_done = 0;
    // Jobs to which a reservation promised a start, those that missed their first promise, and by
    // how much the latest of them did, seconds.
    std::int64_t promised = 0, missed = 0;
    Duration latest_start = 0;
    Counters counters;
};

Summary summarise(const Workload&, const Outcome&);

std::string to_text(const Summary&);
Json to_json(const Summary&);

}  // namespace elastic::simulator
