// SPDX-License-Identifier: MIT
// The main scheduling algorithm, [lina] algorithm 1, from evolving_requests on.  Its lines 9 to 14,
// the carrying out of agreements, are for whoever asked for the plan.  The stages before it say
// which nodes are spoken for or not to be used ([gupta] section VII): they are no choice of a
// policy.
#include "core/pass/planner.hpp"

#include "core/pass/stages/stages.hpp"

namespace elastic::core {

struct Planner::Scratch {
    Pass pass;
    SnapshotIndex index;
};

Planner::Planner(Detail detail) : scratch_(std::make_unique<Scratch>()), detail_(detail) {}
Planner::~Planner() = default;

const Plan& Planner::plan(const Snapshot& snapshot, const Policy& policy, Rng& rng) {
    scratch_->index.load(snapshot);
    return pass(snapshot, scratch_->index, policy, rng);
}

const Plan& Planner::plan(const Cluster& cluster, const Policy& policy, Rng& rng) {
    return pass(cluster.snapshot(), cluster.index(), policy, rng);
}

const Plan& Planner::pass(const Snapshot& snapshot, const SnapshotIndex& index,
                          const Policy& policy, Rng& rng) {
    Pass& pass = scratch_->pass;
    pass.schedule.begin(snapshot, index, policy);
    pass.rng = &rng;
    pass.only_starts = detail_ == Detail::needed && !policy.resizes() &&
                       policy.head_delay >= kNever && snapshot.preemptors.empty();
    pass.victims.begin();
    book_agreements(pass);
    keep_within_budgets(pass);
    plan_later_steps(pass);
    leave_nodes(pass);
    shrink_for_budgets(pass);
    book_planned_starts(pass);
    evolving_requests(pass);
    initial_allocation(pass);
    preempt_for_pending(pass);
    shrink_for_pending(pass);
    withdraw_offers(pass);
    if (detail_ == Detail::all) pass.schedule.note_spare(ActionKind::start);
    expand_running(pass);
    if (detail_ == Detail::all) pass.schedule.note_spare(ActionKind::expand);
    pass.schedule.announce_reservations();
    return pass.schedule.finish();
}

}  // namespace elastic::core
