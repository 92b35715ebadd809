// SPDX-License-Identifier: MIT
// The places in which published policies differ, one function each.  A new
// choice is a new enumerator in policy.hpp, a row in policy.cpp and a case here;
// the stages do not change.
#pragma once

#include "core/system_state.hpp"

namespace elastic::core::choices {

// Initial size: the nodes a pending job starts with when they are idle.
int initial_size(const Policy&, const PendingJob&);

// [lina] algorithm 4, lines 2-3: what it starts with when others are shrunk for
// it: a malleable job with its minimum.
int least_initial_size(const Policy&, const PendingJob&);

// Backfill: whether jobs may start ahead of a blocked job at all, where that
// does not delay it.
bool may_overtake(const Policy&);

// Shrink guard: whether any job is to be shrunk in this pass ([lina] algorithms
// 5 to 7 differ in nothing else).
bool may_shrink(const SystemState&);

// Victim order: whether a is to be shrunk before b.
bool is_better_victim(const Policy&, const RunningJob& a, const RunningJob& b);

// Shrink amount: how many of the nodes that a victim could give are asked of it,
// `needed` being what the beneficiary still lacks.
int shrink_amount(const Policy&, int needed, int shrinkable);

// Expand trigger: whether jobs are to be expanded in this pass.
bool may_expand(const SystemState&);

// Expand order: whether a is to be expanded before b.
bool expands_before(const Policy&, const RunningJob& a, const RunningJob& b);

// Expand amount: the size to which a job grows that could get up to `available`
// more nodes; 0 if it is to stay as it is.
int expanded_size(const Policy&, const RunningJob&, int available);

// Resize gap, [gupta] T_gap: the job's own, else the policy's.
bool resize_gap_is_over(const Policy&, const RunningJob&, Time now);

}  // namespace elastic::core::choices
