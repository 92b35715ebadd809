// SPDX-License-Identifier: MIT
// Expand trigger, order and amount as [lina] has them: over the nodes that
// remain when the queue has had its turn, the job with the longest remaining
// time first, each to its maximum.
#include <algorithm>
#include <tuple>

#include "core/choices/choices.hpp"

namespace elastic::core::choices {

bool may_expand(const SystemState& state) {
    switch (state.policy().expand_trigger) {
        case ExpandTrigger::never:
            return false;
        case ExpandTrigger::nobody_can_use:
            return true;
    }
    return false;
}

bool expands_before(const Policy& policy, const RunningJob& a, const RunningJob& b) {
    switch (policy.expand_order) {
        case ExpandOrder::longest_remaining:
            return std::tuple(-a.estimated_end, a.id) < std::tuple(-b.estimated_end, b.id);
    }
    return a.id < b.id;
}

int expanded_size(const Policy& policy, const RunningJob& job, int available) {
    const int size = total(job.held);
    switch (policy.expand_amount) {
        case ExpandAmount::to_max:
            return job.elastic.sizes.largest(size + 1, std::min(job.elastic.max, size + available));
    }
    return 0;
}

}  // namespace elastic::core::choices
