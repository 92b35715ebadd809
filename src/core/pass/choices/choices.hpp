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

// Objective: how far turnaround counts, and how far slowdown; and to how many nodes at most a job
// of the system is to grow by it.
double turnaround_counts(const Policy&);
double slowdown_counts(const Policy&);
int most_nodes(const Policy&, const Sizing&);

// Initial size.  The size that the job is to start with, which is also that of its reservation.
int initial_size(const SystemState&, const PendingJob&);
// The size with which the job is content where `idle` nodes are there that it could stay on; 0 if
// they are too few for it.
int initial_size(const SystemState&, const PendingJob&, int idle);
// The size that the job starts with when others are shrunk for it: the one to be tried first, and
// the least.
int best_initial_size(const SystemState&, const PendingJob&);
int least_initial_size(const SystemState&, const PendingJob&);
// Whether shrinks of others may bring the job more than that; and how much less time the job and
// one victim take together if the job starts with more nodes and the victim keeps fewer.
struct Sizes {
    int job = 0, victim = 0;
};
bool may_start_larger(const SystemState&, const PendingJob&);
Duration net_saving(const JobTimes&, const PendingJob&, const RunningJob& victim, Sizes before,
                    Sizes after);
// By how many nodes more a job may start, so, that would start with `size`.
int room_at_start(const Policy&, const PendingJob&, int size);
// Whether to shrink these victims is better than to let the job wait; `small`: the job does not get
// all nodes that it asks for.
bool is_start_beneficial(const SystemState&, const PendingJob&, int size, bool small,
                         const std::vector<Shrinkage>&);
// Whether a malleable job may start on fewer idle nodes than it asks for.
bool is_moldable(const Policy&);

// Backfill: whether jobs may start ahead of a blocked job at all, where that does not delay it;
// whether blocked jobs have reservations; and whether each of them or only the first of its pools.
bool may_overtake(const Policy&);
bool reserves(const Policy&);
bool reserves_for_all(const Policy&);
// Backfill order: whether jobs behind a blocked one are tried in the order of the queue.
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
// Whether every victim is asked, each as if it were the only one.
bool asks_every_victim(const Policy&);
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

// Reserved nodes: whether they are lent to malleable jobs; whether the waiting job is sure to get
// such nodes back; and whether it is worth it to expand a malleable job until the first reservation
// begins and to shrink it then.
bool lends_reserved_nodes(const Policy&);
bool are_sure_to_come_back(const Policy&);
bool is_worth_lending(const RunningJob&, int size_after, Duration time);

// Feasibility: whether the shrink of a victim is worth its cost; to which size, up to `size`, an
// expansion is, 0 if to none; and whether `saved` seconds of the beneficiary are worth what the
// shrinks cost its victims.
bool is_feasible(const Policy&, const JobTimes&, const RunningJob&, int size_after);
int feasible_expansion(const Policy&, const JobTimes&, const RunningJob&, int size);
bool is_worth_shrinking(const SystemState&, Duration saved, const std::vector<Shrinkage>&);
// Whether the slowdown of the pending job, which ends `saved` seconds sooner, falls by more than
// those of all victims rise together; and by how much the slowdown of one victim rises.
bool improves_slowdown(const SystemState&, const PendingJob&, Duration saved,
                       const std::vector<Shrinkage>&);
double added_slowdown(const JobTimes&, const RunningJob&, int size_after);

// How much faster the job would be on twice its nodes: 2 if it scales perfectly, 1 or less if not
// at all.
double scalability(const RunningJob&);

// Where the job's size lies between its minimum, 0, and its maximum, 1.
double range_use(const RunningJob&);

}  // namespace elastic::core::choices
