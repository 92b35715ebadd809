// SPDX-License-Identifier: MIT
// Budgets ([gupta] section I: "operate under power constraints"): so many nodes of some pools may
// be in use.  What of their idle nodes goes beyond is withheld from the whole pass, as if somebody
// held it for ever; so all later stages keep the budget without knowing of it.
//
// Of several pools, nodes are withheld where the queue wants them last: its head gets whatever the
// budget leaves.  If more nodes are in use than may be, malleable jobs are asked for them whatever
// the policy says of shrinking, in the order of its victims, and what comes free goes to nobody
// until there is room again.  What has been agreed on already counts as in use.
//
// Always holds: a plan uses no more nodes than the budget, or than were in use before.
#include <algorithm>
#include <numeric>

#include "core/pass/stages/stages.hpp"

namespace elastic::core {
namespace {

// In which order the queue wants the pools; those that it does not want have its length.
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

// Its nodes that are in use or promised: all but those that the profile has.
int in_use(const Outlook& outlook, const Budget& budget) {
    const Snapshot& snapshot = outlook.snapshot();
    int nodes = 0;
    for (PoolId pool : budget.pools)
        nodes += snapshot.pools[pool].idle - outlook.profile().free_now(pool) +
                 outlook.shared_nodes(pool);
    for (const RunningJob& job : snapshot.running)
        for (PoolId pool : budget.pools) nodes += job.held[pool];
    return nodes;
}

// What agreements in flight give up for nobody.
int on_the_way_out(const Snapshot& snapshot, const Budget& budget) {
    int nodes = 0;
    for (const Promise& promise : snapshot.promises)
        if (promise.kind == ResizeKind::shrink && promise.beneficiary == 0)
            for (PoolId pool : budget.pools) nodes += promise.nodes[pool];
    return nodes;
}

void withhold_idle(Books& books, const Budget& budget, int nodes,
                   const std::vector<std::size_t>& wanted) {
    Eligibility order = budget.pools;
    std::ranges::stable_sort(order, [&](PoolId a, PoolId b) { return wanted[a] > wanted[b]; });
    PoolCounts withheld(books.pools(), 0);
    choose(
        order, nodes, [&](PoolId pool) { return books.profile().free_now(pool); }, withheld);
    books.withhold(books.snapshot().now, withheld);
}

// What comes free first; nodes of which nobody knows when they will need nothing.
void withhold_coming(Books& books, const Budget& budget, int nodes) {
    PoolCounts withheld(books.pools(), 0);
    const auto when = books.profile().earliest(budget.pools, nodes, kNever, withheld);
    if (when) books.withhold(*when, withheld);
}

struct Candidate {
    choices::Rank rank;
    JobId id;
    std::uint32_t running;
    auto operator<=>(const Candidate&) const = default;
};

std::vector<Candidate> candidates(Pass& pass, const Budget& budget) {
    std::vector<Candidate> found;
    const Books& books = pass.books;
    const std::vector<RunningJob>& running = books.snapshot().running;
    for (std::uint32_t i = 0; i < running.size(); ++i)
        if (books.may_be_asked(i) && shrinkable(running[i], budget.pools) > 0)
            found.push_back({choices::victim_rank(books, running[i], *pass.rng), running[i].id, i});
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

void keep_within_budgets(Pass& pass) {
    Books& books = pass.books;
    const Snapshot& snapshot = books.snapshot();
    pass.excess.clear();
    if (snapshot.budgets.empty()) return;
    const std::vector<std::size_t> wanted = first_wanted(snapshot);
    for (const Budget& budget : snapshot.budgets)
        pass.excess.push_back(in_use(books, budget) - budget.most);
    for (std::size_t i = 0; i < snapshot.budgets.size(); ++i) {
        const Budget& budget = snapshot.budgets[i];
        int idle = 0;
        for (PoolId pool : budget.pools) idle += books.profile().free_now(pool);
        const int room = std::max(0, -pass.excess[i]);
        if (idle > room) withhold_idle(books, budget, idle - room, wanted);
    }
}

void shrink_for_budgets(Pass& pass) {
    Books& books = pass.books;
    for (std::size_t i = 0; i < pass.excess.size(); ++i) {
        const Budget& budget = books.snapshot().budgets[i];
        int left = pass.excess[i] - on_the_way_out(books.snapshot(), budget) -
                   given_up_by(books.plan(), budget);
        if (left > 0)
            for (const Candidate& one : candidates(pass, budget)) {
                if (left <= 0) break;
                const RunningJob& job = books.snapshot().running[one.running];
                const int amount = std::min(left, shrinkable(job, budget.pools));
                const Shrinkage part =
                    allocate_resource(books, one.running, budget.pools, amount, 0);
                books.leave(part, Reason::over_budget);
                left -= in_pools(part.nodes, budget.pools);
            }
        if (pass.excess[i] > 0) withhold_coming(books, budget, pass.excess[i]);
    }
}

}  // namespace elastic::core
