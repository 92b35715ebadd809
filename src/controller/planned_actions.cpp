// SPDX-License-Identifier: MIT
// A plan is a list, and its actions are few beside the jobs that wait: each answer is a walk over
// it.
#include "controller/planned_actions.hpp"

#include <algorithm>

namespace elastic::controller {

namespace {

using core::Action;
using core::ActionKind;
using core::PoolCounts;

bool have_a_pool_in_common(const PoolCounts& left, const PoolCounts& right) {
    const std::size_t pools = std::min(left.size(), right.size());
    for (std::size_t pool = 0; pool < pools; ++pool)
        if (left[pool] > 0 && right[pool] > 0) return true;
    return false;
}

}  // namespace

bool waits(const Action& action) {
    return action.kind == ActionKind::reserve ||
           (action.kind == ActionKind::start && action.deferred);
}

const Action* start_of(const core::Plan& plan, JobId job) {
    const auto start = std::ranges::find_if(plan.actions, [job](const Action& action) {
        return action.kind == ActionKind::start && action.job == job;
    });
    return start == plan.actions.end() ? nullptr : &*start;
}

Time end_of_hole(const core::Plan& plan, const Action& start) {
    Time end = kNever;
    for (const Action& action : plan.actions)
        if (action.kind == ActionKind::reserve && have_a_pool_in_common(start.nodes, action.nodes))
            end = std::min(end, action.time);
    return end;
}

PoolCounts excess(const PoolCounts& counts, const PoolCounts& others) {
    PoolCounts result = core::difference(counts, others);
    for (int& count : result) count = std::max(0, count);
    return result;
}

PoolCounts beside_victims(const core::Plan& plan, const Action& beneficiary) {
    PoolCounts idle = beneficiary.nodes;
    for (const Action& shrink : plan.actions)
        if (shrink.kind == ActionKind::shrink && shrink.beneficiary == beneficiary.job)
            idle = excess(idle, shrink.nodes);
    return idle;
}

}  // namespace elastic::controller
