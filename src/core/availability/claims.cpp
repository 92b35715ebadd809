// SPDX-License-Identifier: MIT
// Idle nodes of an accepted growth, and those that a claimed job needs besides its
// victims' nodes, are taken before any stage runs: they have been promised, and whoever
// came later must not undo it.  Offers that nobody has accepted are not booked: their
// nodes count as free until stage 3 is over (see stages/withdraw_offers.cpp).
#include "core/availability/claims.hpp"

#include <algorithm>

#include "core/pass/choices/choices.hpp"
#include "core/pass/system_state.hpp"

namespace elastic::core {

void Claims::collect(SystemState& state) {
    claims_.clear();
    by_id_.clear();
    const std::vector<PendingJob>& queue = state.snapshot().pending;
    for (std::uint32_t i : state.index().claimed) {
        const int size = choices::least_initial_size(state, queue[i]);
        by_id_.emplace_back(queue[i].id, claims_.size());
        claims_.push_back({i, size, size, PoolCounts(state.pools(), 0)});
        state.decide(i);
    }
    std::sort(by_id_.begin(), by_id_.end());
    for (const Promise& promise : state.snapshot().promises) {
        Claim* claim = find(promise.beneficiary);
        if (!claim) continue;
        const int most = std::max(claim->size, queue[claim->job].elastic.max);
        claim->size = claim->missing = std::clamp(promise.size, claim->size, most);
    }
}

void Claims::book(SystemState& state) {
    const Snapshot& snapshot = state.snapshot();
    for (const Promise& promise : snapshot.promises) {
        const std::uint32_t running = state.find_running(promise.job);
        if (running == snapshot.running.size()) continue;  // it has ended
        if (promise.kind == ResizeKind::shrink)
            book_shrink(state, promise, running);
        else if (!promise.revocable)
            state.book_growth(running, promise.nodes);
    }
    for (Claim& claim : claims_) {
        choose(
            state.eligible(snapshot.pending[claim.job].eligible), claim.missing,
            [&](PoolId pool) { return state.profile().free_now(pool); }, claim.aside);
        keep_aside(state, claim.job);
    }
}

void Claims::book_shrink(SystemState& state, const Promise& promise, std::uint32_t victim) {
    const Snapshot& snapshot = state.snapshot();
    Shrinkage part{victim, promise.nodes, PoolCounts(state.pools(), 0), 0};
    part.size_after = total(snapshot.running[victim].held) - total(promise.nodes);
    Time until = state.profile().soon();
    if (Claim* claim = find(promise.beneficiary)) {
        const PendingJob& job = snapshot.pending[claim->job];
        claim->missing -= choose(
            state.eligible(job.eligible), claim->missing,
            [&](PoolId pool) { return promise.nodes[pool]; }, part.used);
        until = state.end_of(job, claim->size);
    } else if (auto other = state.find_running(promise.beneficiary);
               other < snapshot.running.size()) {
        part.used = promise.nodes;
        until = state.end_of(snapshot.running[other]);
    }
    state.book_shrink(part, until);
}

void Claims::keep_aside(SystemState& state, std::uint32_t pending) const {
    const Claim& claim = claim_of(pending);
    const Time end = state.end_of(state.snapshot().pending[pending], claim.size);
    state.profile().take(state.snapshot().now, end, claim.aside);
}

void Claims::give_back_aside(SystemState& state, std::uint32_t pending) const {
    const Claim& claim = claim_of(pending);
    const Time end = state.end_of(state.snapshot().pending[pending], claim.size);
    state.profile().give_back(state.snapshot().now, end, claim.aside);
}

Claims::Claim* Claims::find(JobId id) {
    const auto found = std::lower_bound(by_id_.begin(), by_id_.end(), std::pair(id, 0U));
    return found != by_id_.end() && found->first == id ? &claims_[found->second] : nullptr;
}

const Claims::Claim& Claims::claim_of(std::uint32_t pending) const {
    return *std::lower_bound(claims_.begin(), claims_.end(), pending,
                             [](const Claim& a, std::uint32_t job) { return a.job < job; });
}

}  // namespace elastic::core
