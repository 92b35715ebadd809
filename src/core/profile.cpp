// SPDX-License-Identifier: MIT
// The profile as a sorted array of steps, one row of counts by pool each.
//
// Most passes never look ahead: the queue is empty, or all of it fits.  So
// changes are first kept as unsorted events, and the steps are built by one sort
// when somebody first asks for the future; until a reservation is made there are
// at no time fewer free nodes than now, and that question needs no steps either.
// Once built, a change costs one walk over the steps it covers.  `least_` makes
// the question that is asked for each pending job ("how many until its end?") a
// binary search.
//
// Always holds: times_ ascends strictly and begins with now; row 0 equals
// free_now_; the caller never takes what is not free, so no value is negative.
#include "core/profile.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace elastic::core {

void Profile::begin(Time now, std::size_t pools) {
    now_ = now;
    soon_ = std::nextafter(now, std::numeric_limits<Time>::infinity());
    pools_ = pools;
    free_now_.assign(pools, 0);
    rising_ = true;
    built_ = false;
    events_.clear();
}

void Profile::release(Time at, PoolId pool, int nodes) {
    if (nodes == 0) return;
    if (!built_) return record(at, pool, nodes);
    PoolCounts counts(pools_, 0);
    counts[pool] = nodes;
    change(at, kNever, counts, +1);
}

void Profile::release(Time at, const PoolCounts& nodes) {
    change(at, kNever, nodes, +1);
}

void Profile::take(Time from, Time to, const PoolCounts& nodes) {
    if (from > now_) rising_ = false;
    change(from, to, nodes, -1);
}

void Profile::give_back(Time from, Time to, const PoolCounts& nodes) {
    change(from, to, nodes, +1);
}

void Profile::move_release(Time from, Time to, const PoolCounts& nodes) {
    if (from < to) change(from, to, nodes, -1);
    if (to < from) change(to, from, nodes, +1);
}

void Profile::change(Time from, Time to, const PoolCounts& nodes, int sign) {
    if (!built_) {
        for (PoolId pool = 0; pool < pools_; ++pool) {
            record(from, pool, sign * nodes[pool]);
            record(to, pool, -sign * nodes[pool]);
        }
        return;
    }
    const std::size_t first = split(from);
    const std::size_t last = split(to);
    for (std::size_t step = first; step < last; ++step)
        for (PoolId pool = 0; pool < pools_; ++pool) row(step)[pool] += sign * nodes[pool];
    if (first == 0) std::copy_n(row(0), pools_, free_now_.begin());
    refresh_least(first);
}

void Profile::record(Time at, PoolId pool, int delta) {
    if (delta == 0 || at >= kNever) return;
    if (at <= now_)
        free_now_[pool] += delta;
    else
        events_.push_back({at, pool, delta});
}

void Profile::build() {
    if (built_) return;
    built_ = true;
    std::sort(events_.begin(), events_.end(),
              [](const Event& a, const Event& b) { return a.at < b.at; });
    times_.assign(1, now_);
    free_.assign(free_now_.begin(), free_now_.end());
    for (const Event& event : events_) {
        if (event.at != times_.back()) {
            times_.push_back(event.at);
            free_.resize(free_.size() + pools_);
            std::copy_n(row(steps() - 2), pools_, row(steps() - 1));
        }
        row(steps() - 1)[event.pool] += event.delta;
    }
    refresh_least(0);
}

// The step that begins at `time`, made if there is none; one past the last for kNever.
std::size_t Profile::split(Time time) {
    if (time <= now_) return 0;
    if (time >= kNever) return steps();
    const std::size_t step = std::lower_bound(times_.begin(), times_.end(), time) - times_.begin();
    if (step < steps() && times_[step] == time) return step;
    times_.insert(times_.begin() + step, time);
    free_.insert(free_.begin() + step * pools_, pools_, 0);
    least_.insert(least_.begin() + step * pools_, pools_, 0);
    std::copy_n(row(step - 1), pools_, row(step));
    return step;
}

// The step that `time` lies in.
std::size_t Profile::step_at(Time time) const {
    const std::size_t after = std::upper_bound(times_.begin(), times_.end(), time) - times_.begin();
    return after == 0 ? 0 : after - 1;
}

void Profile::refresh_least(std::size_t from) {
    least_.resize(free_.size());
    for (std::size_t i = from * pools_; i < free_.size(); ++i)
        least_[i] = i < pools_ ? free_[i] : std::min(free_[i], least_[i - pools_]);
}

int Profile::least_before(PoolId pool, Time end) {
    build();
    const std::size_t after = std::lower_bound(times_.begin(), times_.end(), end) - times_.begin();
    return least_[(after == 0 ? 0 : after - 1) * pools_ + pool];
}

int Profile::free_between(PoolId pool, Time from, Time to) {
    build();
    std::size_t step = step_at(from);
    int least = row(step)[pool];
    while (++step < steps() && times_[step] < to) least = std::min(least, row(step)[pool]);
    return least;
}

// Whether `nodes` eligible nodes stay free from step `begin` until `end`; if so
// nothing is returned and `least` says how many are by pool.  Otherwise the
// result is the next step at which that is worth asking again.
std::optional<std::size_t> Profile::shortage(std::size_t begin, Time end,
                                             const Eligibility& eligible, int nodes,
                                             PoolCounts& least) const {
    for (PoolId pool : eligible) least[pool] = row(begin)[pool];
    for (std::size_t step = begin; step == begin || (step < steps() && times_[step] < end);
         ++step) {
        int together = 0, here = 0;
        for (PoolId pool : eligible) {
            least[pool] = std::min(least[pool], row(step)[pool]);
            together += least[pool];
            here += row(step)[pool];
        }
        if (here < nodes) return step + 1;
        if (together < nodes) return begin + 1;
    }
    return std::nullopt;
}

std::optional<Time> Profile::earliest(const Eligibility& eligible, int nodes, Duration duration,
                                      PoolCounts& counts) {
    build();
    PoolCounts least(pools_, 0);
    for (std::size_t begin = 0; begin < steps();) {
        const auto next = shortage(begin, times_[begin] + duration, eligible, nodes, least);
        if (!next) {
            choose(
                eligible, nodes, [&](PoolId pool) { return least[pool]; }, counts);
            return times_[begin];
        }
        begin = *next;
    }
    return std::nullopt;
}

}  // namespace elastic::core
