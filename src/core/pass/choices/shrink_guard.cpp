// SPDX-License-Identifier: MIT
// Shrink guard.  `default`, `application` and `system` are [lina] algorithms 5, 6 and 7; the other
// two are the conditions of [mebf] algorithm 1.
//
// Of algorithm 7 the paper has two versions: its listing, `system`, waits if the system is used
// more than u % *and* a job ends within t seconds; its text, `system-text`, whenever it is used
// more than u %.
//
// "Excludes the previously configured ones" ([mebf] algorithm 2, lines 1 and 5) has two readings,
// too.  Not twice in one round holds for every plan; `never` adds that no job is shrunk twice in
// its life.  Were expanded jobs excluded as well, Intensive, which expands all when the queue is
// empty, would leave nothing to shrink.
#include "core/pass/choices/choices.hpp"

namespace elastic::core::choices {
namespace {

bool some_job_ends_soon(const SystemState& state) {
    return state.nodes().next_end() <= state.snapshot().now + state.policy().guard_time;
}

bool is_well_used(const SystemState& state) {
    const int nodes = state.nodes().count();
    return nodes - state.nodes().idle() > state.policy().guard_utilization * nodes;
}

bool is_nearly_done(const Policy& policy, const JobTimes& times, const RunningJob& job) {
    const Duration whole = times.end_of(job) - job.start;
    return times.now() - job.start >= policy.guard_done * whole;
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
        case ShrinkGuard::system_text:
            return !is_well_used(state);
        case ShrinkGuard::queue_blocked:
            return state.nodes().idle() == 0;
        case ShrinkGuard::shrink_plus:
            return state.nodes().idle() == 0 || !state.queue().has_backfilled();
    }
    return false;
}

bool may_be_victim(const Policy& policy, const JobTimes& times, const RunningJob& job) {
    if (policy.shrink_again == ShrinkAgain::never && job.shrinks > 0) return false;
    return policy.shrink_guard != ShrinkGuard::application || !is_nearly_done(policy, times, job);
}

}  // namespace elastic::core::choices
