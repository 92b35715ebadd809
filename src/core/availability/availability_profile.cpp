// SPDX-License-Identifier: MIT
// The availability profile in three shapes, the cheapest that still tells the truth.
//
// A pass looks at it for each job of the queue but rarely at all of it.  Nodes only come free
// (`rising`) until the first reservation is made; from there on, a job fits if it ends before the
// reservation or leaves the extra nodes of that instant alone (`dip`), which is EASY's rule and
// needs two numbers.  Both are read off the vacancies, which outlive the pass, and the few changes
// of this one.  What goes beyond (several reservations, conservative backfilling) makes the
// intervals: a sorted array of times with one row of counts by pool each, where a change costs one
// walk over the intervals it covers and `least_` makes "how many until its end?" a binary search.
//
// Always holds: times_ ascends strictly and begins with now; row 0 equals free_now_; the caller
// never takes what is not free, so no value is negative.
#include "core/availability/availability_profile.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace elastic::core {

void AvailabilityProfile::begin(Time now, const PoolCounts& idle, const VacancyList& vacancies) {
    now_ = now;
    soon_ = std::nextafter(now, std::numeric_limits<Time>::infinity());
    free_now_ = idle;
    vacancies_ = &vacancies.entries();
    changes_.clear();
    sorted_ = true;
    shape_ = Shape::rising;
    knows_rise_ = false;
    keeps_bounds_ = false;
}

void AvailabilityProfile::take(Time from, Time to, const PoolCounts& nodes) {
    if (from > now_) reserve(from, nodes);
    change(from, to, nodes, -1);
}

// A second reservation, or one that begins where the first does not, needs the intervals.
void AvailabilityProfile::reserve(Time from, const PoolCounts& nodes) {
    if (shape_ == Shape::dip) build();
    if (shape_ != Shape::rising) return;
    extra_.resize(pools());
    for (PoolId pool = 0; pool < pools(); ++pool) {
        const bool known = knows_rise_ && from == rise_;
        extra_[pool] = nodes[pool] == 0 ? kMaxNodes : known ? risen_[pool] : free_at(pool, from);
    }
    dip_ = from;
    shape_ = Shape::dip;
}

void AvailabilityProfile::give_back(Time from, Time to, const PoolCounts& nodes) {
    change(from, to, nodes, +1);
    if (shape_ == Shape::dip && from == dip_) shape_ = Shape::rising;
}

void AvailabilityProfile::move_vacancy(Time from, Time to, const PoolCounts& nodes) {
    if (from < to) change(from, to, nodes, -1);
    if (to < from) change(to, from, nodes, +1);
}

// `sign` times `nodes` in [from, to).
void AvailabilityProfile::change(Time from, Time to, const PoolCounts& nodes, int sign) {
    knows_rise_ = false;
    if (shape_ == Shape::intervals) return change_intervals(from, to, nodes, sign);
    if (shape_ == Shape::dip && from <= dip_ && dip_ < to)
        for (PoolId pool = 0; pool < pools(); ++pool) extra_[pool] += sign * nodes[pool];
    record(from, nodes, sign);
    record(to, nodes, -sign);
}

void AvailabilityProfile::record(Time at, const PoolCounts& nodes, int sign) {
    if (at >= kNever) return;
    for (PoolId pool = 0; pool < pools(); ++pool) {
        if (nodes[pool] == 0) continue;
        if (at <= now_) {
            free_now_[pool] += sign * nodes[pool];
            continue;
        }
        sorted_ = sorted_ && (changes_.empty() || changes_.back().at <= at);
        changes_.push_back({at, pool, sign * nodes[pool]});
    }
}

void AvailabilityProfile::change_intervals(Time from, Time to, const PoolCounts& nodes, int sign) {
    if (sign > 0) keeps_bounds_ = false;
    const std::size_t first = split(from);
    const std::size_t last = split(to);
    for (std::size_t interval = first; interval < last; ++interval)
        for (PoolId pool = 0; pool < pools(); ++pool) row(interval)[pool] += sign * nodes[pool];
    if (first == 0) std::copy_n(row(0), pools(), free_now_.begin());
    refresh_least(first, last);
}

// Visits vacancies and changes in the order of time until `visit` returns false.
template <class Visit>
void AvailabilityProfile::walk(Visit visit) const {
    if (!sorted_)
        std::sort(changes_.begin(), changes_.end(),
                  [](const Vacancy& a, const Vacancy& b) { return a.at < b.at; });
    sorted_ = true;
    auto known = vacancies_->begin();
    auto change = changes_.begin();
    while (known != vacancies_->end() || change != changes_.end()) {
        const bool is_known =
            change == changes_.end() || (known != vacancies_->end() && known->at <= change->at);
        const Vacancy& next = is_known ? *known++ : *change++;
        if (!visit(std::max(next.at, soon_), next)) return;
    }
}

void AvailabilityProfile::build() {
    if (shape_ == Shape::intervals) return;
    times_.assign(1, now_);
    free_.assign(free_now_.begin(), free_now_.end());
    walk([&](Time at, const Vacancy& vacancy) {
        if (at != times_.back()) {
            times_.push_back(at);
            free_.resize(free_.size() + pools());
            std::copy_n(row(intervals() - 2), pools(), row(intervals() - 1));
        }
        row(intervals() - 1)[vacancy.pool] += vacancy.nodes;
        return true;
    });
    shape_ = Shape::intervals;
    refresh_least(0, intervals());
}

int AvailabilityProfile::free_at(PoolId pool, Time time) const {
    if (shape_ == Shape::intervals) return row(interval_at(time))[pool];
    if (shape_ == Shape::dip && time == dip_) return extra_[pool];
    int nodes = free_now_[pool];
    walk([&](Time at, const Vacancy& vacancy) {
        if (at > time) return false;
        if (vacancy.pool == pool) nodes += vacancy.nodes;
        return true;
    });
    return nodes;
}

// The interval that begins at `time`, made if there is none; one past the last for kNever.
std::size_t AvailabilityProfile::split(Time time) {
    if (time <= now_) return 0;
    if (time >= kNever) return intervals();
    const std::size_t interval =
        std::lower_bound(times_.begin(), times_.end(), time) - times_.begin();
    if (interval < intervals() && times_[interval] == time) return interval;
    times_.insert(times_.begin() + interval, time);
    free_.insert(free_.begin() + interval * pools(), pools(), 0);
    least_.insert(least_.begin() + interval * pools(), pools(), 0);
    std::copy_n(row(interval - 1), pools(), row(interval));
    std::copy_n(least_.begin() + (interval - 1) * pools(), pools(),
                least_.begin() + interval * pools());
    return interval;
}

// The interval that `time` lies in.
std::size_t AvailabilityProfile::interval_at(Time time) const {
    const std::size_t after = std::upper_bound(times_.begin(), times_.end(), time) - times_.begin();
    return after == 0 ? 0 : after - 1;
}

// Of the intervals in [from, to), which have changed, and of those behind them as far as that goes.
void AvailabilityProfile::refresh_least(std::size_t from, std::size_t to) {
    least_.resize(free_.size());
    for (std::size_t interval = from; interval < intervals(); ++interval) {
        bool is_as_before = interval >= to;
        for (std::size_t i = interval * pools(); i < (interval + 1) * pools(); ++i) {
            const int least = i < pools() ? free_[i] : std::min(free_[i], least_[i - pools()]);
            is_as_before = is_as_before && least_[i] == least;
            least_[i] = least;
        }
        if (is_as_before) return;
    }
}

int AvailabilityProfile::least_before(PoolId pool, Time end) const {
    const std::size_t after = std::lower_bound(times_.begin(), times_.end(), end) - times_.begin();
    return least_[(after == 0 ? 0 : after - 1) * pools() + pool];
}

int AvailabilityProfile::free_between(PoolId pool, Time from, Time to) {
    if (shape_ == Shape::rising) return free_at(pool, from);
    build();
    std::size_t interval = interval_at(from);
    int least = row(interval)[pool];
    while (++interval < intervals() && times_[interval] < to)
        least = std::min(least, row(interval)[pool]);
    return least;
}

AvailabilityProfile::Trough AvailabilityProfile::trough(PoolId pool, Time from, Time to) {
    build();
    std::size_t interval = interval_at(from);
    Trough found{row(interval)[pool], from, to};
    for (; interval < intervals() && times_[interval] < to; ++interval) {
        const int free = row(interval)[pool];
        if (free > found.free) continue;
        if (free < found.free) found.begin = std::max(from, times_[interval]);
        found.free = free;
        found.end = interval + 1 < intervals() ? std::min(to, times_[interval + 1]) : to;
    }
    return found;
}

// Whether `nodes` eligible nodes stay free from interval `begin` until `end`; if so nothing is
// returned and `least` says how many are by pool.  Otherwise the result is the next interval at
// which that is worth asking again.
std::optional<std::size_t> AvailabilityProfile::shortage(std::size_t begin, Time end,
                                                         const Eligibility& eligible, int nodes,
                                                         PoolCounts& least) const {
    for (PoolId pool : eligible) least[pool] = row(begin)[pool];
    for (std::size_t interval = begin;
         interval == begin || (interval < intervals() && times_[interval] < end); ++interval) {
        int together = 0, here = 0;
        for (PoolId pool : eligible) {
            least[pool] = std::min(least[pool], row(interval)[pool]);
            together += least[pool];
            here += row(interval)[pool];
        }
        if (here < nodes) return interval + 1;
        if (together < nodes) return begin + 1;
    }
    return std::nullopt;
}

// While nodes only come free, what is free once stays so.
std::optional<Time> AvailabilityProfile::first_rise(const Eligibility& eligible, int nodes,
                                                    PoolCounts& counts) {
    wanted_.assign(pools(), false);
    PoolCounts free = free_now_;
    int found = 0;
    for (PoolId pool : eligible) {
        wanted_[pool] = true;
        found += free[pool];
    }
    Time from = now_;
    bool enough = found >= nodes;
    walk([&](Time at, const Vacancy& vacancy) {
        if (enough && at > from) return false;  // all that end at one instant count together
        from = at;
        free[vacancy.pool] += vacancy.nodes;
        if (wanted_[vacancy.pool]) found += vacancy.nodes;
        enough = found >= nodes;
        return true;
    });
    if (!enough) return std::nullopt;
    choose(
        eligible, nodes, [&](PoolId pool) { return free[pool]; }, counts);
    rise_ = from;
    risen_ = free;
    knows_rise_ = true;
    return from;
}

std::optional<Time> AvailabilityProfile::earliest(const Eligibility& eligible, int nodes,
                                                  Duration duration, PoolCounts& counts) {
    if (shape_ == Shape::rising) return first_rise(eligible, nodes, counts);
    return earliest_from(now_, eligible, nodes, duration, counts);
}

Time AvailabilityProfile::next_change(Time time) {
    build();
    const auto next = std::upper_bound(times_.begin(), times_.end(), time);
    return next == times_.end() ? kNever : *next;
}

// Of jobs in the only pool: with several it would have to be remembered which are eligible.
Time AvailabilityProfile::bound(int nodes, Duration duration) {
    if (!keeps_bounds_) bounds_.reset(now_);
    keeps_bounds_ = true;
    return bounds_.before(nodes, duration);
}

// One walk over the intervals, since with long queues this is where the time goes.
std::optional<Time> AvailabilityProfile::earliest_in_one_pool(Time from, int nodes,
                                                              Duration duration) const {
    Time start = from;
    for (std::size_t interval = interval_at(from); interval < intervals(); ++interval) {
        const bool is_last = interval + 1 == intervals();
        if (free_[interval] >= nodes && (is_last || times_[interval + 1] >= start + duration))
            return start;
        if (free_[interval] < nodes && !is_last) start = times_[interval + 1];
    }
    return std::nullopt;
}

std::optional<Time> AvailabilityProfile::earliest_from(Time from, const Eligibility& eligible,
                                                       int nodes, Duration duration,
                                                       PoolCounts& counts) {
    build();
    if (pools() == 1) {
        const bool is_bound = from == now_;
        const auto start =
            earliest_in_one_pool(is_bound ? bound(nodes, duration) : from, nodes, duration);
        if (!start) return std::nullopt;
        choose(
            eligible, nodes, [&](PoolId) { return nodes; }, counts);
        if (is_bound) bounds_.remember(nodes, duration, *start);
        return start;
    }
    PoolCounts least(pools(), 0);
    for (std::size_t begin = interval_at(from); begin < intervals();) {
        const Time start = std::max(from, times_[begin]);
        const auto next = shortage(begin, start + duration, eligible, nodes, least);
        if (!next) {
            choose(
                eligible, nodes, [&](PoolId pool) { return least[pool]; }, counts);
            return start;
        }
        begin = *next;
    }
    return std::nullopt;
}

}  // namespace elastic::core
