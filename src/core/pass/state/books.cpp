// SPDX-License-Identifier: MIT
// Books what the snapshot says and what the plan decides, in one place, so that
// every stage sees what the stages before it have left.
//
// What a job can give back for a reservation is booked as free from then on
// (holding.hpp), so a resize replaces one holding of it by another.
//
// Always holds: the profile never has a negative value; a job has at most one
// action that resizes or starts it.
#include "core/pass/state/books.hpp"

#include <algorithm>

namespace elastic::core {
void Books::begin(const Snapshot& snapshot, const SnapshotIndex& index, const Policy& policy) {
    snapshot_ = &snapshot;
    index_ = &index;
    policy_ = &policy;
    plan_.clear();
    withdraws_ = false;
    touched_.reset(snapshot.running.size());
    returns_.reset(snapshot.running.size());
    asks_.reset(snapshot.running.size());
    decided_.reset(snapshot.pending.size());
    decided_copies_.clear();
    claimants_.clear();
    undecided_ = index.waiting;
    backfilled_ = false;
    equal_share_ = -1;
    reservations_.clear();
    PoolCounts idle(pools(), 0);
    for (PoolId pool = 0; pool < pools(); ++pool) idle[pool] = snapshot.pools[pool].idle;
    profile_.begin(snapshot.now, idle, index.vacancies);
    shared_.assign(pools(), 0);
    for (const SharedNodes& shared : snapshot.shared_until) shared_[shared.pool] += shared.nodes;
    index_running_jobs();
    for (const GrowthRequest& request : snapshot.requests)
        if (auto place = find_running(request.job); place < snapshot.running.size())
            asks_.set(place);
    for (const Promise& promise : snapshot.promises)
        if (auto place = find_running(promise.job); place < snapshot.running.size())
            touched_.set(place);
}

// Who has an agreement in flight takes part, too.  Who has once declined or let an offer expire
// might do so again, so nothing is lent to it.
void Books::count_on_returns() {
    if (!is_anyone_waiting()) return;
    for (std::uint32_t i = 0; i < snapshot_->running.size(); ++i) {
        const RunningJob& job = snapshot_->running[i];
        const bool takes_part = job.resizable || touched_[i];
        if (!job.elastic.malleable || !takes_part || asks_[i] || job.not_before > 0) continue;
        returns_.set(i);
        if (returnable(job, job.held, returnable_) == 0) continue;
        const Time end = end_of(job);
        profile_.move_vacancy(end, std::min(end, may_resize_from(job, job.last_resize)),
                              returnable_);
    }
}

void Books::index_running_jobs() {
    running_by_id_.clear();
    if (snapshot_->promises.empty() && snapshot_->requests.empty()) return;
    for (std::uint32_t i = 0; i < snapshot_->running.size(); ++i)
        running_by_id_.emplace_back(snapshot_->running[i].id, i);
    std::sort(running_by_id_.begin(), running_by_id_.end());
}

void Books::book_growth(std::uint32_t running, const PoolCounts& more) {
    const Holding before = holding(running), after = holding_after(running, more);
    profile_.move_vacancy(before.back, before.end, before.returnable);
    profile_.take(snapshot_->now, after.end, more);
    profile_.move_vacancy(after.end, after.back, after.returnable);
}

// The victim runs longer with what it keeps; what it gives up is free as soon as
// its beneficiary ends, or at once where that does not use it.
void Books::book_shrink(const Shrinkage& part, Time beneficiary_end) {
    const Holding before = holding(part.victim), after = holding_after(part);
    profile_.move_vacancy(before.back, before.end, before.returnable);
    profile_.move_vacancy(before.end, after.end, after.nodes);
    profile_.move_vacancy(before.end, beneficiary_end, part.used);
    profile_.move_vacancy(before.end, profile_.soon(), difference(part.nodes, part.used));
    profile_.move_vacancy(after.end, after.back, after.returnable);
}

Action& Books::add(ActionKind kind, Reason reason, JobId job, const PoolCounts& nodes) {
    Action& action = plan_.actions.emplace_back();
    action.kind = kind;
    action.reason = reason;
    action.job = job;
    action.nodes = nodes;
    return action;
}

void Books::decide(std::uint32_t pending) {
    const std::vector<PendingJob>& queue = snapshot_->pending;
    const auto mark = [&](std::uint32_t i) {
        if (!decided_[i]) --undecided_;
        decided_.set(i);
    };
    if (undecided_copies(pending) > 1)
        ++decided_copies_[pending];
    else
        mark(pending);
    if (!index_->alternatives) return;
    for (std::uint32_t i = 0; i < queue.size(); ++i)
        if (queue[i].id == queue[pending].id &&
            (queue[i].alternative || queue[pending].alternative))
            mark(i);
}

void Books::claim(std::uint32_t pending) {
    decide(pending);
    claimants_.push_back(snapshot_->pending[pending].id);
}

void Books::start(std::uint32_t pending, const PoolCounts& idle, int size, Reason reason) {
    const PendingJob& job = snapshot_->pending[pending];
    decide(pending);
    profile_.take(snapshot_->now, end_of(job, size), idle);
    backfilled_ = backfilled_ || reason == Reason::backfilled;
    Action& action = add(ActionKind::start, reason, job.id, idle);
    action.size_after = size;
    action.entry = pending;
}

void Books::start_by_shrinking(std::uint32_t pending, const PoolCounts& idle, int size,
                               const std::vector<Shrinkage>& victims) {
    const PendingJob& job = snapshot_->pending[pending];
    for (const Shrinkage& victim : victims)
        shrink(victim, job.id, end_of(job, size), Reason::for_pending_job);
    start(pending, idle, size, Reason::by_shrinking);
    claimants_.push_back(job.id);
    Action& action = plan_.actions.back();
    action.deferred = true;
    for (const Shrinkage& victim : victims) action.nodes = sum(action.nodes, victim.used);
}

void Books::shrink_for_anybody(const Shrinkage& part) {
    shrink(part, 0, snapshot_->now, Reason::for_pending_job);
}

void Books::shrink(const Shrinkage& part, JobId beneficiary, Time beneficiary_end, Reason reason) {
    book_shrink(part, beneficiary_end);
    touched_.set(part.victim);
    const JobId victim = snapshot_->running[part.victim].id;
    Action& action = add(ActionKind::shrink, reason, victim, part.nodes);
    action.beneficiary = beneficiary;
    action.size_after = part.size_after;
}

void Books::grant(const GrowthRequest& request, std::uint32_t running, const PoolCounts& idle,
                  const std::vector<Shrinkage>& victims) {
    const RunningJob& job = snapshot_->running[running];
    touched_.set(running);
    PoolCounts nodes = idle;
    for (const Shrinkage& victim : victims) {
        shrink(victim, job.id, end_of(job), Reason::for_evolving_job);
        nodes = sum(nodes, victim.used);
    }
    profile_.take(snapshot_->now, end_of(job), idle);
    Action& action = add(ActionKind::expand, Reason::evolving_request, job.id, nodes);
    action.op = request.op;
    action.deferred = !victims.empty();
    action.size_after = total(job.held) + total(nodes);
}

void Books::deny(const GrowthRequest& request, Reason reason) {
    add(ActionKind::deny, reason, request.job, PoolCounts(pools(), 0)).op = request.op;
}

void Books::expand(std::uint32_t running, const PoolCounts& idle, int size_after, Reason reason) {
    const RunningJob& job = snapshot_->running[running];
    touched_.set(running);
    book_growth(running, idle);
    add(ActionKind::expand, reason, job.id, idle).size_after = size_after;
}

void Books::keep(const Promise& offer) {
    book_growth(find_running(offer.job), offer.nodes);
}

void Books::withdraw(const Promise& offer) {
    withdraws_ = true;
    add(ActionKind::withdraw, Reason::queue_needs_nodes, offer.job, offer.nodes).op = offer.op;
}

void Books::reserve(const Reservation& reservation) {
    profile_.take(reservation.from, reservation.to, reservation.nodes);
    reservations_.push_back(reservation);
}

std::optional<Reservation> Books::lift_reservation(std::uint32_t pending) {
    const auto own =
        std::find_if(reservations_.begin(), reservations_.end(),
                     [&](const Reservation& reservation) { return reservation.job == pending; });
    if (own == reservations_.end()) return std::nullopt;
    const Reservation lifted = *own;
    reservations_.erase(own);
    profile_.give_back(lifted.from, lifted.to, lifted.nodes);
    return lifted;
}

void Books::announce_reservations() {
    // Whoever keeps one for each job keeps the last, which is that of its first copy.
    std::sort(reservations_.begin(), reservations_.end(),
              [](const Reservation& a, const Reservation& b) {
                  return a.job != b.job ? a.job < b.job : a.from > b.from;
              });
    for (const Reservation& reservation : reservations_) {
        Action& action = add(ActionKind::reserve, Reason::head_of_queue,
                             snapshot_->pending[reservation.job].id, reservation.nodes);
        action.time = reservation.from;
        action.size_after = total(reservation.nodes);
        action.entry = reservation.job;
    }
}

const Plan& Books::finish() {
    if (withdraws_)
        std::stable_partition(plan_.actions.begin(), plan_.actions.end(), [](const Action& action) {
            return action.kind == ActionKind::withdraw;
        });
    return plan_;
}

}  // namespace elastic::core
