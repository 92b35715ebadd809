// SPDX-License-Identifier: MIT
// Objective: what the policy weighs starts by, from turnaround, 0, to slowdown, 1.
//
// A grown job makes its own turnaround short, and its nodes hard to have for others: the first of
// the queue has been promised a start that counts on its early end, so it may not be shrunk for the
// many short jobs behind, whose slowdowns are large for small waits.  And a large start at others'
// expense saves much time, but little of the slowdown of a long job.  So the further the objective
// is on the side of slowdown, the less jobs grow beyond their preferred sizes; the more idle nodes
// it takes for them to start on fewer than they ask for, and the smaller they start at others'
// expense (by_objective and room_at_start in initial_size.cpp); and the more of what a start by
// shrinking adds to the victims' slowdowns counts against what it saves of the job's own, in place
// of the times themselves.  All of that is [sd]'s at 1, and nothing of it at 0.  Where it might
// refuse a shrink, reserved nodes are not lent.
#include "core/pass/choices/choices.hpp"

namespace elastic::core::choices {

double turnaround_counts(const Policy& policy) {
    return 1 - policy.objective;
}

// Whoever says so by its feasibility is all for slowdown.
double slowdown_counts(const Policy& policy) {
    return policy.feasibility == Feasibility::slowdown ? 1 : policy.objective;
}

int most_nodes(const Policy& policy, const Sizing& elastic) {
    if (policy.objective == 0) return elastic.max;
    const double more = turnaround_counts(policy) * (elastic.max - elastic.pref);
    return elastic.pref + static_cast<int>(more);
}

}  // namespace elastic::core::choices
