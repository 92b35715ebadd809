// SPDX-License-Identifier: MIT
// A reservation is no obstacle to the job that has it.
#pragma once

#include <utility>
#include <vector>

#include "core/pass/stages/together.hpp"

namespace elastic::core {

// Takes a job's reservation, if it has one, and those of jobs that start together with it out of
// the availability profile while the job is looked at, and puts them back unless they are dropped
// because the job has started.
class LiftedReservation {
  public:
    LiftedReservation(Schedule& schedule, std::uint32_t pending) : schedule_(schedule) {
        for (auto place = pending; place < Together::end(schedule.snapshot(), pending); ++place)
            if (auto lifted = schedule.lift_reservation(place))
                reservations_.push_back(*std::move(lifted));
    }
    ~LiftedReservation() {
        for (Reservation& one : reservations_) schedule_.reserve(std::move(one));
    }
    LiftedReservation(const LiftedReservation&) = delete;
    LiftedReservation& operator=(const LiftedReservation&) = delete;

    bool exists() const { return !reservations_.empty(); }
    Time from() const { return reservations_.front().from; }  // if it exists
    void drop() { reservations_.clear(); }

  private:
    Schedule& schedule_;
    std::vector<Reservation> reservations_;
};

}  // namespace elastic::core
