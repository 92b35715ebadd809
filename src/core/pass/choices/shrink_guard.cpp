// SPDX-License-Identifier: MIT
// Shrink guard.  `default`, `application` and `system` are [lina] algorithms 5, 6
// and 7; the other two are the conditions of [mebf] algorithm 1.
//
// Of algorithm 7 the paper has two versions: its listing, which stands here, waits
// if the system is used more than u % *and* a job ends within t seconds; its text
// waits whenever the system is used more than u %.  The latter is this one
// with a GuardTime without end.
#include "core/pass/choices/choices.hpp"

namespace elastic::core::choices {
namespace {

bool some_job_ends_soon(const SystemState& state) {
    return state.next_end() <= state.snapshot().now + state.policy().guard_time;
}

bool is_well_used(const SystemState& state) {
    const int nodes = state.nodes();
    return nodes - state.idle() > state.policy().guard_utilization * nodes;
}

bool is_nearly_done(const SystemState& state, const RunningJob& job) {
    const Duration whole = state.end_of(job) - job.start;
    return state.snapshot().now - job.start >= state.policy().guard_done * whole;
}

}  // namespace

bool may_shrink(const SystemState& state) {
    switch (state.policy().shrink_guard) {
        case ShrinkGuard::never:
            return false;
        case ShrinkGuard::by_default:
            return true;
        case ShrinkGuard::application:
            return !some_job_ends_soon(state);
        case ShrinkGuard::system:
            return !(is_well_used(state) && some_job_ends_soon(state));
        case ShrinkGuard::queue_blocked:
            return state.idle() == 0;
        case ShrinkGuard::shrink_plus:
            return state.idle() == 0 || !state.has_backfilled();
    }
    return false;
}

bool may_be_victim(const SystemState& state, const RunningJob& job) {
    return state.policy().shrink_guard != ShrinkGuard::application || !is_nearly_done(state, job);
}

}  // namespace elastic::core::choices
