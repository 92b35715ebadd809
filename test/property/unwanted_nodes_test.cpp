// SPDX-License-Identifier: MIT
// What holds for every plan where nodes fail, have a price or are more than may be used ([gupta]
// section VII), on random snapshots under every preset.
#include <algorithm>
#include <map>

#include "core/model/departure.hpp"
#include "random_snapshot.hpp"
#include "testing.hpp"

using namespace elastic;
using namespace elastic::core;
using namespace elastic::testing;

namespace {

#define holds(condition, c) \
    ck_assert_msg(condition, "%s does not hold for\n%s", #condition, (c).text().c_str())

struct Case {
    Snapshot snapshot;
    std::vector<Action> actions;
    std::map<JobId, const RunningJob*> running;

    Case(Snapshot s, const Policy& policy) : snapshot(std::move(s)) {
        Planner planner;
        Rng rng(1);
        actions = planner.plan(snapshot, policy, rng).actions;
        for (const RunningJob& job : snapshot.running) running[job.id] = &job;
    }
    Case(const Case&) = delete;

    std::string text() const {
        Plan plan;
        plan.actions = actions;
        return to_json(snapshot).dump() + "\n" + to_json(plan).dump();
    }
};

// Only jobs have nodes of it, and nobody gets any.
void let_fail(Snapshot& snapshot, PoolId pool) {
    snapshot.pools[pool].failing = true;
    snapshot.pools[pool].nodes -= snapshot.pools[pool].idle;
    snapshot.pools[pool].idle = 0;
    for (Eligibility& eligible : snapshot.eligibilities) std::erase(eligible, pool);
}

void add_terms(Snapshot& snapshot, RandomSnapshot& random) {
    const int pools = static_cast<int>(snapshot.pools.size());
    for (Pool& pool : snapshot.pools)
        if (random.chance(40)) pool.price = random.between(1, 3);
    const auto set_price = [&](Sizing& elastic) {
        if (elastic.malleable && random.chance(60)) elastic.price = random.between(0, 3);
    };
    for (RunningJob& job : snapshot.running) set_price(job.elastic);
    for (PendingJob& job : snapshot.pending) set_price(job.elastic);
    for (int i = random.between(0, 2); i > 0; --i) {
        Budget& budget = snapshot.budgets.emplace_back();
        budget.most = random.between(0, 25);
        for (int pool = 0; pool < pools; ++pool)
            if (random.chance(70)) budget.pools.push_back(static_cast<PoolId>(pool));
    }
    apply_prices(snapshot);
}

// Nothing in flight, so that what is in use is what is held.
void forget_agreements(Snapshot& snapshot) {
    snapshot.promises.clear();
    snapshot.claims.clear();
    for (PendingJob& job : snapshot.pending) job.claimed = false;
}

template <class Check>
void for_random_cases(std::uint64_t standard_seed, bool agreements, Check check) {
    constexpr int kCases = 4000;
    Rng rng(seed(standard_seed));
    for (int i = 0; i < kCases; ++i) {
        RandomSnapshot random(rng);
        Snapshot snapshot = random.anything();
        if (!agreements) forget_agreements(snapshot);
        if (!agreements && snapshot.pools.size() > 1 && random.chance(50))
            let_fail(snapshot,
                     static_cast<PoolId>(random.between(0, std::ssize(snapshot.pools) - 1)));
        add_terms(snapshot, random);
        check_ok(validate(snapshot));
        check(Case(snapshot, *preset(preset_names()[i % preset_names().size()])));
    }
}

int in_pools(const PoolCounts& nodes, const std::vector<PoolId>& pools) {
    int sum = 0;
    for (const PoolId pool : pools) sum += nodes[pool];
    return sum;
}

// The nodes that actions take from the idle ones; the rest comes from victims.
PoolCounts taken(const Case& c) {
    PoolCounts nodes(c.snapshot.pools.size(), 0);
    for (const Action& action : c.actions) {
        if (action.kind != ActionKind::start && action.kind != ActionKind::expand) continue;
        PoolCounts own = action.nodes;
        for (const Action& other : c.actions)
            if (other.kind == ActionKind::shrink && other.beneficiary == action.job)
                own = difference(own, other.nodes);
        for (std::size_t pool = 0; pool < own.size(); ++pool) nodes[pool] += std::max(0, own[pool]);
    }
    return nodes;
}

int used(const Snapshot& snapshot, const Budget& budget) {
    int nodes = 0;
    for (const RunningJob& job : snapshot.running) nodes += in_pools(job.held, budget.pools);
    for (const SharedNodes& shared : snapshot.shared_until)
        if (std::ranges::find(budget.pools, shared.pool) != budget.pools.end())
            nodes += shared.nodes;
    return nodes;
}

bool is_wanted(const Case& c, const Sizing& elastic, const PoolCounts& nodes) {
    for (PoolId pool = 0; pool < nodes.size(); ++pool) {
        const Pool& there = c.snapshot.pools[pool];
        if (nodes[pool] > 0 && (there.failing || is_dear(there, elastic))) return false;
    }
    return true;
}

}  // namespace

TEST(nobody_gets_nodes_that_fail_or_are_too_dear_for_it) {
    for (const bool agreements : {false, true})
        for_random_cases(41, agreements, [](const Case& c) {
            for (const Action& action : c.actions) {
                if (action.kind == ActionKind::start)
                    holds(is_wanted(c, c.snapshot.pending[action.place].elastic, action.nodes), c);
                if (action.kind == ActionKind::expand)
                    holds(is_wanted(c, c.running.at(action.job)->elastic, action.nodes), c);
            }
        });
}

TEST(no_plan_takes_more_idle_nodes_than_a_budget_leaves) {
    for_random_cases(42, false, [](const Case& c) {
        const PoolCounts more = taken(c);
        for (const Budget& budget : c.snapshot.budgets)
            holds(
                in_pools(more, budget.pools) <= std::max(0, budget.most - used(c.snapshot, budget)),
                c);
    });
}

TEST(who_leaves_nodes_stays_within_its_range_and_with_its_batch_script) {
    for_random_cases(43, true, [](const Case& c) {
        std::map<JobId, int> resizes;
        for (const Action& action : c.actions) {
            if (action.kind != ActionKind::shrink) continue;
            const RunningJob& job = *c.running.at(action.job);
            holds(++resizes[action.job] == 1, c);
            holds(job.elastic.malleable && job.resizable && job.not_before <= c.snapshot.now, c);
            holds(job.elastic.allows(action.size_after), c);
            holds(action.size_after == total(job.held) - total(action.nodes), c);
            for (PoolId pool = 0; pool < action.nodes.size(); ++pool)
                holds(action.nodes[pool] <= job.held[pool] - (pool == job.batch_host_pool), c);
        }
    });
}

// Whoever can leave does, or gets other nodes first; or it has no size that it could have.
TEST(nobody_above_its_minimum_stays_on_a_failing_node) {
    for_random_cases(44, false, [](const Case& c) {
        for (const RunningJob& job : c.snapshot.running) {
            int leaving = 0;
            for (PoolId pool = 0; pool < job.held.size(); ++pool)
                if (c.snapshot.pools[pool].failing)
                    leaving += job.held[pool] - (pool == job.batch_host_pool);
            const int size = total(job.held);
            const bool asks = std::ranges::any_of(
                c.snapshot.requests, [&](const auto& request) { return request.job == job.id; });
            if (leaving < 1 || !job.elastic.malleable || !job.resizable || asks ||
                job.not_before > c.snapshot.now ||
                job.elastic.sizes.smallest(job.elastic.min, size - 1) == 0)
                continue;
            const bool moves = std::ranges::any_of(c.actions, [&](const Action& action) {
                return action.job == job.id &&
                       (action.kind == ActionKind::shrink || action.kind == ActionKind::expand);
            });
            // With a smaller size it could leave some, unless only more nodes let it leave at all.
            holds(moves || next_departure(job.elastic, size, leaving).grow > 0, c);
        }
    });
}
