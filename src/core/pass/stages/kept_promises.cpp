// SPDX-License-Identifier: MIT
// Requests come before pending jobs ([lina] algorithm 2), so a log with many of them can starve a
// job that needs nearly all nodes: a single node that is granted for long moves its start by hours,
// other jobs are backfilled into the time that this opens, and so on without an end.  With a bound,
// what a request may take is what leaves such a job a start within the bound.
//
// Always holds afterwards: the availability profile is as it was before.
#include "core/pass/stages/kept_promises.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/pass/choices/choices.hpp"
#include "core/pass/stages/together.hpp"

namespace elastic::core {

KeptPromises::KeptPromises(Schedule& schedule) : schedule_(schedule) {
    if (schedule.policy().head_delay >= kNever) return;
    for (const std::uint32_t pending : schedule.index().promised)
        if (!schedule.queue().decided(pending)) keep(pending);
}

KeptPromises::~KeptPromises() {
    for (const std::uint32_t pending : kept_) schedule_.lift_reservation(pending);
}

void KeptPromises::keep(std::uint32_t pending) {
    if (schedule_.queue().is_deferred(pending) || schedule_.reservations().of(pending) > 0) return;
    const PendingJob& job = schedule_.snapshot().pending[pending];
    if (job.together) return keep_together(pending);
    const int size = choices::initial_size(schedule_, job);
    if (size < 1 || size > schedule_.nodes().count(job.eligible)) return;
    if (!job.elastic.profile.empty()) return keep_steps(pending);
    const Eligibility& eligible = schedule_.eligible(job.eligible);
    const Duration duration = schedule_.times().end_of(job, size) - schedule_.snapshot().now;
    Reservation reservation;
    reservation.job = pending;
    reservation.nodes.assign(schedule_.pools(), 0);
    const auto from =
        schedule_.availability().earliest(eligible, size, duration, reservation.nodes);
    if (!from) return;
    reservation.from = *from;
    if (const Time latest = job.promised + schedule_.policy().head_delay; latest > *from) {
        PoolCounts then(schedule_.pools(), 0);
        const auto free = [&](PoolId pool) {
            return schedule_.availability().free_between(pool, latest, latest + duration);
        };
        if (choose(eligible, size, free, then) == size) {
            reservation.from = latest;
            reservation.nodes = then;
        }
    }
    reservation.to =
        std::max(reservation.from + duration, std::nextafter(reservation.from, kNever));
    schedule_.reserve(std::move(reservation));
    kept_.push_back(pending);
}

void KeptPromises::keep_together(std::uint32_t first) {
    const Together jobs(schedule_, first);
    const Time latest =
        schedule_.snapshot().pending[first].promised + schedule_.policy().head_delay;
    if (!jobs.may_reserve()) return;
    auto reservations = jobs.earliest(schedule_.snapshot().now);
    if (!reservations.empty() && latest > reservations.front().from)
        if (auto then = jobs.earliest(latest); !then.empty() && then.front().from == latest)
            reservations = std::move(then);
    for (Reservation& one : reservations) {
        kept_.push_back(one.job);
        schedule_.reserve(std::move(one));
    }
}

void KeptPromises::keep_steps(std::uint32_t pending) {
    const Time now = schedule_.snapshot().now;
    const Time latest =
        schedule_.snapshot().pending[pending].promised + schedule_.policy().head_delay;
    auto reservation = schedule_.fit(pending, now);
    if (!reservation) return;
    if (latest > reservation->from)
        if (auto then = schedule_.fit(pending, latest); then && then->from == latest)
            reservation = std::move(then);
    schedule_.reserve(*std::move(reservation));
    kept_.push_back(pending);
}

}  // namespace elastic::core
