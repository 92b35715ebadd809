// SPDX-License-Identifier: MIT
// Initial size.  Only malleable jobs start with another size than they ask for: any other keeps for
// life what it starts with.  What a job with a range asks for (`-N 2-8`) is as much of it as it can
// have without waiting.
#include <algorithm>

#include "core/pass/choices/choices.hpp"

namespace elastic::core::choices {
namespace {

int share_of(const SystemState& state, const Sizing& elastic) {
    const int share = std::clamp(state.equal_share(), elastic.min, elastic.max);
    return elastic.sizes.largest(elastic.min, share);
}

Duration duration(const PendingJob& job, int size) {
    return rescale(job.duration, job.elastic.pref, size, job.elastic);
}

// Between the least that a job can start with and all that it asks for.
int by_objective(const Policy& policy, int least, int asked) {
    return least + static_cast<int>(turnaround_counts(policy) * (asked - least));
}

// The time that a victim loses by having `kept` nodes for `time` and then its present size again.
Duration time_lost(const JobTimes& times, const RunningJob& victim, int kept, Duration time) {
    const int size = total(victim.held);
    const double slower = rescale(1, size, kept, victim.elastic);
    const Duration left = times.end_of(victim) - times.now();
    return std::min(time, left * slower) * (1 - 1 / slower) +
           victim.elastic.cost.there_and_back(size, kept);
}

}  // namespace

namespace {

int wanted_size(const SystemState& state, const PendingJob& job) {
    if (state.policy().initial_size == InitialSize::equal_share && job.elastic.malleable)
        if (const int share = share_of(state, job.elastic)) return share;
    if (state.policy().initial_size == InitialSize::minimum) return job.smallest_start();
    return job.requested_size();
}

}  // namespace

// A job with a price starts on nodes that cost nothing, of which there may be fewer than it wants.
int initial_size(const SystemState& state, const PendingJob& job) {
    const int size = wanted_size(state, job);
    if (job.elastic.price < 0) return size;
    const int there = state.nodes().count(job.eligible);
    const int smaller = size > there ? job.elastic.sizes.largest(job.elastic.min, there) : 0;
    return smaller > 0 ? smaller : size;
}

int initial_size(const SystemState& state, const PendingJob& job, int idle) {
    const int size = initial_size(state, job);
    if (size <= idle) return job.has_range() ? std::min(job.elastic.max, idle) : size;
    if (!is_moldable(state.policy()) || !job.elastic.malleable) return 0;
    // On the side of slowdown nearly all that it asks for has to be there.
    const int enough = size - by_objective(state.policy(), 0, size - job.elastic.min);
    return idle < enough ? 0 : job.elastic.sizes.largest(job.elastic.min, idle);
}

int best_initial_size(const SystemState& state, const PendingJob& job) {
    const InitialSize choice = state.policy().initial_size;
    const int least = least_initial_size(state, job);
    if (choice != InitialSize::flexible && choice != InitialSize::beneficial) return least;
    const int asked = initial_size(state, job);
    const int size = by_objective(state.policy(), least, asked);
    return size < asked ? job.elastic.sizes.largest(least, size) : asked;
}

int least_initial_size(const SystemState& state, const PendingJob& job) {
    switch (state.policy().initial_size) {
        case InitialSize::requested:
            return job.requested_size();
        case InitialSize::equal_share:
            // Shares change from pass to pass; what a claimed job can count on does not.
            return job.claimed ? job.smallest_start() : initial_size(state, job);
        case InitialSize::least:
        case InitialSize::available:
        case InitialSize::flexible:
        case InitialSize::beneficial:
        case InitialSize::minimum:
            return job.smallest_start();
    }
    return 0;
}

bool is_moldable(const Policy& policy) {
    return policy.initial_size == InitialSize::available ||
           policy.initial_size == InitialSize::flexible ||
           policy.initial_size == InitialSize::beneficial;
}

bool may_start_larger(const SystemState& state, const PendingJob& job) {
    return state.policy().initial_size == InitialSize::beneficial && job.elastic.malleable;
}

int room_at_start(const Policy& policy, const PendingJob& job, int size) {
    return static_cast<int>(turnaround_counts(policy) * std::max(0, job.elastic.max - size));
}

// Turnaround is made shorter by the short: a job that is soon over loses less of a long one's time
// than it saves of its own, even if both scale perfectly.
Duration net_saving(const JobTimes& times, const PendingJob& job, const RunningJob& victim,
                    Sizes before, Sizes after) {
    const Duration longer = duration(job, before.job), shorter = duration(job, after.job);
    return longer - shorter + time_lost(times, victim, before.victim, longer) -
           time_lost(times, victim, after.victim, shorter);
}

// A job that waits may end sooner, on all nodes that it asks for as soon as others have ended; and
// the victims of a small start lose more than a long job saves.
bool is_start_beneficial(const SystemState& state, const PendingJob& job, int size, bool small,
                         const std::vector<Shrinkage>& victims) {
    const bool weighs_losses = small && state.policy().initial_size == InitialSize::beneficial;
    const Feasibility feasibility = state.policy().feasibility;
    const bool weighs_costs =
        feasibility == Feasibility::payback || slowdown_counts(state.policy()) > 0;
    // A job without an end has none that could be sooner.
    if (!(weighs_losses || weighs_costs) || job.duration >= kNever) return true;
    const int asked = job.requested_size();
    const Time waiting =
        state.nodes().free_without_shrinking(job.eligible, asked) + duration(job, asked);
    const Duration stays = duration(job, size);
    const Duration saved = waiting - (state.snapshot().now + stays);
    Duration lost = 0;
    if (weighs_losses)
        for (const Shrinkage& part : victims)
            lost += time_lost(state.times(), state.snapshot().running[part.victim], part.size_after,
                              stays);
    return (!weighs_losses || saved > turnaround_counts(state.policy()) * lost) &&
           is_worth_shrinking(state, saved, victims) &&
           improves_slowdown(state, job, saved, victims);
}

}  // namespace elastic::core::choices
