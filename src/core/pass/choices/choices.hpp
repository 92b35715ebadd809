// SPDX-License-Identifier: MIT
// The places in which published policies differ, one function each.  A new choice is a new
// enumerator in policy.hpp, a row in policy.cpp and a case here; the stages do not change.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "core/model/rng.hpp"
#include "core/pass/state/system_state.hpp"

namespace elastic::core::choices {

// By which jobs are put in order: the smaller first; ties go to the smaller id.
using Rank = std::pair<double, double>;

// Initial size.  The size it is to start with, for which others wait if they must not delay it.
int initial_size(const SystemState&, const PendingJob&);
// With what it is content, now that `idle` nodes are there and it could stay on them; 0 if they are
// too few for it.
int initial_size(const SystemState&, const PendingJob&, int idle);
// What it starts with when others are shrunk for it: the size to be tried first, and the one it is
// content with.
int best_initial_size(const SystemState&, const PendingJob&);
int least_initial_size(const SystemState&, const PendingJob&);
// Whether it may get more than that from them; and by how much less time the job and one victim
// take together if it starts with more nodes and the victim keeps fewer.
struct Sizes {
    int job = 0, victim = 0;
};
bool may_start_larger(const SystemState&, const PendingJob&);
Duration net_saving(const JobTimes&, const PendingJob&, const RunningJob& victim, Sizes before,
                    Sizes after);
// Whether to shrink these is better than to let the job wait; `small`: it does not get all that it
// asks for.
bool is_start_beneficial(const SystemState&, const PendingJob&, int size, bool small,
                         const std::vector<Shrinkage>&);
// Whether a malleable job may start on fewer idle nodes than it asks for.
bool is_moldable(const Policy&);

// Backfill: whether jobs may start ahead of a blocked job at all, where that does not delay it; and
// whether each blocked job has a reservation or only the first of its pools.
bool may_overtake(const Policy&);
bool reserves_for_all(const Policy&);
// Backfill order: whether they are tried in the order of the queue.
bool backfills_in_order(const Policy&, const SnapshotIndex&);
// By the preferred size; no less for more nodes or more time.
double backfill_rank(const Policy&, int nodes, Duration);

// Shrink guard: whether any job is to be shrunk now ([lina] algorithms 5 to 7 differ in nothing
// else), and whether this one may be.
bool may_shrink(const SystemState&);
bool may_be_victim(const Policy&, const JobTimes&, const RunningJob&);

// Victim order.
Rank victim_rank(const Policy&, const JobTimes&, const RunningJob&, Rng&);

// Shrink amount: how many of the nodes that a victim could give are asked of it, `needed` being
// what the beneficiary still lacks.
int shrink_amount(const SystemState&, const RunningJob&, int needed, int shrinkable);
// What each victim keeps if all can give enough above it; if not, whether they are asked for more.
struct Floor {
    bool is_preferred = false;  // its preferred size
    double use = 0;             // this share of its range
};
bool has_first_floor(const Policy&);
Floor first_floor(const SystemState&, const std::vector<std::uint32_t>& victims, int needed);
int size_at(const Floor&, const RunningJob&);

// Starts on: whether a job that waits for victims may start on idle nodes that are nobody else's.
bool may_start_on_idle_nodes(const Policy&);

// Expand trigger: whether jobs are to be expanded now.
bool may_expand(const Policy&, const PendingJobs&);

// Expand order.
Rank expand_rank(const SystemState&, const RunningJob&);

// Expand amount: the size to which a job grows that could get up to `available` more nodes; 0 if it
// is to stay as it is.
int expanded_size(const SystemState&, const RunningJob&, int available);

// Expand from: whether jobs that start are expanded in the same pass.
bool expands_from_start(const Policy&);

// Reserved nodes: whether they are lent to malleable jobs, and whether it is worth to expand one
// for some time, until the first reservation, and to shrink it then.
bool lends_reserved_nodes(const Policy&);
bool is_worth_lending(const RunningJob&, int size_after, Duration time);

// Feasibility: whether a resize is worth its cost.  That of a victim; the size up to `size` to
// which an expansion is, 0 if to none; and whether `saved` seconds of the job for whom these are
// shrunk are worth what it costs them.
bool is_feasible(const Policy&, const JobTimes&, const RunningJob&, int size_after);
int feasible_expansion(const Policy&, const JobTimes&, const RunningJob&, int size);
bool is_worth_shrinking(const SystemState&, Duration saved, const std::vector<Shrinkage>&);
// Whether the pending job, which ends `saved` seconds sooner, is the better for it than all of them
// are the worse, by their slowdowns; and what is added to that of one.
bool improves_slowdown(const SystemState&, const PendingJob&, Duration saved,
                       const std::vector<Shrinkage>&);
double added_slowdown(const JobTimes&, const RunningJob&, int size_after);

// How much faster the job would be on twice its nodes: 2 if it scales perfectly, 1 or less if not
// at all.
double scalability(const RunningJob&);

// How much it has of the range between its minimum, 0, and its maximum, 1.
double range_use(const RunningJob&);

}  // namespace elastic::core::choices
