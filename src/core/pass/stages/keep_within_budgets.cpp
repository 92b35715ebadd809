// SPDX-License-Identifier: MIT
// Budgets ([gupta] section I: "operate under power constraints"): so many nodes of some pools may
// be in use.  The idle nodes beyond a budget are withheld from the whole pass, as if somebody held
// them for ever; so all later stages keep the budget without knowing of it.
//
// Of several pools, nodes are withheld where the queue wants them last: its head gets whatever the
// budget leaves.  What has been agreed on already counts as in use, steps that are still to come do
// not.
//
// Always holds: a plan uses no more nodes than the budget, or than were in use before.
#include <algorithm>

#include "core/pass/stages/stages.hpp"

namespace elastic::core {
namespace {

// For each pool the place of the first job in the queue that wants it; the queue's length if none
// does.
std::vector<std::size_t> first_wanted(const Snapshot& snapshot) {
    const std::size_t nowhere = snapshot.pending.size();
    std::vector<std::size_t> place(snapshot.pools.size(), nowhere);
    std::vector<bool> seen(snapshot.eligibilities.size(), false);
    for (std::size_t i = 0; i < nowhere; ++i) {
        const EligibilityId id = snapshot.pending[i].eligible;
        if (seen[id]) continue;
        seen[id] = true;
        for (PoolId pool : snapshot.eligibilities[id]) place[pool] = std::min(place[pool], i);
    }
    return place;
}

// Its nodes that are in use or promised: all that the availability profile lacks.
int in_use(const SystemState& state, const Budget& budget) {
    const Snapshot& snapshot = state.snapshot();
    int nodes = 0;
    for (PoolId pool : budget.pools)
        nodes += snapshot.pools[pool].idle - state.availability().free_now(pool) +
                 state.nodes().shared(pool);
    for (const RunningJob& job : snapshot.running)
        for (PoolId pool : budget.pools) nodes += job.held[pool];
    return nodes;
}

void withhold_idle(Schedule& schedule, const Budget& budget, int nodes,
                   const std::vector<std::size_t>& wanted) {
    Eligibility order = budget.pools;
    std::ranges::stable_sort(order, [&](PoolId a, PoolId b) { return wanted[a] > wanted[b]; });
    PoolCounts withheld(schedule.pools(), 0);
    choose(
        order, nodes, [&](PoolId pool) { return schedule.availability().free_now(pool); },
        withheld);
    schedule.withhold(schedule.snapshot().now, kNever, withheld);
}

}  // namespace

void keep_within_budgets(Pass& pass) {
    Schedule& schedule = pass.schedule;
    const Snapshot& snapshot = schedule.snapshot();
    pass.excess.clear();
    if (snapshot.budgets.empty()) return;
    const std::vector<std::size_t> wanted = first_wanted(snapshot);
    for (const Budget& budget : snapshot.budgets)
        pass.excess.push_back(in_use(schedule, budget) - budget.most);
    for (std::size_t i = 0; i < snapshot.budgets.size(); ++i) {
        const Budget& budget = snapshot.budgets[i];
        int idle = 0;
        for (PoolId pool : budget.pools) idle += schedule.availability().free_now(pool);
        const int room = std::max(0, -pass.excess[i]);
        if (idle > room) withhold_idle(schedule, budget, idle - room, wanted);
    }
}

}  // namespace elastic::core
