// SPDX-License-Identifier: MIT
// The stages of a planning pass: those of [lina] algorithm 1, and some of ours.  Each has a file of
// its name, and takes the schedule as the stage before it left it.
#pragma once

#include <tuple>
#include <vector>

#include "core/model/rng.hpp"
#include "core/pass/choices/choices.hpp"
#include "core/pass/stages/claims.hpp"
#include "core/pass/stages/failures.hpp"
#include "core/pass/stages/queue_front.hpp"
#include "core/pass/stages/victims.hpp"
#include "core/pass/state/schedule.hpp"

namespace elastic::core {

// A job as it will run, and what starts it: an index into Plan::actions.
struct Starting {
    RunningJob job;
    std::size_t action = 0;
};

// What the stages share; kept between passes for its memory.
struct Pass {
    Schedule schedule;
    Rng* rng = nullptr;
    bool only_starts = false;  // reservations matter to nobody but who starts now
    Claims claims;
    QueueFront front;
    Victims victims;
    Victims preemptible;  // of one preemptor at a time
    Failures failures;
    std::vector<int> excess;  // by budget: nodes in use beyond it
    // Scratch.
    std::vector<QueueIndex::Part> parts;
    std::vector<std::tuple<choices::Rank, JobId, std::uint32_t>> expandable;
    std::vector<Starting> starting;
};

// In the order in which planner.cpp calls them (doc/architecture.md says what each does); beside
// them what [lina] calls the same.
void book_agreements(Pass&);
void keep_within_budgets(Pass&);
void plan_later_steps(Pass&);
void leave_nodes(Pass&);
void shrink_for_budgets(Pass&);
void book_planned_starts(Pass&);
void evolving_requests(Pass&);    // [lina] algorithm 2, SatisfyEvolvingRequest
void initial_allocation(Pass&);   // [lina] algorithm 3, InitialAllocation
void preempt_for_pending(Pass&);  // those at which initial_allocation had no look
void shrink_for_pending(Pass&);   // [lina] algorithm 4, SchedulePendingJob
void withdraw_offers(Pass&);
void expand_running(Pass&);  // [lina] algorithm 1, ExpandRunningMalleableJobs

// Starts a pending job on idle nodes (or on partly used ones, if it can share) where that delays no
// reservation.  False if it cannot start.
bool start_on_idle_nodes(Pass&, std::uint32_t pending);

// Starts a pending job on nodes of victims whom the policy has shrink, and on idle ones.  False if
// it cannot start.
bool start_by_shrinking(Pass&, std::uint32_t pending);

// Starts a pending job on nodes for which it may end running jobs (Snapshot::preemptors), by
// shrinking malleable ones of these, else whom the policy has shrink.  Where that is not to be had,
// ends them if that is for the plan to do; the job then still waits.  False if it does.
bool start_by_preemption(Pass&, std::uint32_t pending);

}  // namespace elastic::core
