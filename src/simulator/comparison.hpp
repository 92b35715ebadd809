// SPDX-License-Identifier: MIT
// Two policies on one workload, job by job: a mean that falls may hide users who wait for days.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/json.hpp"
#include "simulator/engine.hpp"
#include "simulator/workload.hpp"

namespace elastic::simulator {

// A wait that differs by more than this is one that people notice.
inline constexpr Duration kNoticed = 3600;  // seconds

struct Comparison {
    struct Delayed {
        std::uint32_t job = 0;      // index into Workload::jobs
        Duration wait = 0, by = 0;  // seconds; `by` is more than kNoticed
    };
    std::vector<Delayed> delayed;  // the longest delay first, then as in the log
    std::int64_t delayed_rigid = 0;
    std::int64_t sooner = 0;     // jobs that wait less by more than kNoticed
    Duration longest_delay = 0;  // of any job, seconds; 0 if none waits longer
    double turnaround = 1;       // the mean, by the baseline's
    // Who pays for it: the jobs that wait longer by over a second, be it noticed or not, and by how
    // much on average, seconds.
    std::int64_t longer = 0;
    Duration mean_longer = 0;
    std::int64_t missed = 0;  // promised starts, see missed_its_promise()
};

// Of the jobs that ran in both.
Comparison compare(const Workload&, const Outcome&, const Outcome& baseline);

// What was compared; the order alone is the same baseline against a policy that only orders.
struct Compared {
    std::string policy, baseline;
    Comparison comparison;
    std::optional<Comparison> order;
};
// A policy that backfills in the order of the default one and resizes nobody, so that what order
// gives can be told from what malleable jobs give.
inline constexpr std::string_view kOrderAlone = "easy-lightest";

std::string to_text(const Compared&, const Workload&);
Json to_json(const Compared&, const Workload&);

}  // namespace elastic::simulator
