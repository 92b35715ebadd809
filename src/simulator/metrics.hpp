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

// Of one job.
Duration wait(const Job&, const JobResult&);
Duration turnaround(const Job&, const JobResult&);
// Turnaround by the run time at the preferred size, as the log has it.
double slowdown(const Job&, const JobResult&);
// max(1, turnaround / max(run time, kSlowdownBound))
double bounded_slowdown(const Job&, const JobResult&);

struct Average {
    double mean = 0, median = 0;
};

struct Summary {
    int nodes = 0;  // of the machine
    std::int64_t jobs = 0, skipped = 0, malformed = 0, rejected = 0, lost = 0;
    std::int64_t elastic = 0;                              // of `jobs`
    Average wait, turnaround, slowdown, bounded_slowdown;  // times in seconds
    // From the first submission to the last end, seconds.
    Duration makespan = 0;
    // Node-seconds held by jobs, by nodes times makespan; and those less what resizes cost.
    double utilisation = 0, useful_utilisation = 0;
    Counters counters;
};

Summary summarise(const Workload&, const Outcome&);

std::string to_text(const Summary&);
Json to_json(const Summary&);

}  // namespace elastic::simulator
