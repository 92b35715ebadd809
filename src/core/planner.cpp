// SPDX-License-Identifier: MIT
// The main scheduling algorithm, [lina] algorithm 1.  Its lines 9 to 14, the
// carrying out of agreements, are for whoever asked for the plan.
#include "core/planner.hpp"

#include "core/stages/stages.hpp"

namespace elastic::core {

struct Planner::Scratch : Pass {};

Planner::Planner() : scratch_(std::make_unique<Scratch>()) {}
Planner::~Planner() = default;

const Plan& Planner::plan(const Snapshot& snapshot, const Policy& policy, Rng& rng) {
    Pass& pass = *scratch_;
    pass.state.begin(snapshot, policy, rng);
    pass.victims.begin(pass.state);
    satisfy_evolving_requests(pass);
    initial_allocation(pass);
    schedule_pending_jobs(pass);
    withdraw_offers(pass);
    expand_running_malleable_jobs(pass);
    pass.state.announce_reservations();
    return pass.state.finish();
}

}  // namespace elastic::core
