// SPDX-License-Identifier: MIT
// A trade ([wagomu] steal) is between two claimed jobs, of which each still waits for a victim: one
// starts, on nodes that are there for the other, and this gets as many of the same pools that the
// first one's victims have agreed to leave.  So each has what it was promised, and by pool and end
// the availability profile stays as it is.
//
// Always holds: a job leaves its nodes to another at most once while it waits, and only for nodes
// that an application has agreed to leave by a deadline.  So nobody waits for ever because of
// others that always come first.
#include "core/pass/stages/claims.hpp"

#include <algorithm>
#include <functional>
#include <ranges>

#include "core/pass/choices/choices.hpp"

namespace elastic::core {

void Claims::collect(Books& books) {
    claims_.clear();
    coming_.clear();
    by_id_.clear();
    const std::vector<PendingJob>& queue = books.snapshot().pending;
    for (std::uint32_t i : books.index().claimed) {
        const int size = choices::least_initial_size(books, queue[i]);
        by_id_.emplace_back(queue[i].id, claims_.size());
        const PoolCounts none(books.pools(), 0);
        claims_.push_back({i, size, size, none, none, none});
        books.claim(i);
    }
    std::sort(by_id_.begin(), by_id_.end());
    for (const Promise& promise : books.snapshot().promises) {
        Entry* claim = find(promise.beneficiary);
        if (!claim) continue;
        const int most = std::max(claim->size, queue[claim->job].elastic.max);
        claim->size = claim->missing = std::clamp(promise.size, claim->size, most);
    }
}

void Claims::book(Books& books) {
    const Snapshot& snapshot = books.snapshot();
    for (const Promise& promise : snapshot.promises) {
        const std::uint32_t running = books.find_running(promise.job);
        if (running == snapshot.running.size()) continue;  // it has ended
        if (promise.kind == ResizeKind::shrink)
            book_shrink(books, promise, running);
        else if (!promise.revocable)
            books.book_growth(running, promise.nodes);
    }
    keep_what_was_chosen(books);
    choose_the_rest(books);
}

// Chosen anew in each pass they might be others than those that are kept for the job in fact, and
// somebody else would be given those.
void Claims::keep_what_was_chosen(Books& books) {
    for (const Claim& kept : books.snapshot().claims) {
        Entry* claim = find(kept.job);
        if (!claim) continue;
        for (PoolId pool = 0; pool < books.pools(); ++pool)
            claim->aside[pool] =
                std::clamp(books.availability().free_now(pool), 0, kept.nodes[pool]);
        claim->spare = sum(claim->spare, claim->aside);
        keep_aside(books, claim->job);
    }
}

void Claims::choose_the_rest(Books& books) {
    for (Entry& claim : claims_) {
        const PendingJob& job = books.snapshot().pending[claim.job];
        PoolCounts more(books.pools(), 0);
        choose(
            books.eligible(job.eligible), claim.missing - total(claim.aside),
            [&](PoolId pool) { return books.availability().free_now(pool); }, more);
        books.availability().take(books.snapshot().now, books.end_of(job, claim.size), more);
        claim.aside = sum(claim.aside, more);
        if (!job.elastic.profile.empty()) books.plan_steps_after_start(claim.job, false);
    }
}

void Claims::book_shrink(Books& books, const Promise& promise, std::uint32_t victim) {
    const Snapshot& snapshot = books.snapshot();
    Shrinkage part{victim, promise.nodes, PoolCounts(books.pools(), 0), 0};
    part.size_after = total(snapshot.running[victim].held) - total(promise.nodes);
    Time until = books.availability().soon();
    if (Entry* claim = find(promise.beneficiary)) {
        const PendingJob& job = snapshot.pending[claim->job];
        claim->missing -= choose(
            books.eligible(job.eligible), claim->missing,
            [&](PoolId pool) { return promise.nodes[pool]; }, part.used);
        until = books.end_of(job, claim->size);
        enter(promise, *claim, part.used);
    } else if (auto other = books.find_running(promise.beneficiary);
               other < snapshot.running.size()) {
        part.used = promise.nodes;
        until = books.end_of(snapshot.running[other]);
    }
    books.book_shrink(part, until);
}

void Claims::enter(const Promise& promise, Entry& claim, const PoolCounts& used) {
    if (!promise.released) return coming_.push_back({&promise, &claim, used});
    claim.released = sum(claim.released, used);
    claim.spare = sum(claim.spare, used);
}

void Claims::trade(Books& books, std::uint32_t pending) {
    Entry& own = claim_of(pending);
    if (!waits_for_victims(own)) return;
    const PendingJob& job = books.snapshot().pending[pending];
    if (!job.elastic.sizes.allows(own.size)) return;  // any more
    const PoolCounts all = find_trades(books, own);
    PoolCounts there(books.pools(), 0);
    choose(
        books.eligible(job.eligible), own.size, [&](PoolId pool) { return all[pool]; }, there);
    const int missing = own.size - total(there);
    const bool may_be_idle = choices::may_start_on_idle_nodes(books.policy());
    const Time end = books.end_of(job, own.size);
    const FreeNodes idle = books.available(job.eligible, may_be_idle ? missing : 0, end);
    if (idle.count < missing) return undo_trades();
    for (const auto& [part, giver] : trades_) {
        books.trade(*part->promise, books.snapshot().pending[giver->job].id, part->used);
        part->claim = giver;
        giver->is_settled = true;
    }
    own.is_settled = true;
    books.start_by_trading(pending, sum(there, idle.by_pool), idle.by_pool, own.size);
}

PoolCounts Claims::find_trades(const Books& books, const Entry& own) {
    trades_.clear();
    PoolCounts nodes = sum(own.aside, own.released);
    for (Coming& part : coming_) {
        Entry* giver = part.claim == &own ? giver_for(books, part) : nullptr;
        if (!giver) continue;
        giver->spare = difference(giver->spare, part.used);
        nodes = sum(nodes, part.used);
        trades_.push_back({&part, giver});
    }
    return nodes;
}

bool Claims::waits_for_victims(const Entry& claim) const {
    return std::ranges::find(coming_, &claim, &Coming::claim) != coming_.end();
}

void Claims::undo_trades() {
    for (const auto& [part, giver] : trades_) giver->spare = sum(giver->spare, part->used);
    trades_.clear();
}

// The last of the queue that could: who is before it is the last to lose.
Claims::Entry* Claims::giver_for(const Books& books, const Coming& part) {
    if (part.promise->revocable || total(part.used) == 0) return nullptr;
    for (Entry& claim : std::views::reverse(claims_)) {
        if (&claim == part.claim || claim.is_settled || !waits_for_victims(claim)) continue;
        if (books.snapshot().pending[claim.job].has_traded) continue;
        if (std::ranges::equal(part.used, claim.spare, std::less_equal<>())) return &claim;
    }
    return nullptr;
}

void Claims::drop(std::uint32_t pending) {
    claim_of(pending).is_settled = true;
}

void Claims::keep_aside(Books& books, std::uint32_t pending) const {
    const Entry& claim = claim_of(pending);
    const Time end = books.end_of(books.snapshot().pending[pending], claim.size);
    books.availability().take(books.snapshot().now, end, claim.aside);
}

void Claims::give_back_aside(Books& books, std::uint32_t pending) const {
    const Entry& claim = claim_of(pending);
    const Time end = books.end_of(books.snapshot().pending[pending], claim.size);
    books.availability().give_back(books.snapshot().now, end, claim.aside);
}

Claims::Entry* Claims::find(JobId id) {
    const auto found = std::lower_bound(by_id_.begin(), by_id_.end(), std::pair(id, 0U));
    return found != by_id_.end() && found->first == id ? &claims_[found->second] : nullptr;
}

const Claims::Entry& Claims::claim_of(std::uint32_t pending) const {
    return *std::ranges::lower_bound(claims_, pending, {}, &Entry::job);
}

Claims::Entry& Claims::claim_of(std::uint32_t pending) {
    return *std::ranges::lower_bound(claims_, pending, {}, &Entry::job);
}

}  // namespace elastic::core
