// SPDX-License-Identifier: MIT
// Takes back offers whose nodes the queue needs.  [lina] knows no time between
// a decision and its taking effect; here an application may take a minute to
// accept a growth, and jobs go on arriving.
//
// Until it is accepted, an expansion is weighed again in each pass by the rule
// by which it was made: nobody else can use its nodes, and the job would have them.  The oldest
// offers are kept first, so the latest are withdrawn.
//
// Which nodes a job can use that has no room yet (PendingJob::not_before) is not known, so its
// reservation binds starts only.  From here on, where nodes are given that come back when somebody
// can start on them, it would keep idle nodes from everybody, or take them back in vain.
#include <algorithm>
#include <optional>
#include <vector>

#include "core/pass/choices/choices.hpp"
#include "core/pass/stages/stages.hpp"

namespace elastic::core {
namespace {

// Why it is not to have them any more, whoever else could use them.
std::optional<Reason> objection(const Outlook& outlook, std::uint32_t running,
                                const Promise& offer) {
    const Snapshot& snapshot = outlook.snapshot();
    for (PoolId pool = 0; pool < outlook.pools(); ++pool) {
        if (offer.nodes[pool] == 0) continue;
        if (snapshot.pools[pool].failing) return Reason::leaves_failing;
        if (is_dear(snapshot.pools[pool], snapshot.running[running].elastic))
            return Reason::leaves_dear;
    }
    return std::nullopt;
}

void keep_or_withdraw(Books& books, const Promise& offer) {
    const std::uint32_t running = books.find_running(offer.job);
    if (running == books.snapshot().running.size()) return;  // it has ended
    if (const auto why = objection(books, running, offer)) return books.withdraw(offer, *why);
    if (books.may_grow(running, offer.nodes))
        books.keep(offer);
    else
        books.withdraw(offer, Reason::queue_needs_nodes);
}

}  // namespace

void withdraw_offers(Pass& pass) {
    Books& books = pass.books;
    if (choices::are_sure_to_come_back(books.policy())) books.release_deferred();
    if (books.snapshot().promises.empty()) return;
    std::vector<const Promise*> offers;
    for (const Promise& promise : books.snapshot().promises)
        if (promise.kind == ResizeKind::expand && promise.revocable) offers.push_back(&promise);
    std::sort(offers.begin(), offers.end(),
              [](const Promise* a, const Promise* b) { return a->op < b->op; });
    for (const Promise* offer : offers) keep_or_withdraw(books, *offer);
}

}  // namespace elastic::core
