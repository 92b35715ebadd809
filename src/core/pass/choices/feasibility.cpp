// SPDX-License-Identifier: MIT
// Feasibility.  With `payback` what a resize costs has to be earned: by an expansion until the job
// is resized again (core/model/payback.hpp), or ends, unless it has outrun its estimate and nobody
// knows when it ends; by shrinks with the time that their beneficiary saves, which has to be more
// than all victims take to shrink and to grow back.
//
// `mebf` is [mebf] algorithm 3, of which the paper prints only the description:
//  - the job must have more left than the share theta of its estimated run time, or the resize
//    comes too late to be worth it (line 2);
//  - its whole run time with the new size, cost included, must not exceed gamma times the estimate
//    (lines 3 to 6).
// Both measure against the "static" time, that without any resize: what the job takes at the size
// it prefers by the limit it asked for.  A limit that was extended since would let a job be shrunk
// because it was shrunk before.
//
// `slowdown` is [sd]'s: a start by shrinking has to take more off the slowdown of the job that
// starts, against its static start, than it adds to those of its victims.
#include <algorithm>

#include "core/model/payback.hpp"
#include "core/model/search.hpp"
#include "core/pass/choices/choices.hpp"

namespace elastic::core::choices {
namespace {

// Slowdowns are not divided by less.
constexpr Duration kShortest = 1;

// The size up to `size` with which the job saves most until it is resized again; 0 if with none.
int most_earning_size(const JobTimes& times, const RunningJob& job, int size) {
    const int from = total(job.held);
    const Time now = times.now();
    const Duration rest = expected_rest(job.last_resize, now);
    const Duration left = job.estimated_end < now ? kNever : times.end_of(job) - now;
    const Duration time = std::min(left, rest);
    const auto earned = [&](int to) { return earned_by_expansion(job.elastic, from, to, time); };
    if (earned(size) > 0) return size;
    const int best = least_at(from + 1, size, [&](int to) { return -earned(to); });
    const int allowed = job.elastic.sizes.largest(from + 1, best);
    return allowed > from && earned(allowed) > 0 ? allowed : 0;
}

}  // namespace

bool is_feasible(const Policy& policy, const JobTimes& times, const RunningJob& job,
                 int size_after) {
    if (policy.feasibility != Feasibility::mebf) return true;
    const int size = total(job.held);
    const Time now = times.now();
    const Duration left = times.end_of(job) - now;
    const Duration estimate = job.duration > 0 ? job.duration : times.end_of(job) - job.start;
    if (left < policy.least_remaining * estimate) return false;
    const Duration cost = job.elastic.cost.seconds(size, size_after);
    const Duration whole = now - job.start + rescale(left, size, size_after, job.elastic) + cost;
    return whole <= policy.most_slowdown * estimate;
}

int feasible_expansion(const Policy& policy, const JobTimes& times, const RunningJob& job,
                       int size) {
    if (policy.feasibility == Feasibility::payback) return most_earning_size(times, job, size);
    return is_feasible(policy, times, job, size) ? size : 0;
}

bool is_worth_shrinking(const SystemState& state, Duration saved,
                        const std::vector<Shrinkage>& victims) {
    if (state.policy().feasibility != Feasibility::payback) return true;
    Duration cost = 0;
    for (const Shrinkage& part : victims) {
        const RunningJob& victim = state.snapshot().running[part.victim];
        cost += victim.elastic.cost.there_and_back(total(victim.held), part.size_after);
    }
    return cost == 0 || cost < saved;
}

double added_slowdown(const JobTimes& times, const RunningJob& job, int size_after) {
    const Duration longer = times.end_after_shrink(job, size_after) - times.end_of(job);
    const Duration estimate = job.duration > 0 ? job.duration : times.end_of(job) - job.start;
    return longer / std::max(estimate, kShortest);
}

bool improves_slowdown(const SystemState& state, const PendingJob& job, Duration saved,
                       const std::vector<Shrinkage>& victims) {
    const double counts = slowdown_counts(state.policy());
    if (counts == 0) return true;
    double added = 0;
    for (const Shrinkage& part : victims)
        added +=
            added_slowdown(state.times(), state.snapshot().running[part.victim], part.size_after);
    return saved / std::max(job.duration, kShortest) > counts * added;
}

}  // namespace elastic::core::choices
