// SPDX-License-Identifier: MIT
// One workload under several policies: what every study consists of.
#pragma once

#include <vector>

#include "common/result.hpp"
#include "core/model/policy.hpp"
#include "simulator/make_workload.hpp"
#include "simulator/metrics.hpp"
#include "simulator/workload.hpp"
#include "studies/run_pool.hpp"

namespace elastic::studies {

// The workload is made once and shared by the policies, whose seed is the workload's.
struct Case {
    const simulator::Log* log = nullptr;  // borrowed
    simulator::WorkloadOptions workload;
    std::vector<core::Policy> policies;
};

struct Measures {
    simulator::Summary summary;
    // The papers define the slowdown in other ways than Summary does.
    double slowdown_by_actual_run = 0;  // [lina] section 4.1: mean of turnaround / (end - start)
    double slowdown_of_means = 0;       // [mebf] section 4.3: mean turnaround / mean run time
};

Measures measure(const simulator::Workload&, const simulator::Outcome&);

// By case, by policy.  An error is that of the first case that has one.
Result<std::vector<std::vector<Measures>>> run_cases(const std::vector<Case>&, const PoolOptions&);

}  // namespace elastic::studies
