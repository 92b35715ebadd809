// SPDX-License-Identifier: MIT
// Where more nodes are in use than a budget allows (keep_within_budgets.cpp), malleable jobs are
// asked for them whatever the policy says of shrinking, in the order of its victims, and what comes
// free goes to nobody until there is room again.
#include <algorithm>
#include <numeric>

#include "core/pass/stages/stages.hpp"

namespace elastic::core {
namespace {

// What agreements in flight give up for nobody.
int on_the_way_out(const Snapshot& snapshot, const Budget& budget) {
    int nodes = 0;
    for (const Promise& promise : snapshot.promises)
        if (promise.kind == ResizeKind::shrink && promise.beneficiary == 0)
            for (PoolId pool : budget.pools) nodes += promise.nodes[pool];
    return nodes;
}

// What comes free first; nodes of which nobody knows when they will need nothing.
void withhold_coming(Schedule& schedule, const Budget& budget, int nodes) {
    PoolCounts withheld(schedule.pools(), 0);
    const auto when = schedule.availability().earliest(budget.pools, nodes, kNever, withheld);
    if (when) schedule.withhold(*when, kNever, withheld);
}

struct Candidate {
    choices::Rank rank;
    JobId id;
    std::uint32_t running;
    auto operator<=>(const Candidate&) const = default;
};

std::vector<Candidate> candidates(Pass& pass, const Budget& budget) {
    std::vector<Candidate> found;
    const Schedule& schedule = pass.schedule;
    const std::vector<RunningJob>& running = schedule.snapshot().running;
    for (std::uint32_t i = 0; i < running.size(); ++i)
        if (schedule.running().may_be_asked(i) && shrinkable(running[i], budget.pools) > 0)
            found.push_back(
                {choices::victim_rank(schedule.policy(), schedule.times(), running[i], *pass.rng),
                 running[i].id, i});
    std::ranges::sort(found);
    return found;
}

int in_pools(const PoolCounts& nodes, const std::vector<PoolId>& pools) {
    return std::accumulate(pools.begin(), pools.end(), 0,
                           [&](int sum, PoolId pool) { return sum + nodes[pool]; });
}

// What this plan has shrinks for already counts.
int given_up_by(const Plan& plan, const Budget& budget) {
    int nodes = 0;
    for (const Action& action : plan.actions)
        if (action.kind == ActionKind::shrink) nodes += in_pools(action.nodes, budget.pools);
    return nodes;
}

}  // namespace

void shrink_for_budgets(Pass& pass) {
    Schedule& schedule = pass.schedule;
    for (std::size_t i = 0; i < pass.excess.size(); ++i) {
        const Budget& budget = schedule.snapshot().budgets[i];
        int left = pass.excess[i] - on_the_way_out(schedule.snapshot(), budget) -
                   given_up_by(schedule.plan(), budget);
        if (left > 0)
            for (const Candidate& one : candidates(pass, budget)) {
                if (left <= 0) break;
                const RunningJob& job = schedule.snapshot().running[one.running];
                const int amount = std::min(left, shrinkable(job, budget.pools));
                const Shrinkage part =
                    allocate_resource(schedule, one.running, budget.pools, amount, 0);
                schedule.leave(part, Reason::over_budget);
                left -= in_pools(part.nodes, budget.pools);
            }
        if (pass.excess[i] > 0) withhold_coming(schedule, budget, pass.excess[i]);
    }
}

}  // namespace elastic::core
