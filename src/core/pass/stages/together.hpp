// SPDX-License-Identifier: MIT
// Jobs that start in the same instant or not at all (PendingJob::together): the components of a
// heterogeneous job.  Each has pools, a size and a time of its own, and may stand in the queue for
// several partitions; the first place of all stands for them.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/pass/stages/victims.hpp"
#include "core/pass/state/schedule.hpp"

namespace elastic::core {

class Together {
  public:
    // `first` is the first place of jobs that start together; the schedule must outlive it.
    Together(Schedule&, std::uint32_t first);

    // One past the last place of those that start together with the job at `first`.
    static std::uint32_t end(const Snapshot&, std::uint32_t first);

    // Whether it holds for one of their places, or for all of them.
    template <class Holds>
    bool any(Holds holds) const {
        for (std::uint32_t place = first_; place < end_; ++place)
            if (holds(place)) return true;
        return false;
    }
    template <class Holds>
    bool all(Holds holds) const {
        return !any([&](std::uint32_t place) { return !holds(place); });
    }

    // Whether they could start if nobody else had nodes, and whether they may have reservations.
    bool may_start() const;
    bool may_reserve() const;
    // Starts all of them if there are nodes for each from now until it ends.
    bool start(Reason);
    // The earliest reservations with one common start, not before `from`, one a job in the order of
    // the queue; none if there are not nodes for all at any time.
    std::vector<Reservation> earliest(Time from) const;
    // What they lack now for a common start, beside what is idle and `coming`.
    std::vector<Beneficiary> missing(PoolCounts coming) const;

  private:
    // A job, with the places where it stands in the queue.
    struct Component {
        std::vector<std::uint32_t> places;
        int eligible = 0;  // nodes that it could have
    };
    // What one of them has.
    struct Part {
        std::uint32_t place = 0;
        int size = 0;
        Time from = 0, to = 0;
        PoolCounts nodes;
        PoolCounts shared;  // besides these, partly used ones
    };
    enum class On { idle, shared };

    const PendingJob& job(std::uint32_t place) const { return schedule_.snapshot().pending[place]; }
    std::vector<Component> components() const;
    Part most_at(std::uint32_t place, Time from) const;
    std::optional<Part> part_at(std::uint32_t place, Time from, On,
                                const std::vector<Part>& others) const;
    bool add_shared(Part&, const std::vector<Part>& others) const;
    void take(const Part&) const;
    void give_back(const std::vector<Part>&) const;
    // Takes what they have if they start then, up to the first component that does not fit, which
    // is returned.
    const Component* take_all(Time from, On, std::vector<Part>& parts) const;
    std::vector<Part> parts_at(Time from, On) const;
    Time next_start(const Component& failed, Time after) const;
    Time next_change(Time after) const;
    Duration duration(std::uint32_t place) const;
    int needed_of(EligibilityId) const;

    Schedule& schedule_;
    std::uint32_t first_, end_;
    std::vector<Component> components_;  // whoever can have the fewest nodes first
};

}  // namespace elastic::core
