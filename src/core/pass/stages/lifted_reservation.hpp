// SPDX-License-Identifier: MIT
// A reservation is no obstacle to the job that has it.
#pragma once

#include <optional>
#include <utility>

#include "core/pass/state/schedule.hpp"

namespace elastic::core {

// Takes a job's reservation, if it has one, out of the availability profile while the job is looked
// at, and puts it back unless it is dropped because the job has started.
class LiftedReservation {
  public:
    LiftedReservation(Schedule& schedule, std::uint32_t pending)
        : schedule_(schedule), reservation_(schedule.lift_reservation(pending)) {}
    ~LiftedReservation() {
        if (reservation_) schedule_.reserve(*std::move(reservation_));
    }
    LiftedReservation(const LiftedReservation&) = delete;
    LiftedReservation& operator=(const LiftedReservation&) = delete;

    bool exists() const { return reservation_.has_value(); }
    void drop() { reservation_.reset(); }

  private:
    Schedule& schedule_;
    std::optional<Reservation> reservation_;
};

}  // namespace elastic::core
