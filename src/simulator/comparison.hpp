// SPDX-License-Identifier: MIT
// Two policies on one workload, job by job: a mean that falls may hide users who wait for days.
#pragma once

#include <cstdint>
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
};

// Of the jobs that ran in both.
Comparison compare(const Workload&, const Outcome&, const Outcome& baseline);

// `baseline` is its name.
std::string to_text(const Comparison&, const Workload&, std::string_view baseline);
Json to_json(const Comparison&, const Workload&);

}  // namespace elastic::simulator
