// SPDX-License-Identifier: MIT
// What of the availability is taken from a later time on: the reservations of pending jobs, and the
// later steps of evolution profiles.  Schedule takes it; here it is remembered.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "core/availability/occupation.hpp"
#include "core/model/types.hpp"
#include "core/pass/state/marks.hpp"

namespace elastic::core {

// A reservation in force, for Snapshot::pending[job].
struct Reservation {
    std::uint32_t job = 0;
    Time from = 0, to = 0;
    PoolCounts nodes;      // at its start
    Occupations layers;    // all nodes that it takes, `nodes` included, if it takes others later
    bool planned = false;  // by another scheduler, so it binds whatever is known here of the job
    // Who comes before the job has pushed its start back, so that what it was promised before binds
    // nobody any more.
    bool anew = false;
};

// The nodes that are taken for the later steps of a running job with an evolution profile.
struct LaterSteps {
    JobId job = 0;
    Occupations gains;
    Occupations given;  // its own nodes, which come free at `from` and not only at `to`
};

class Reservations {
  public:
    // Of a queue of so many places.
    void begin(std::size_t places);

    std::ptrdiff_t of(std::uint32_t pending) const;  // how many the job has, one a copy
    // Times at which nodes are taken that are free before.  Between them nodes only come free.
    const std::vector<Time>& falls() const { return falls_; }
    Time first_fall() const;  // kNever if there is none
    bool has_later_steps() const {
        return std::ranges::any_of(later_, [](const auto& one) { return !one.gains.empty(); });
    }
    const std::vector<Reservation>& all() const { return reservations_; }
    // All of them, in the order of the queue; of several for one job the latest first.
    const std::vector<Reservation>& in_order();

    void add(Reservation&&);
    void add(LaterSteps&&);
    // Nodes are taken at that time by nobody.
    void add_fall(Time time) { falls_.push_back(time); }
    // Forgets the job's reservation, one if it has copies; nothing if it has none.
    std::optional<Reservation> remove(std::uint32_t pending);
    std::optional<LaterSteps> remove_later_steps(JobId);

  private:
    void forget_fall(Time);

    std::vector<Reservation> reservations_;
    Marks reserved_;  // by place in the queue: has, or had, a reservation
    std::vector<LaterSteps> later_;
    std::vector<Time> falls_;  // in no order
};

}  // namespace elastic::core
