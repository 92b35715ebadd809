// SPDX-License-Identifier: MIT
// How stages 2 and 3 go through the queue: in its order until each pool has its
// first blocked job, and from there on only to the jobs that could start at all,
// in the policy's order.
#pragma once

#include <algorithm>

#include "core/pass/stages/stages.hpp"

namespace elastic::core {

// `next(place)` is the first place from there on that is worth a look; `start(place)` tries to
// start the job, or one of its copies, and says whether it has.  Where one copy cannot start none
// can.
template <class Next, class Start>
void walk_queue(Pass& pass, Next next, Start start) {
    Books& books = pass.books;
    const std::vector<PendingJob>& queue = books.snapshot().pending;
    const std::uint32_t end = books.index().queue.end();
    const bool in_order = choices::backfills_in_order(books);
    std::uint32_t place = next(0);
    const auto start_all = [&](std::uint32_t of) {
        while (!books.decided(of))
            if (!start(of)) return false;
        return true;
    };
    for (; place < end && (in_order || !pass.front.is_settled()); place = next(place + 1))
        if (!start_all(place))
            pass.front.block(books, place, choices::initial_size(books, queue[place]));
    if (place >= end) return;
    auto& candidates = pass.candidates;
    candidates.clear();
    for (; place < end; place = next(place + 1))
        if (!books.decided(place))
            candidates.emplace_back(choices::backfill_rank(books.policy(), queue[place]), place);
    std::sort(candidates.begin(), candidates.end());
    for (const auto& [rank, candidate] : candidates) start_all(candidate);
}

}  // namespace elastic::core
