// SPDX-License-Identifier: MIT
// Expand trigger, order and amount.  An expansion is over nodes that are idle when
// the queue has had its turn, and never delays a reservation; what a trigger adds
// is when that is tried at all.
#include <algorithm>

#include "core/choices/choices.hpp"

namespace elastic::core::choices {

bool may_expand(const SystemState& state) {
    switch (state.policy().expand_trigger) {
        case ExpandTrigger::never:
            return false;
        case ExpandTrigger::nobody_can_use:
            return true;
        case ExpandTrigger::queue_empty:
            return !state.is_anyone_waiting();
        case ExpandTrigger::expand_plus:
            return !state.is_anyone_waiting() || !state.has_backfilled();
    }
    return false;
}

namespace {

// The share of its remaining time that each further node saves, if it gets all it
// can take of the idle ones.
double benefit(const SystemState& state, const RunningJob& job) {
    const int size = total(job.held);
    const int more = std::min(job.elastic.max - size, state.idle());
    const Duration left = state.end_of(job) - state.snapshot().now;
    const Duration saved = state.end_of(job) - state.end_after_resize(job, size + more);
    return saved / (left * std::max(more, 1));
}

// The size from `low` to `high` at which the job is fastest.  In every model the run
// time falls up to there and rises behind.
int fastest_size(const RunningJob& job, int low, int high) {
    const auto time = [&](int nodes) {
        return job.elastic.speedup.relative_time(nodes, job.elastic.pref);
    };
    while (low < high) {
        const int middle = low + (high - low) / 2;
        if (time(middle + 1) < time(middle))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

}  // namespace

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
    }
    return {0, 0};
}

int expanded_size(const SystemState& state, const RunningJob& job, int available) {
    const int size = total(job.held);
    const SizeRule& sizes = job.elastic.sizes;
    const int most = sizes.largest(size + 1, std::min(job.elastic.max, size + available));
    switch (state.policy().expand_amount) {
        case ExpandAmount::to_max:
            return most;
        case ExpandAmount::to_fastest:
            return sizes.largest(size + 1, fastest_size(job, size, most));
        case ExpandAmount::handoff:
            return most - size > size ? most : 0;
        case ExpandAmount::spare:
            return most - size > state.policy().spare_ratio * size ? most : 0;
        case ExpandAmount::equal_share: {
            // Shares are whole nodes: of what is left over, nobody gets more than one.
            const int share = state.equal_share();
            return sizes.largest(size + 1, std::min(most, size < share ? share : share + 1));
        }
    }
    return 0;
}

}  // namespace elastic::core::choices
