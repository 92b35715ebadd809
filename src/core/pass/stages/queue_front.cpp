// SPDX-License-Identifier: MIT
// Conservative backfilling reserves for each blocked job, in the order of the queue
// and anew in each pass.  EASY reserves for the head of the queue only.  With several pools there
// is a head for each group of jobs that compete: a blocked job is one if any of its pools is not
// covered by the reservation of a job before it.  So a job that waits for the GPU nodes is not
// starved because the head waits for others.
//
// Always holds: at most one reservation a pool's first claimant, so no more
// reservations than pools; each stands in the profile, where no later job can
// take its nodes.  A job that is larger than all of its pools is not blocked but
// hopeless, and nobody waits for it; one whose nodes never come free by the
// estimates (down, or jobs without limit) has no reservation either.
#include "core/pass/stages/queue_front.hpp"

#include <algorithm>
#include <cmath>

#include "core/pass/choices/choices.hpp"

namespace elastic::core {

void QueueFront::begin(const Outlook& outlook) {
    blocked_pools_.assign(outlook.pools(), false);
    reserved_pools_.assign(outlook.pools(), false);
    const std::size_t eligibilities = outlook.snapshot().eligibilities.size();
    behind_.assign(eligibilities, false);
    reserved_.assign(eligibilities, false);
    unreserved_ = eligibilities;
}

void QueueFront::block(Books& books, std::uint32_t pending, int size) {
    const EligibilityId id = books.snapshot().pending[pending].eligible;
    if (reserved_[id] || size > books.nodes_in(id)) return;
    mark(books, books.eligible(id), blocked_pools_, behind_, false);
    if (!reserve(books, pending, size) || choices::reserves_for_all(books.policy())) return;
    mark(books, books.eligible(id), reserved_pools_, reserved_, true);
    unreserved_ = std::count(reserved_.begin(), reserved_.end(), false);
}

// Whether it has what it is to have.
bool QueueFront::reserve(Books& books, std::uint32_t pending, int size) {
    const auto is_its_own = [&](const Reservation& other) { return other.job == pending; };
    const auto there = std::ranges::count_if(books.reservations(), is_its_own);
    const int wanted =
        choices::reserves_for_all(books.policy()) ? books.undecided_copies(pending) : 1;
    for (auto number = there; number < wanted; ++number)
        if (!reserve_one(books, pending, size)) return false;
    return true;
}

bool QueueFront::reserve_one(Books& books, std::uint32_t pending, int size) {
    const PendingJob& job = books.snapshot().pending[pending];
    if (!job.elastic.profile.empty()) return reserve_steps(books, pending);
    const Duration duration = books.end_of(job, size) - books.snapshot().now;
    Reservation reservation;
    reservation.job = pending;
    reservation.nodes.assign(books.pools(), 0);
    const auto from =
        books.profile().earliest(books.eligible(job.eligible), size, duration, reservation.nodes);
    if (!from) return false;
    reservation.from = *from;
    // A job of no length, too, is there for an instant.
    reservation.to = std::max(*from + duration, std::nextafter(*from, kNever));
    books.reserve(reservation);
    return true;
}

bool QueueFront::reserve_steps(Books& books, std::uint32_t pending) {
    const auto reservation = books.fit(pending, books.snapshot().now);
    if (reservation) books.reserve(*reservation);
    return reservation.has_value();
}

// Marks the pools, and then the eligibilities of which all (or any) pools are marked.
void QueueFront::mark(const Outlook& outlook, const Eligibility& eligible,
                      std::vector<std::uint8_t>& pools, std::vector<std::uint8_t>& eligibilities,
                      bool all) {
    for (PoolId pool : eligible) pools[pool] = true;
    const auto marked = [&](PoolId pool) { return pools[pool] != 0; };
    for (EligibilityId id = 0; id < eligibilities.size(); ++id) {
        const Eligibility& other = outlook.eligible(id);
        eligibilities[id] = all ? std::all_of(other.begin(), other.end(), marked)
                                : std::any_of(other.begin(), other.end(), marked);
    }
}

}  // namespace elastic::core
