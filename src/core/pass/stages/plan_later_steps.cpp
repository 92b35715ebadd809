// SPDX-License-Identifier: MIT
// What the jobs that run need for the later steps of their evolution profiles is taken before
// anything else is decided: each step at its time or as soon as there are nodes, whoever began
// first before all others, since that job was promised its steps first.
//
// Always holds: jobs that each hold a part and need more do not wait for each other.
#include <algorithm>
#include <utility>
#include <vector>

#include "core/pass/stages/stages.hpp"

namespace elastic::core {
namespace {

// What agreements in flight bring the job, or take from it.
PoolCounts coming(const Snapshot& snapshot, JobId job) {
    PoolCounts nodes(snapshot.pools.size(), 0);
    for (const Promise& promise : snapshot.promises) {
        if (promise.job == job && promise.kind == ResizeKind::shrink)
            nodes = difference(nodes, promise.nodes);
        else if (promise.job == job || promise.beneficiary == job)
            nodes = sum(nodes, promise.nodes);
    }
    return nodes;
}

}  // namespace

void plan_later_steps(Pass& pass) {
    if (pass.schedule.index().profiles_running == 0) return;
    const Snapshot& snapshot = pass.schedule.snapshot();
    const std::vector<RunningJob>& running = snapshot.running;
    std::vector<std::uint32_t> order;
    for (std::uint32_t i = 0; i < running.size(); ++i)
        if (!running[i].elastic.profile.empty()) order.push_back(i);
    std::ranges::sort(order, {},
                      [&](std::uint32_t i) { return std::pair(running[i].start, running[i].id); });
    for (const std::uint32_t i : order)
        pass.schedule.plan_later_steps(i, coming(snapshot, running[i].id));
}

}  // namespace elastic::core
