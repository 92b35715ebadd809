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

// The size up to `high` with which the job ends first, the resize's cost counted; its own if no
// resize is worth that.  In every model of run time and cost the end comes earlier up to one size
// and later behind it; only the first step, with what any resize costs, may be for the worse.
int fastest_size(const SystemState& state, const RunningJob& job, int high) {
    const int size = total(job.held);
    int low = size + 1;
    while (low < high) {
        const int middle = low + (high - low) / 2;
        if (state.end_after_resize(job, middle + 1) < state.end_after_resize(job, middle))
            low = middle + 1;
        else
            high = middle;
    }
    return state.end_after_resize(job, low) < state.end_of(job) ? low : size;
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
            return most > size ? sizes.largest(size + 1, fastest_size(state, job, most)) : 0;
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
