// SPDX-License-Identifier: MIT
// How initial_allocation and shrink_for_pending go through the queue: in its order until each pool
// has its first blocked job, and from there on only to the jobs that could start at all, in the
// policy's order.
#pragma once

#include <vector>

#include "core/pass/stages/stages.hpp"

namespace elastic::core {

// Which jobs behind the front are worth a look.
class Wanted {
  public:
    Wanted(const QueueIndex::Supply& supply, QueueIndex::By by, const Failures* failures = nullptr)
        : supply_(supply), by_(by), failures_(failures) {}

    QueueIndex::By by() const { return by_; }
    int most_nodes() const { return supply_.free; }
    bool fits(int nodes, Duration duration) const {
        return supply_.suffices(nodes, duration) &&
               !(failures_ && failures_->covers_everywhere(nodes, duration));
    }

  private:
    QueueIndex::Supply supply_;
    QueueIndex::By by_;
    const Failures* failures_;  // who need not try again; null: all may
};

// Who could start on what is free now and stays so until its end: fewer and fewer in a pass.
class CanStart {
  public:
    CanStart(const SystemState& state, QueueIndex::By by)
        : state_(state), by_(by), idle_(state.nodes().idle()) {}

    QueueIndex::By by() const { return by_; }
    int most_nodes() const { return idle_; }
    bool fits(int nodes, Duration duration) const {
        if (nodes > idle_) return false;
        const AvailabilityProfile& availability = state_.availability();
        const Time end = std::max(state_.snapshot().now + duration, availability.soon());
        int free = 0;
        for (PoolId pool = 0; pool < state_.pools(); ++pool)
            free += std::max(0, availability.free_until(pool, end));
        return nodes <= free;
    }

  private:
    const SystemState& state_;
    QueueIndex::By by_;
    int idle_;
};

// `wanted()` is made anew after each try; `start(place)` tries to start the job, or one of its
// copies, and says whether it has.  Where one copy cannot start none can.
template <class MakeWanted, class Start>
void walk_queue(Pass& pass, MakeWanted wanted, Start start) {
    Schedule& schedule = pass.schedule;
    const std::vector<PendingJob>& jobs = schedule.snapshot().pending;
    const QueueIndex& queue = schedule.index().queue;
    const auto block = [&](std::uint32_t place) {
        pass.front.block(schedule, place, choices::initial_size(schedule, jobs[place]));
    };
    const auto try_one = [&](std::uint32_t place) {
        while (!schedule.queue().decided(place))
            if (!start(place)) return block(place);
    };
    std::uint32_t place = queue.next(0);
    // Nobody before the last of these places could start, and behind it nobody was looked for.
    std::uint32_t unknown = 0;
    for (; place < queue.end() && !pass.front.is_settled(); place = queue.next(place + 1)) {
        if (pass.only_starts && place >= unknown)
            unknown = queue.next(place, CanStart(schedule, wanted().by())) + 1;
        if (unknown > queue.end()) return;
        if (place + 1 < unknown && !schedule.queue().decided(place))
            block(place);
        else
            try_one(place);
    }
    if (place >= queue.end() || !choices::may_overtake(schedule.policy())) return;
    Wanted now = wanted();
    const auto try_candidate = [&](std::uint32_t candidate) {
        try_one(candidate);
        now = wanted();
    };
    if (choices::backfills_in_order(schedule.policy(), schedule.index())) {
        for (place = queue.next(place, now); place < queue.end();
             place = queue.next(place + 1, now))
            try_candidate(place);
        return;
    }
    const auto rank = [&](int nodes, Duration duration) {
        return choices::backfill_rank(schedule.policy(), nodes, duration);
    };
    const auto rank_of = [&](std::uint32_t of) {
        return rank(jobs[of].elastic.pref, jobs[of].duration);
    };
    queue.visit_by_rank(place, pass.parts, now, rank_of, rank, try_candidate);
}

}  // namespace elastic::core
