// SPDX-License-Identifier: MIT
// Jobs that take parts of nodes.  The planner knows of such nodes when they come free, and starts a
// job that shares them where it may; whether it has room there is decided here, as Slurm decides
// it.  One that has none waits until a job has ended, and the plan is made anew without it.
//
// Always holds: a node has whole jobs or parts of jobs, never both.
#include <algorithm>
#include <cmath>

#include "simulator/event_engine.hpp"

namespace elastic::simulator {

bool Engine::shares_nodes(std::uint32_t job) const {
    return !workload_.shares.empty() && workload_.shares[job];
}

// Whether the job has got its nodes.
bool Engine::take_parts(const core::Action& action) {
    const std::uint32_t job = action.job - 1;
    const core::PendingJob& pending = cluster_.pending(action.job);
    const core::Eligibility& eligible = cluster_.snapshot().eligibilities[pending.eligible];
    const Time end = now_ + workload_.jobs[job].estimate;
    if (partly_used_.take(job, workload_.parts[job], workload_.jobs[job].nodes, eligible, action,
                          end)) {
        cluster_.start_on_parts(action.job);
        std::erase(deferred_, action.job);
        return true;
    }
    unsettled_ = true;
    const Time next = std::max(partly_used_.next_end(eligible), std::nextafter(now_, kNever));
    cluster_.defer(action.job, std::min(next, kNever));
    if (std::ranges::count(deferred_, action.job) == 0) deferred_.push_back(action.job);
    return false;
}

// Where somebody has left there may be room.
void Engine::lift_deferrals() {
    for (const JobId job : deferred_) cluster_.defer(job, 0);
    deferred_.clear();
}

void Engine::leave_parts(std::uint32_t job) {
    partly_used_.leave(job);
}

}  // namespace elastic::simulator
