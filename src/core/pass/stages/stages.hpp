// SPDX-License-Identifier: MIT
// The stages of [lina] algorithm 1, in the order in which a pass runs them.
// Each takes the books as the one before it left them.
#pragma once

#include <tuple>
#include <vector>

#include "core/model/rng.hpp"
#include "core/pass/choices/choices.hpp"
#include "core/pass/stages/claims.hpp"
#include "core/pass/stages/failures.hpp"
#include "core/pass/stages/queue_front.hpp"
#include "core/pass/stages/victims.hpp"
#include "core/pass/state/books.hpp"

namespace elastic::core {

// A job as it will run, and what starts it: an index into Plan::actions.
struct Starting {
    RunningJob job;
    std::size_t action = 0;
};

// What the stages share; kept between passes for its memory.
struct Pass {
    Books books;
    Rng* rng = nullptr;
    bool only_starts = false;  // reservations matter to nobody but who starts now
    Claims claims;
    QueueFront front;
    Victims victims;
    Failures failures;
    std::vector<int> excess;  // by budget: nodes in use beyond it
    // Scratch.
    std::vector<QueueIndex::Part> parts;
    std::vector<std::tuple<choices::Rank, JobId, std::uint32_t>> expandable;
    std::vector<Starting> starting;
};

void book_agreements_in_flight(Pass&);  // before the paper's: see claims.cpp
void keep_within_budgets(Pass&);        // not in the paper either, as the next two
void leave_nodes(Pass&);
void shrink_for_budgets(Pass&);
void satisfy_evolving_requests(Pass&);  // algorithm 2
void initial_allocation(Pass&);         // algorithm 3
void schedule_pending_jobs(Pass&);      // algorithm 4
void withdraw_offers(Pass&);            // not in the paper: see there
void expand_running_malleable_jobs(Pass&);

// Starts a pending job on idle nodes (or on partly used ones, if it can share)
// where that delays no reservation.  False if it cannot start.
bool start_on_idle_nodes(Pass&, std::uint32_t pending);

}  // namespace elastic::core
