// SPDX-License-Identifier: MIT
// The availability profile: how many nodes of each pool are free at which time ([evolving] section
// 3.1), a step function that everything that looks ahead works on: the reservations of EASY and of
// conservative backfilling, and how far a job may grow before it is in their way.
#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <vector>

#include "common/limits.hpp"
#include "common/time.hpp"
#include "core/availability/start_bounds.hpp"
#include "core/availability/vacancy_list.hpp"
#include "core/model/snapshot.hpp"
#include "core/model/types.hpp"

namespace elastic::core {

// Takes `nodes` nodes from the eligible pools in their order, of each pool at most available(pool),
// into `counts` (one entry a pool of the caller's size). Returns how many it found; fewer than
// `nodes` if there are no more.
template <class Available>
int choose(const Eligibility& eligible, int nodes, Available available, PoolCounts& counts) {
    std::fill(counts.begin(), counts.end(), 0);
    int found = 0;
    for (PoolId pool : eligible) {
        if (found >= nodes) break;
        counts[pool] = std::clamp(available(pool), 0, nodes - found);
        found += counts[pool];
    }
    return found;
}

class AvailabilityProfile {
  public:
    // Now `idle` nodes are free by pool, and those of `vacancies` come free when it says; it must
    // outlive the pass and not change.  Keeps its memory.
    void begin(Time now, const PoolCounts& idle, const VacancyList& vacancies);

    Time now() const { return now_; }
    std::size_t pools() const { return free_now_.size(); }
    // Now, and the earliest time that is not: when a job ends that has outrun its estimate.  It
    // neither blocks anything for long nor counts as gone.
    Time soon() const { return soon_; }

    // Nodes that are used in [from, to).  The caller has seen that they are free.
    void take(Time from, Time to, const PoolCounts&);
    void give_back(Time from, Time to, const PoolCounts&);  // undoes take
    // Nodes that were to become free at `from` do so at `to`, later or earlier.
    void move_vacancy(Time from, Time to, const PoolCounts&);

    int free_now(PoolId pool) const { return free_now_[pool]; }
    // The nodes that a job can have from now until `end`: the least that is free at any time in
    // between.
    int free_until(PoolId pool, Time end) const {
        if (shape_ == Shape::intervals) return least_before(pool, end);
        if (shape_ == Shape::dip && end > dip_) return std::min(free_now_[pool], extra_[pool]);
        return free_now_[pool];
    }
    int free_between(PoolId, Time from, Time to);
    int free_at(PoolId, Time) const;
    // The fewest nodes that are free in [from, to), from < to, and within it the beginning of the
    // first interval with so few and the end of the last: nodes less max(ep, t0, t1), and loc(ep,
    // t0, t1), of [evolving] section 3.1.
    struct Trough {
        int free = 0;
        Time begin = 0, end = 0;
    };
    Trough trough(PoolId, Time from, Time to);

    // The first time at which `nodes` nodes of the eligible pools are free and stay so for
    // `duration`; `counts` (one entry a pool) is which. None if there is no such time.
    std::optional<Time> earliest(const Eligibility&, int nodes, Duration duration,
                                 PoolCounts& counts);
    // The same, but not before `from`.
    std::optional<Time> earliest_from(Time from, const Eligibility&, int nodes, Duration duration,
                                      PoolCounts& counts);
    // The next time after `time` at which anything changes; kNever if nothing does.
    Time next_change(Time time);

  private:
    // What is known of the profile's shape besides the vacancies and changes.
    enum class Shape {
        rising,     // at no time fewer free nodes than before
        dip,        // the same but for one reservation, which begins at dip_
        intervals,  // anything: times_, free_ and least_ are in force
    };

    std::size_t intervals() const { return times_.size(); }
    const int* row(std::size_t interval) const { return free_.data() + interval * pools(); }
    int* row(std::size_t interval) { return free_.data() + interval * pools(); }

    void change(Time from, Time to, const PoolCounts&, int sign);
    void change_intervals(Time from, Time to, const PoolCounts&, int sign);
    void record(Time at, const PoolCounts&, int sign);
    void reserve(Time from, const PoolCounts&);
    template <class Visit>
    void walk(Visit) const;
    void build();
    std::size_t split(Time);
    std::size_t interval_at(Time) const;
    void refresh_least(std::size_t from, std::size_t to);
    int least_before(PoolId, Time end) const;
    std::optional<Time> first_rise(const Eligibility&, int nodes, PoolCounts& counts);
    std::optional<std::size_t> shortage(std::size_t begin, Time end, const Eligibility&, int nodes,
                                        PoolCounts& least) const;
    Time bound(int nodes, Duration);
    std::optional<Time> earliest_in_one_pool(Time from, int nodes, Duration) const;

    Time now_ = 0, soon_ = 0;
    PoolCounts free_now_;
    const std::vector<Vacancy>* vacancies_ = nullptr;
    mutable std::vector<Vacancy> changes_;  // of this pass, put in order when they are looked at
    mutable bool sorted_ = true;            // changes_ is in order
    Shape shape_ = Shape::rising;
    Time dip_ = 0;
    PoolCounts extra_;         // free at dip_
    std::vector<Time> times_;  // when an interval begins; the first is now, the last lasts for ever
    std::vector<int> free_;    // one value a pool for each interval
    std::vector<int> least_;   // the same, least from now until the end of the interval
    std::vector<std::uint8_t> wanted_;  // by pool: scratch of first_rise
    // What first_rise found last, for the reservation that is likely to follow.
    Time rise_ = 0;
    PoolCounts risen_;
    bool knows_rise_ = false;
    StartBounds bounds_;  // of jobs in the only pool, if they are kept
    bool keeps_bounds_ = false;
};

}  // namespace elastic::core
