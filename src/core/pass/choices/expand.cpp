// SPDX-License-Identifier: MIT
// Expand trigger, order, amount and time.  An expansion is over nodes that are idle when the queue
// has had its turn, and never delays a reservation; what a trigger adds is when that is tried at
// all.
#include <algorithm>

#include "core/model/search.hpp"
#include "core/pass/choices/choices.hpp"
#include "core/pass/state/even_use.hpp"

namespace elastic::core::choices {

bool may_expand(const Policy& policy, const PendingJobs& queue) {
    switch (policy.expand_trigger) {
        case ExpandTrigger::never:
            return false;
        case ExpandTrigger::nobody_can_use:
            return true;
        case ExpandTrigger::queue_empty:
            return !queue.is_anyone_waiting();
        case ExpandTrigger::expand_plus:
            return !queue.is_anyone_waiting() || !queue.has_backfilled();
    }
    return false;
}

bool expands_from_start(const Policy& policy) {
    return policy.expand_from == ExpandFrom::start;
}

namespace {

// The share of its remaining time that each further node saves, if it gets all it can take of the
// idle ones.
double benefit(const SystemState& state, const RunningJob& job) {
    const int size = total(job.held);
    const int more = std::min(job.elastic.max - size, state.nodes().idle());
    const Duration left = state.times().end_of(job) - state.snapshot().now;
    const Duration saved =
        state.times().end_of(job) - state.times().end_after_resize(job, size + more);
    return saved / (left * std::max(more, 1));
}

// From its present size to `high`, the size at which the job runs fastest: there is one in every
// model.
int fastest_size(const RunningJob& job, int high) {
    return least_at(total(job.held), high, [&](int nodes) {
        return job.elastic.speedup.relative_time(nodes, job.elastic.pref);
    });
}

// The size up to `fastest` with which the job ends first if it is resized at all.  Run time and
// cost are convex in all models but Downey's, for which a local minimum will do.
int earliest_size(const SystemState& state, const RunningJob& job, int fastest) {
    return least_at(total(job.held) + 1, fastest,
                    [&](int to) { return state.times().end_after_resize(job, to); });
}

int size_of_earliest_end(const SystemState& state, const RunningJob& job, int high) {
    const int size = total(job.held);
    const int fastest = fastest_size(job, high);
    // What a resize costs is nothing beside a job without an end.
    if (fastest == size || state.times().end_of(job) >= kNever) return fastest;
    const int to = earliest_size(state, job, fastest);
    return state.times().end_after_resize(job, to) < state.times().end_of(job) ? to : size;
}

}  // namespace

bool grows_enough_for_spare(const Policy& policy, int size, int size_after) {
    return size_after - size > policy.spare_ratio * size;
}

// "A portion of free resources", so that a spare amount stays free ([mebf] section 3.1).
int spare_portion(const SystemState& state) {
    return static_cast<int>((1 - state.policy().spare_kept) * state.nodes().idle());
}

Rank expand_rank(const SystemState& state, const RunningJob& job) {
    switch (state.policy().expand_order) {
        case ExpandOrder::longest_remaining:
            return {-job.estimated_end, 0};
        case ExpandOrder::scalability:
            return {-scalability(job), 0};
        case ExpandOrder::benefit:
            return {-benefit(state, job), 0};
        case ExpandOrder::smallest:
            return {total(job.held), 0};
        case ExpandOrder::above_minimum:
            return {total(job.held) - job.elastic.min, 0};
        case ExpandOrder::above_preferred:
            return {total(job.held) - job.elastic.pref, 0};
        case ExpandOrder::use:
            return {range_use(job), 0};
    }
    return {0, 0};
}

int expanded_size(const SystemState& state, const RunningJob& job, int available) {
    const int size = total(job.held);
    const SizeRule& sizes = job.elastic.sizes;
    const int most = sizes.largest(
        size + 1, std::min(most_nodes(state.policy(), job.elastic), size + available));
    switch (state.policy().expand_amount) {
        case ExpandAmount::to_max:
            return most;
        case ExpandAmount::to_fastest:
            return most > size ? sizes.largest(size + 1, fastest_size(job, most)) : 0;
        case ExpandAmount::to_earliest_end:
            return most > size ? sizes.largest(size + 1, size_of_earliest_end(state, job, most))
                               : 0;
        case ExpandAmount::handoff:
            return most - size > size ? most : 0;
        case ExpandAmount::spare: {
            const int within = sizes.largest(size + 1, std::min(most, size + spare_portion(state)));
            return grows_enough_for_spare(state.policy(), size, within) ? within : 0;
        }
        case ExpandAmount::spare_all:
            return grows_enough_for_spare(state.policy(), size, most) ? most : 0;
        case ExpandAmount::equal_share: {
            // Shares are whole nodes: of what is left over, nobody gets more than one.
            const int share = state.equal_share();
            return sizes.largest(size + 1, std::min(most, size < share ? share : share + 1));
        }
        case ExpandAmount::even:
            return sizes.largest(size + 1, std::min(most, size_at_use(job, state.even_use())));
        case ExpandAmount::preferred_first:
            return size < job.elastic.pref
                       ? sizes.largest(size + 1, std::min(most, job.elastic.pref))
                       : most;
        case ExpandAmount::to_preferred:
            return sizes.largest(size + 1, std::min(most, job.elastic.pref));
    }
    return 0;
}

}  // namespace elastic::core::choices
