// SPDX-License-Identifier: MIT
// Conservative backfilling reserves for each blocked job, in the order of the queue and anew in
// each pass.  EASY reserves for the head of the queue only.  With several pools there is a head for
// each group of jobs that compete: a blocked job is one if any of its pools is not covered by the
// reservation of a job before it.  So a job that waits for the GPU nodes is not starved because the
// head waits for others.
//
// A reservation alone does not end a wait: each time its start is pushed back, by a request or by a
// job that gives nodes back and so runs longer, longer jobs fit in front of it, and then it cannot
// come forward again.  With HeadDelayBinds=all nobody is backfilled past the latest start that a
// job is to have by its promise: what is free from then on is set aside until it can start.  That
// holds for who comes behind the job.  Where jobs that come before it (of a partition of higher
// PriorityTier, of higher priority) have started in this pass, or wait for any of its pools, they
// may have pushed its start back by right; then it is promised another one, and nothing is set
// aside, since nodes would be idle for as long as such jobs keep coming.
//
// Jobs that start together are blocked together, and have reservations for one time.
//
// With first-fit nobody has a reservation, and the first blocked job settles its pools all the
// same: behind it only jobs that could start are looked for.
//
// Always holds: at most one reservation a pool's first claimant, so no more reservations than
// pools; each stands in the availability profile, where no later job can take its nodes.  A job
// that is larger than all of its pools is not blocked but hopeless, and nobody waits for it; one
// whose nodes never come free by the estimates (down, or jobs without limit) has no reservation
// either, nor has one that the snapshot lets have none, or not so late.
#include "core/pass/stages/queue_front.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/pass/choices/choices.hpp"

namespace elastic::core {
void QueueFront::begin(const SystemState& state) {
    blocked_pools_.reset(state.pools());
    reserved_pools_.reset(state.pools());
    unreserved_ = state.snapshot().eligibilities.size();
    behind_.reset(unreserved_);
    reserved_.reset(unreserved_);
}

void QueueFront::block(Schedule& schedule, std::uint32_t pending, int size) {
    const PendingJob& job = schedule.snapshot().pending[pending];
    const EligibilityId id = job.eligible;
    if (job.together) return block_together(schedule, pending);
    if (reserved_[id] || size > schedule.nodes().count(id) || job.not_before >= kNever ||
        job.reserves == 0)
        return;
    const bool is_first = !behind_[id];
    mark(schedule, schedule.eligible(id), blocked_pools_, behind_, false);
    const Policy& policy = schedule.policy();
    if (choices::reserves(policy) &&
        (!reserve(schedule, pending, size, is_first) || choices::reserves_for_all(policy)))
        return;
    settle(schedule, schedule.eligible(id));
}

// Any pool of theirs that no job before them has a reservation for makes them a head.
void QueueFront::block_together(Schedule& schedule, std::uint32_t first) {
    const Together jobs(schedule, first);
    const auto id = [&](std::uint32_t place) {
        return schedule.snapshot().pending[place].eligible;
    };
    if (jobs.all([&](std::uint32_t place) { return reserved_[id(place)]; })) return;
    if (!jobs.may_reserve()) return;
    const bool is_first = !jobs.any([&](std::uint32_t place) { return behind_[id(place)]; });
    const std::uint32_t end = Together::end(schedule.snapshot(), first);
    for (std::uint32_t place = first; place < end; ++place)
        mark(schedule, schedule.eligible(id(place)), blocked_pools_, behind_, false);
    const Policy& policy = schedule.policy();
    if (choices::reserves(policy) &&
        (!reserve_together(schedule, jobs, is_first) || choices::reserves_for_all(policy)))
        return;
    for (std::uint32_t place = first; place < end; ++place)
        settle(schedule, schedule.eligible(id(place)));
}

// Whether they have reservations.
bool QueueFront::reserve_together(Schedule& schedule, const Together& jobs, bool is_first) {
    const Snapshot& snapshot = schedule.snapshot();
    if (jobs.any([&](std::uint32_t place) { return schedule.reservations().of(place) > 0; }))
        return true;
    std::vector<Reservation> found = jobs.earliest(snapshot.now);
    if (found.empty() || found.front().from > snapshot.now + snapshot.window) return false;
    for (Reservation& one : found) {
        keep_promise(schedule, snapshot.pending[one.job].requested_size(), is_first, one);
        schedule.reserve(std::move(one));
    }
    return true;
}

// Whether the place has all reservations that it is to have.
bool QueueFront::reserve(Schedule& schedule, std::uint32_t pending, int size, bool is_first) {
    const int wanted = choices::reserves_for_all(schedule.policy())
                           ? std::min(schedule.queue().undecided_copies(pending),
                                      schedule.snapshot().pending[pending].reserves)
                           : 1;
    for (auto number = schedule.reservations().of(pending); number < wanted; ++number)
        if (!reserve_one(schedule, pending, size, is_first)) return false;
    return true;
}

std::optional<Reservation> QueueFront::earliest(Schedule& schedule, std::uint32_t pending,
                                                int size) {
    const PendingJob& job = schedule.snapshot().pending[pending];
    return job.elastic.profile.empty()
               ? whole(schedule, pending, size)
               : schedule.fit(pending, std::max(schedule.snapshot().now, job.not_before));
}

bool QueueFront::reserve_one(Schedule& schedule, std::uint32_t pending, int size, bool is_first) {
    auto reservation = earliest(schedule, pending, size);
    if (!reservation || reservation->from > schedule.snapshot().now + schedule.snapshot().window)
        return false;
    keep_promise(schedule, size, is_first, *reservation);
    schedule.reserve(*std::move(reservation));
    return true;
}

// The reservation of a job without an evolution profile.
std::optional<Reservation> QueueFront::whole(Schedule& schedule, std::uint32_t pending, int size) {
    const PendingJob& job = schedule.snapshot().pending[pending];
    const Duration duration = schedule.times().end_of(job, size) - schedule.snapshot().now;
    Reservation reservation;
    reservation.job = pending;
    reservation.nodes.assign(schedule.pools(), 0);
    AvailabilityProfile& availability = schedule.availability();
    const Eligibility& eligible = schedule.eligible(job.eligible);
    const auto from = schedule.queue().is_deferred(pending)
                          ? availability.earliest_from(job.not_before, eligible, size, duration,
                                                       reservation.nodes)
                          : availability.earliest(eligible, size, duration, reservation.nodes);
    if (!from) return std::nullopt;
    reservation.from = *from;
    // A job of no length, too, is there for an instant.
    reservation.to = std::max(*from + duration, std::nextafter(*from, kNever));
    return reservation;
}

// Whether a job that comes before this one starts in this pass on nodes that it could have, and
// stays beyond its promised start.
bool QueueFront::is_overtaken(const Schedule& schedule, std::uint32_t pending) {
    const PendingJob& job = schedule.snapshot().pending[pending];
    const Eligibility& eligible = schedule.eligible(job.eligible);
    return std::ranges::any_of(schedule.plan().actions, [&](const Action& action) {
        if (action.kind != ActionKind::start || action.place >= pending) return false;
        const PendingJob& before = schedule.snapshot().pending[action.place];
        if (schedule.times().end_of(before, action.size_after) <= job.promised) return false;
        return std::ranges::any_of(eligible, [&](PoolId pool) { return action.nodes[pool] > 0; });
    });
}

// What the job was promised binds those that come behind it.
void QueueFront::keep_promise(Schedule& schedule, int size, bool is_first,
                              Reservation& reservation) {
    const std::uint32_t pending = reservation.job;
    if (!has_promise(schedule, pending) || schedule.queue().is_deferred(pending)) return;
    const PendingJob& job = schedule.snapshot().pending[pending];
    reservation.anew =
        reservation.from > job.promised && (!is_first || is_overtaken(schedule, pending));
    if (!reservation.anew) set_aside(schedule, job, size, reservation);
}

// A promise binds all, and of copies it is the first one's.
bool QueueFront::has_promise(const Schedule& schedule, std::uint32_t pending) {
    const PendingJob& job = schedule.snapshot().pending[pending];
    return schedule.policy().head_delay_binds == HeadDelayBinds::all && job.promised < kNever &&
           schedule.queue().undecided_copies(pending) == job.copies &&
           schedule.reservations().of(pending) == 0;
}

// What is free from the latest start that the job is to have until it can start.  Not at once, so
// that it can be lent meanwhile, and returned.
void QueueFront::set_aside(Schedule& schedule, const PendingJob& job, int size,
                           Reservation& reservation) {
    const Policy& policy = schedule.policy();
    const Time soon =
        std::max(schedule.snapshot().now + policy.resize_gap, schedule.availability().soon());
    const Time latest = std::max(job.promised + policy.head_delay, soon);
    if (latest >= reservation.from) return;
    Occupation early{latest, reservation.from, PoolCounts(schedule.pools(), 0)};
    const auto free = [&](PoolId pool) {
        return schedule.availability().free_between(pool, early.from, early.to);
    };
    choose(schedule.eligible(job.eligible), size, free, early.nodes);
    if (reservation.layers.empty())
        reservation.layers = {{reservation.from, reservation.to, reservation.nodes}};
    reservation.layers.push_back(std::move(early));
}

// These pools have the reservation of their first claimant.
void QueueFront::settle(const SystemState& state, const Eligibility& eligible) {
    mark(state, eligible, reserved_pools_, reserved_, true);
    unreserved_ = 0;
    for (EligibilityId id = 0; id < state.snapshot().eligibilities.size(); ++id)
        unreserved_ += reserved_[id] ? 0 : 1;
}

// Marks the pools, and then the eligibilities of which all (or any) pools are marked.
void QueueFront::mark(const SystemState& state, const Eligibility& eligible, Marks& pools,
                      Marks& eligibilities, bool all) {
    for (PoolId pool : eligible) pools.set(pool);
    const auto marked = [&](PoolId pool) { return pools[pool]; };
    for (EligibilityId id = 0; id < state.snapshot().eligibilities.size(); ++id) {
        const Eligibility& other = state.eligible(id);
        if (all ? std::ranges::all_of(other, marked) : std::ranges::any_of(other, marked))
            eligibilities.set(id);
    }
}

}  // namespace elastic::core
