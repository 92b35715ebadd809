// SPDX-License-Identifier: MIT
// Reserved nodes.  They may only be lent where they are sure to come back: where any malleable job
// is shrunk as soon as the reserved job can start by it, as far as that takes.  A guard, an amount
// or a feasibility that might refuse that keeps them; but where it is refused because it would not
// pay (payback), the reserved job loses less by waiting than that.
//
// A loan ends, so it has to pay for two resizes until then.
#include "core/model/speedup.hpp"
#include "core/pass/choices/choices.hpp"

namespace elastic::core::choices {

bool lends_reserved_nodes(const Policy& policy) {
    return policy.reserved_nodes == ReservedNodes::lent && are_sure_to_come_back(policy);
}

bool are_sure_to_come_back(const Policy& policy) {
    return policy.shrink_guard == ShrinkGuard::by_default &&
           policy.shrink_amount == ShrinkAmount::needed &&
           policy.shrink_for == ShrinkFor::starter &&
           policy.shrink_again == ShrinkAgain::next_round &&
           policy.feasibility != Feasibility::mebf && slowdown_counts(policy) == 0;
}

bool is_worth_lending(const RunningJob& job, int size_after, Duration time) {
    const int size = total(job.held);
    const Duration saved = time - rescale(time, size, size_after, job.elastic);
    return saved > job.elastic.cost.there_and_back(size, size_after);
}

}  // namespace elastic::core::choices
