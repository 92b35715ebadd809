// SPDX-License-Identifier: MIT
// Requests come before pending jobs ([lina] algorithm 2), so a log with many of them can starve a
// job that needs nearly all nodes: a single node that is granted for long moves its start by hours,
// other jobs are backfilled into the time that this opens, and so on without an end.  With a bound,
// what a request may take is what leaves such a job a start within the bound.
//
// Always holds afterwards: the profile is as it was before.
#include "core/pass/stages/kept_promises.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/pass/choices/choices.hpp"

namespace elastic::core {

KeptPromises::KeptPromises(Books& books) : books_(books) {
    if (books.policy().head_delay >= kNever) return;
    for (const std::uint32_t pending : books.index().promised)
        if (!books.decided(pending)) keep(pending);
}

KeptPromises::~KeptPromises() {
    for (const std::uint32_t pending : kept_) books_.lift_reservation(pending);
}

void KeptPromises::keep(std::uint32_t pending) {
    const PendingJob& job = books_.snapshot().pending[pending];
    const int size = choices::initial_size(books_, job);
    if (size < 1 || size > books_.nodes_in(job.eligible) || books_.is_deferred(job)) return;
    if (!job.elastic.profile.empty()) return keep_steps(pending);
    const Eligibility& eligible = books_.eligible(job.eligible);
    const Duration duration = books_.end_of(job, size) - books_.snapshot().now;
    Reservation reservation;
    reservation.job = pending;
    reservation.nodes.assign(books_.pools(), 0);
    const auto from = books_.profile().earliest(eligible, size, duration, reservation.nodes);
    if (!from) return;
    reservation.from = *from;
    if (const Time latest = job.promised + books_.policy().head_delay; latest > *from) {
        PoolCounts then(books_.pools(), 0);
        const auto free = [&](PoolId pool) {
            return books_.profile().free_between(pool, latest, latest + duration);
        };
        if (choose(eligible, size, free, then) == size) {
            reservation.from = latest;
            reservation.nodes = then;
        }
    }
    reservation.to =
        std::max(reservation.from + duration, std::nextafter(reservation.from, kNever));
    books_.reserve(std::move(reservation));
    kept_.push_back(pending);
}

void KeptPromises::keep_steps(std::uint32_t pending) {
    const Time now = books_.snapshot().now;
    const Time latest = books_.snapshot().pending[pending].promised + books_.policy().head_delay;
    auto reservation = books_.fit(pending, now);
    if (!reservation) return;
    if (latest > reservation->from)
        if (auto then = books_.fit(pending, latest); then && then->from == latest)
            reservation = std::move(then);
    books_.reserve(*std::move(reservation));
    kept_.push_back(pending);
}

}  // namespace elastic::core
