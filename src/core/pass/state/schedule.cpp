// SPDX-License-Identifier: MIT
// What a job can give back for a reservation is booked as free from then on (holding.hpp), so a
// resize replaces one holding of it by another.
//
// Always holds: the availability profile never has a negative value; a job has at most one action
// that resizes or starts it.
#include "core/pass/state/schedule.hpp"

#include <algorithm>
#include <utility>

namespace elastic::core {

void Schedule::begin(const Snapshot& snapshot, const SnapshotIndex& index, const Policy& policy) {
    SystemState::begin(snapshot, index, policy);
    plan_.clear();
    released_.clear();
    withdraws_ = enlarges_ = false;
}

void Schedule::count_on_returns() {
    if (queue_.is_anyone_waiting()) running_.count_on_returns(availability());
}

void Schedule::book_growth(std::uint32_t running, const PoolCounts& more) {
    const Holding before = running_.holding(running), after = running_.holding_after(running, more);
    availability().move_vacancy(before.back, before.end, before.returnable);
    availability().take(snapshot_->now, after.end, more);
    availability().move_vacancy(after.end, after.back, after.returnable);
}

// The victim runs longer on the nodes that it keeps; the nodes that it gives up are free as soon as
// its beneficiary ends, or at once where the beneficiary does not use them.
void Schedule::book_shrink(const Shrinkage& part, Time beneficiary_end) {
    const Holding before = running_.holding(part.victim), after = running_.holding_after(part);
    availability().move_vacancy(before.back, before.end, before.returnable);
    availability().move_vacancy(before.end, after.end, after.nodes);
    availability().move_vacancy(before.end, beneficiary_end, part.used);
    availability().move_vacancy(before.end, availability().soon(),
                                difference(part.nodes, part.used));
    availability().move_vacancy(after.end, after.back, after.returnable);
}

Action& Schedule::add(ActionKind kind, Reason reason, JobId job, const PoolCounts& nodes) {
    Action& action = plan_.actions.emplace_back();
    action.kind = kind;
    action.reason = reason;
    action.job = job;
    action.nodes = nodes;
    return action;
}

void Schedule::claim(std::uint32_t pending) {
    queue_.decide(pending);
    queue_.claim(pending);
}

void Schedule::start(std::uint32_t pending, const PoolCounts& idle, int size, Reason reason) {
    availability().take(snapshot_->now, times_.end_of(snapshot_->pending[pending], size), idle);
    start_action(pending, idle, size, reason);
}

void Schedule::start_action(std::uint32_t pending, const PoolCounts& idle, int size,
                            Reason reason) {
    const PendingJob& job = snapshot_->pending[pending];
    queue_.decide(pending);
    if (reason == Reason::backfilled) queue_.note_backfill();
    Action& action = add(ActionKind::start, reason, job.id, idle);
    action.size_after = size;
    action.place = pending;
}

int Schedule::shareable(PoolId pool, int idle, Time end) {
    const Time shadow = reservations_.first_fall();
    const int shared = nodes_.shared(pool);
    if (end <= shadow || shared == 0) return shared;
    return std::clamp(availability().free_between(pool, shadow, end) - idle, 0, shared);
}

void Schedule::share(const PoolCounts& parts, Time end) {
    const Time shadow = reservations_.first_fall();
    if (end <= shadow) return;
    availability().take(shadow, end, parts);
    plan_.actions.back().parts = parts;
}

void Schedule::enlarge_start(std::size_t action, const PoolCounts& more, Time until) {
    Action& start = plan_.actions[action];
    availability().take(snapshot_->now, until, more);
    start.nodes = sum(start.nodes, more);
    start.size_after += total(more);
    enlarges_ = true;
}

void Schedule::start_by_shrinking(std::uint32_t pending, const PoolCounts& idle, int size,
                                  const std::vector<Shrinkage>& victims, Reason why) {
    const PendingJob& job = snapshot_->pending[pending];
    for (const Shrinkage& victim : victims) shrink(victim, job.id, times_.end_of(job, size), why);
    start(pending, idle, size, Reason::by_shrinking);
    queue_.claim(pending);
    Action& action = plan_.actions.back();
    action.deferred = true;
    for (const Shrinkage& victim : victims) action.nodes = sum(action.nodes, victim.used);
}

void Schedule::preempt(std::uint32_t running, std::uint32_t pending) {
    const RunningJob& job = snapshot_->running[running];
    const Holding holding = running_.holding(running);
    availability().move_vacancy(holding.back, holding.end, holding.returnable);
    availability().move_vacancy(holding.end, availability().soon(), job.held);
    running_.touch(running);
    Action& action = add(ActionKind::preempt, Reason::has_precedence, job.id, job.held);
    action.beneficiary = snapshot_->pending[pending].id;
    action.place = pending;
}

void Schedule::start_by_trading(std::uint32_t pending, const PoolCounts& nodes,
                                const PoolCounts& idle, int size) {
    availability().take(snapshot_->now, times_.end_of(snapshot_->pending[pending], size), idle);
    start_action(pending, nodes, size, Reason::by_trading);
}

void Schedule::trade(const Promise& promise, JobId beneficiary, const PoolCounts& nodes) {
    Action& action = add(ActionKind::trade, Reason::starts_sooner, promise.job, nodes);
    action.op = promise.op;
    action.beneficiary = beneficiary;
}

void Schedule::shrink_for_anybody(const Shrinkage& part) {
    shrink(part, 0, snapshot_->now, Reason::for_pending_job);
}

void Schedule::leave(const Shrinkage& part, Reason reason) {
    shrink(part, 0, kNever, reason);
}

void Schedule::withhold(Time from, Time to, const PoolCounts& nodes) {
    availability().take(from, to, nodes);
    if (from > snapshot_->now) reservations_.add_fall(from);
}

void Schedule::shrink(const Shrinkage& part, JobId beneficiary, Time beneficiary_end,
                      Reason reason) {
    book_shrink(part, beneficiary_end);
    running_.touch(part.victim);
    const JobId victim = snapshot_->running[part.victim].id;
    Action& action = add(ActionKind::shrink, reason, victim, part.nodes);
    action.beneficiary = total(part.used) > 0 ? beneficiary : 0;
    action.size_after = part.size_after;
}

void Schedule::grant(const GrowthRequest& request, std::uint32_t running, const PoolCounts& idle,
                     const std::vector<Shrinkage>& victims) {
    const RunningJob& job = snapshot_->running[running];
    running_.touch(running);
    PoolCounts nodes = idle;
    for (const Shrinkage& victim : victims) {
        shrink(victim, job.id, times_.end_of(job), Reason::for_evolving_job);
        nodes = sum(nodes, victim.used);
    }
    availability().take(snapshot_->now, times_.end_of(job), idle);
    Action& action = add(ActionKind::expand, Reason::evolving_request, job.id, nodes);
    action.op = request.op;
    action.place = running;
    action.deferred = !victims.empty();
    action.size_after = total(job.held) + total(nodes);
}

void Schedule::deny(const GrowthRequest& request, Reason reason) {
    add(ActionKind::deny, reason, request.job, PoolCounts(pools(), 0)).op = request.op;
}

void Schedule::expand(std::uint32_t running, const PoolCounts& idle, int size_after,
                      Reason reason) {
    const RunningJob& job = snapshot_->running[running];
    running_.touch(running);
    book_growth(running, idle);
    Action& action = add(ActionKind::expand, reason, job.id, idle);
    action.size_after = size_after;
    action.place = running;
}

void Schedule::keep(const Promise& offer) {
    book_growth(running_.find(offer.job), offer.nodes);
}

void Schedule::withdraw(const Promise& offer, Reason reason) {
    withdraws_ = true;
    add(ActionKind::withdraw, reason, offer.job, offer.nodes).op = offer.op;
}

void Schedule::reserve(Reservation&& reservation) {
    if (reservation.layers.empty())
        availability().take(reservation.from, reservation.to, reservation.nodes);
    take(availability(), reservation.layers);
    reservations_.add(std::move(reservation));
}

PoolCounts Schedule::free_of(const PoolCounts& nodes, Time from, Time to) {
    PoolCounts free = nodes;
    for (PoolId pool = 0; pool < pools(); ++pool)
        if (free[pool] > 0)
            free[pool] = std::clamp(availability().free_between(pool, from, to), 0, free[pool]);
    return free;
}

void Schedule::reserve_what_is_free(Reservation&& reservation) {
    reservation.nodes = free_of(reservation.nodes, reservation.from, reservation.to);
    if (total(reservation.nodes) > 0) reserve(std::move(reservation));
}

std::vector<Reservation> Schedule::lift_planned_behind(std::uint32_t pending) {
    std::vector<std::uint32_t> behind;
    for (const Reservation& reservation : reservations_.all())
        if (reservation.planned && reservation.job > pending) behind.push_back(reservation.job);
    std::vector<Reservation> lifted;
    for (std::uint32_t job : behind) lifted.push_back(*lift_reservation(job));
    return lifted;
}

std::optional<Reservation> Schedule::lift_reservation(std::uint32_t pending) {
    auto lifted = reservations_.remove(pending);
    if (!lifted) return std::nullopt;
    if (lifted->layers.empty()) availability().give_back(lifted->from, lifted->to, lifted->nodes);
    give_back(availability(), lifted->layers);
    return lifted;
}

void Schedule::release_deferred() {
    const auto find = [this] {
        return std::ranges::find_if(reservations_.all(), [this](const Reservation& reservation) {
            return queue_.is_deferred(reservation.job) && !reservation.planned;
        });
    };
    for (auto found = find(); found != reservations_.all().end(); found = find())
        released_.push_back(*lift_reservation(found->job));
}

void Schedule::announce_reservations() {
    for (Reservation& reservation : released_) reservations_.add(std::move(reservation));
    released_.clear();
    // A reader that keeps one reservation a job keeps the last one told, which is the first copy's.
    for (const Reservation& reservation : reservations_.in_order()) {
        Action& action = add(ActionKind::reserve, Reason::head_of_queue,
                             snapshot_->pending[reservation.job].id, reservation.nodes);
        action.time = reservation.from;
        action.anew = reservation.anew;
        action.size_after = total(reservation.nodes);
        action.place = reservation.job;
    }
}

// A job with steps has other nodes at other times; who waits for nodes has been promised these; and
// what is lent is so until its reservation begins.
void Schedule::note_spare(ActionKind kind) {
    for (Action& action : plan_.actions) {
        if (action.kind != kind || action.deferred) continue;
        if (action.reason == Reason::by_trading || action.reason == Reason::lent) continue;
        if (kind == ActionKind::start) {
            const PendingJob& job = snapshot_->pending[action.place];
            if (job.elastic.profile.empty())
                action.spare =
                    spare(action.nodes, job.eligible, times_.end_of(job, action.size_after));
        } else {
            const RunningJob& job = snapshot_->running[action.place];
            if (job.elastic.profile.empty())
                action.spare = spare(action.nodes, job.eligible, times_.end_of(job));
        }
    }
}

PoolCounts Schedule::spare(const PoolCounts& nodes, EligibilityId id, Time end) const {
    double price = 0;
    for (PoolId pool = 0; pool < pools(); ++pool)
        if (nodes[pool] > 0) price = std::max(price, snapshot_->pools[pool].price);
    PoolCounts result(pools(), 0);
    for (PoolId pool : eligible(id))
        if (snapshot_->pools[pool].price <= price)
            result[pool] = std::max(0, nodes_.availability().free_until(pool, end));
    return result;
}

const Plan& Schedule::finish() {
    if (enlarges_)
        for (Action& action : plan_.actions) action.spare.clear();
    if (withdraws_)
        std::stable_partition(plan_.actions.begin(), plan_.actions.end(), [](const Action& action) {
            return action.kind == ActionKind::withdraw;
        });
    return plan_;
}

}  // namespace elastic::core
