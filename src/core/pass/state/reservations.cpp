// SPDX-License-Identifier: MIT
// Arrays in no order: a pass has few reservations unless it has one for each job, and then they are
// added far more often than looked for.
#include "core/pass/state/reservations.hpp"

#include <utility>

namespace elastic::core {

void Reservations::begin(std::size_t places) {
    reservations_.clear();
    reserved_.reset(places);
    later_.clear();
    falls_.clear();
}

std::ptrdiff_t Reservations::of(std::uint32_t pending) const {
    return reserved_[pending] ? std::ranges::count(reservations_, pending, &Reservation::job) : 0;
}

Time Reservations::first_fall() const {
    Time first = kNever;
    for (const Time fall : falls_) first = std::min(first, fall);
    return first;
}

const std::vector<Reservation>& Reservations::in_order() {
    std::sort(reservations_.begin(), reservations_.end(),
              [](const Reservation& a, const Reservation& b) {
                  return a.job != b.job ? a.job < b.job : a.from > b.from;
              });
    return reservations_;
}

void Reservations::add(Reservation&& reservation) {
    if (reservation.layers.empty()) falls_.push_back(reservation.from);
    for (const Occupation& layer : reservation.layers) falls_.push_back(layer.from);
    reserved_.set(reservation.job);
    reservations_.push_back(std::move(reservation));
}

void Reservations::add(LaterSteps&& later) {
    for (const Occupation& gain : later.gains) falls_.push_back(gain.from);
    later_.push_back(std::move(later));
}

std::optional<Reservation> Reservations::remove(std::uint32_t pending) {
    if (!reserved_[pending]) return std::nullopt;
    const auto own = std::ranges::find(reservations_, pending, &Reservation::job);
    if (own == reservations_.end()) return std::nullopt;
    Reservation removed = std::move(*own);
    reservations_.erase(own);
    if (removed.layers.empty()) forget_fall(removed.from);
    for (const Occupation& layer : removed.layers) forget_fall(layer.from);
    return removed;
}

std::optional<LaterSteps> Reservations::remove_later_steps(JobId job) {
    // Elements of an array share a number until they start; the last is who was tried just now.
    const auto from_behind =
        std::ranges::find(later_.rbegin(), later_.rend(), job, &LaterSteps::job);
    if (from_behind == later_.rend()) return std::nullopt;
    const auto own = std::prev(from_behind.base());
    LaterSteps removed = std::move(*own);
    later_.erase(own);
    for (const Occupation& gain : removed.gains) forget_fall(gain.from);
    return removed;
}

void Reservations::forget_fall(Time time) {
    const auto fall = std::ranges::find(falls_, time);
    if (fall != falls_.end()) falls_.erase(fall);
}

}  // namespace elastic::core
