// SPDX-License-Identifier: MIT
// Feasibility, [mebf] algorithm 3, of which the paper prints only the description:
//  - the job must have more left than the share theta of its estimated run time,
//    or the resize comes too late to be worth it (line 2);
//  - its whole run time with the new size, cost included, must not exceed gamma
//    times the estimate (lines 3 to 6).
// "Excludes the previously configured ones" (algorithm 2, lines 1 and 5) is read as:
// a job is shrunk at most once.  Were expanded jobs excluded too, Intensive, which
// expands all when the queue is empty, would leave nothing to shrink later.
#include "core/pass/choices/choices.hpp"

namespace elastic::core::choices {

bool is_feasible(const Outlook& outlook, const RunningJob& job, int size_after) {
    const Policy& policy = outlook.policy();
    if (policy.feasibility == Feasibility::none) return true;
    const int size = total(job.held);
    if (size_after < size && job.shrinks > 0) return false;
    const Time now = outlook.snapshot().now;
    const Duration left = outlook.end_of(job) - now;
    const Duration estimate = job.duration > 0 ? job.duration : outlook.end_of(job) - job.start;
    if (left < policy.least_remaining * estimate) return false;
    const Duration cost = job.elastic.cost.seconds(size, size_after);
    const Duration whole = now - job.start + rescale(left, size, size_after, job.elastic) + cost;
    return whole <= policy.most_slowdown * estimate;
}

}  // namespace elastic::core::choices
