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

#include "core/pass/choices/choices.hpp"

namespace elastic::core {

void Claims::collect(Schedule& schedule) {
    claims_.clear();
    coming_.clear();
    by_id_.clear();
    if (schedule.index().claimed.empty()) return;
    const std::vector<PendingJob>& queue = schedule.snapshot().pending;
    for (std::uint32_t i : schedule.index().claimed) {
        const int size = choices::least_initial_size(schedule, queue[i]);
        by_id_.emplace_back(queue[i].id, claims_.size());
        const PoolCounts none(schedule.pools(), 0);
        claims_.push_back({i, size, size, none, none, none});
        schedule.claim(i);
    }
    std::sort(by_id_.begin(), by_id_.end());
    for (const Promise& promise : schedule.snapshot().promises) {
        Entry* claim = find(promise.beneficiary);
        if (!claim) continue;
        const int most = std::max(claim->size, queue[claim->job].elastic.max);
        claim->size = claim->missing = std::clamp(promise.size, claim->size, most);
    }
}

void Claims::book(Schedule& schedule) {
    const Snapshot& snapshot = schedule.snapshot();
    for (const Promise& promise : snapshot.promises) {
        const std::uint32_t running = schedule.running().find(promise.job);
        if (running == snapshot.running.size()) continue;  // it has ended
        if (promise.kind == ResizeKind::shrink)
            book_shrink(schedule, promise, running);
        else if (!promise.revocable)
            schedule.book_growth(running, promise.nodes);
    }
    keep_what_was_chosen(schedule);
    choose_the_rest(schedule);
}

// Idle nodes chosen anew in each pass might be others than are kept for the job in fact, and those
// would be given to somebody else.
void Claims::keep_what_was_chosen(Schedule& schedule) {
    for (const Claim& kept : schedule.snapshot().claims) {
        Entry* claim = find(kept.job);
        if (!claim) continue;
        for (PoolId pool = 0; pool < schedule.pools(); ++pool)
            claim->aside[pool] =
                std::clamp(schedule.availability().free_now(pool), 0, kept.nodes[pool]);
        claim->spare = sum(claim->spare, claim->aside);
        keep_aside(schedule, claim->job);
    }
}

void Claims::choose_the_rest(Schedule& schedule) {
    for (Entry& claim : claims_) {
        const PendingJob& job = schedule.snapshot().pending[claim.job];
        PoolCounts more(schedule.pools(), 0);
        choose(
            schedule.eligible(job.eligible), claim.missing - total(claim.aside),
            [&](PoolId pool) { return schedule.availability().free_now(pool); }, more);
        schedule.availability().take(schedule.snapshot().now,
                                     schedule.times().end_of(job, claim.size), more);
        claim.aside = sum(claim.aside, more);
        if (!job.elastic.profile.empty()) schedule.plan_steps_after_start(claim.job, false);
    }
}

void Claims::book_shrink(Schedule& schedule, const Promise& promise, std::uint32_t victim) {
    const Snapshot& snapshot = schedule.snapshot();
    Shrinkage part{victim, promise.nodes, PoolCounts(schedule.pools(), 0), 0};
    part.size_after = total(snapshot.running[victim].held) - total(promise.nodes);
    Time until = schedule.availability().soon();
    if (Entry* claim = find(promise.beneficiary)) {
        const PendingJob& job = snapshot.pending[claim->job];
        claim->missing -= choose(
            schedule.eligible(job.eligible), claim->missing,
            [&](PoolId pool) { return promise.nodes[pool]; }, part.used);
        until = schedule.times().end_of(job, claim->size);
        enter(promise, *claim, part.used);
    } else if (auto other = schedule.running().find(promise.beneficiary);
               other < snapshot.running.size()) {
        part.used = promise.nodes;
        until = schedule.times().end_of(snapshot.running[other]);
    }
    schedule.book_shrink(part, until);
}

void Claims::enter(const Promise& promise, Entry& claim, const PoolCounts& used) {
    if (!promise.released) return coming_.push_back({&promise, &claim, used});
    claim.released = sum(claim.released, used);
    claim.spare = sum(claim.spare, used);
}

void Claims::trade(Schedule& schedule, std::uint32_t pending) {
    Entry& own = claim_of(pending);
    if (!waits_for_victims(own)) return;
    const PendingJob& job = schedule.snapshot().pending[pending];
    if (!job.elastic.sizes.allows(own.size)) return;  // any more
    const PoolCounts all = find_trades(schedule, own);
    PoolCounts there(schedule.pools(), 0);
    choose(
        schedule.eligible(job.eligible), own.size, [&](PoolId pool) { return all[pool]; }, there);
    const int missing = own.size - total(there);
    const bool may_be_idle = choices::may_start_on_idle_nodes(schedule.policy());
    const Time end = schedule.times().end_of(job, own.size);
    const FreeNodes idle = schedule.nodes().available(job.eligible, may_be_idle ? missing : 0, end);
    if (idle.count < missing) return undo_trades();
    for (const auto& [part, giver] : trades_) {
        schedule.trade(*part->promise, schedule.snapshot().pending[giver->job].id, part->used);
        part->claim = giver;
        giver->is_settled = true;
    }
    own.is_settled = true;
    schedule.start_by_trading(pending, sum(there, idle.by_pool), idle.by_pool, own.size);
}

PoolCounts Claims::find_trades(const Schedule& schedule, const Entry& own) {
    trades_.clear();
    PoolCounts nodes = sum(own.aside, own.released);
    for (Coming& part : coming_) {
        Entry* giver = part.claim == &own ? giver_for(schedule, part) : nullptr;
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
Claims::Entry* Claims::giver_for(const Schedule& schedule, const Coming& part) {
    if (part.promise->revocable || total(part.used) == 0) return nullptr;
    for (auto claim = claims_.rbegin(); claim != claims_.rend(); ++claim) {
        if (&*claim == part.claim || claim->is_settled || !waits_for_victims(*claim)) continue;
        if (schedule.snapshot().pending[claim->job].has_traded) continue;
        if (std::ranges::equal(part.used, claim->spare, std::less_equal<>())) return &*claim;
    }
    return nullptr;
}

void Claims::drop(std::uint32_t pending) {
    claim_of(pending).is_settled = true;
}

void Claims::keep_aside(Schedule& schedule, std::uint32_t pending) const {
    const Entry& claim = claim_of(pending);
    const Time end = schedule.times().end_of(schedule.snapshot().pending[pending], claim.size);
    schedule.availability().take(schedule.snapshot().now, end, claim.aside);
}

void Claims::give_back_aside(Schedule& schedule, std::uint32_t pending) const {
    const Entry& claim = claim_of(pending);
    const Time end = schedule.times().end_of(schedule.snapshot().pending[pending], claim.size);
    schedule.availability().give_back(schedule.snapshot().now, end, claim.aside);
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
