// SPDX-License-Identifier: MIT
// Shrink guard.  `default`, `application` and `system` are [lina] algorithms 5, 6
// and 7; the other two are the conditions of [mebf] algorithm 1.
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

bool some_job_ends_soon(const Outlook& outlook) {
    return outlook.next_end() <= outlook.snapshot().now + outlook.policy().guard_time;
}

bool is_well_used(const Outlook& outlook) {
    const int nodes = outlook.nodes();
    return nodes - outlook.idle() > outlook.policy().guard_utilization * nodes;
}

bool is_nearly_done(const Outlook& outlook, const RunningJob& job) {
    const Duration whole = outlook.end_of(job) - job.start;
    return outlook.snapshot().now - job.start >= outlook.policy().guard_done * whole;
}

}  // namespace

bool may_shrink(const Outlook& outlook) {
    switch (outlook.policy().shrink_guard) {
        case ShrinkGuard::never:
            return false;
        case ShrinkGuard::by_default:
            return true;
        case ShrinkGuard::application:
            return !some_job_ends_soon(outlook);
        case ShrinkGuard::system:
            return !(is_well_used(outlook) && some_job_ends_soon(outlook));
        case ShrinkGuard::system_text:
            return !is_well_used(outlook);
        case ShrinkGuard::queue_blocked:
            return outlook.idle() == 0;
        case ShrinkGuard::shrink_plus:
            return outlook.idle() == 0 || !outlook.has_backfilled();
    }
    return false;
}

bool may_be_victim(const Outlook& outlook, const RunningJob& job) {
    const Policy& policy = outlook.policy();
    if (policy.shrink_again == ShrinkAgain::never && job.shrinks > 0) return false;
    return policy.shrink_guard != ShrinkGuard::application || !is_nearly_done(outlook, job);
}

}  // namespace elastic::core::choices
