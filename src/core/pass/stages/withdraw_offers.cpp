// SPDX-License-Identifier: MIT
// Takes back offers whose nodes the queue needs.  [lina] knows no time between a decision and its
// taking effect; here an application may take a minute to accept a growth, and jobs go on arriving.
//
// Until it is accepted, an expansion is weighed again in each pass by the rule by which it was
// made: nobody else can use its nodes, and the job would have them.  The oldest offers are kept
// first, so the latest are withdrawn.
#include <algorithm>
#include <optional>
#include <vector>

#include "core/pass/stages/stages.hpp"

namespace elastic::core {
namespace {

// Why it is not to have them any more, whoever else could use them.
std::optional<Reason> objection(const SystemState& state, std::uint32_t running,
                                const Promise& offer) {
    const Snapshot& snapshot = state.snapshot();
    for (PoolId pool = 0; pool < state.pools(); ++pool) {
        if (offer.nodes[pool] == 0) continue;
        if (snapshot.pools[pool].failing) return Reason::leaves_failing;
        if (is_dear(snapshot.pools[pool], snapshot.running[running].elastic))
            return Reason::leaves_dear;
    }
    return std::nullopt;
}

void keep_or_withdraw(Schedule& schedule, const Promise& offer) {
    const std::uint32_t running = schedule.running().find(offer.job);
    if (running == schedule.snapshot().running.size()) return;  // it has ended
    if (const auto why = objection(schedule, running, offer)) return schedule.withdraw(offer, *why);
    if (schedule.may_grow(running, offer.nodes))
        schedule.keep(offer);
    else
        schedule.withdraw(offer, Reason::queue_needs_nodes);
}

}  // namespace

void withdraw_offers(Pass& pass) {
    Schedule& schedule = pass.schedule;
    if (schedule.snapshot().promises.empty()) return;
    std::vector<const Promise*> offers;
    for (const Promise& promise : schedule.snapshot().promises)
        if (promise.kind == ResizeKind::expand && promise.revocable) offers.push_back(&promise);
    std::sort(offers.begin(), offers.end(),
              [](const Promise* a, const Promise* b) { return a->op < b->op; });
    for (const Promise* offer : offers) keep_or_withdraw(schedule, *offer);
}

}  // namespace elastic::core
