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
#include <iterator>
#include <utility>

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
    even_use_ = -1;
    reservations_.clear();
    released_.clear();
    reserved_.reset(snapshot.pending.size());
    later_.clear();
    falls_.clear();
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
    profile_.take(snapshot_->now, end_of(snapshot_->pending[pending], size), idle);
    start_action(pending, idle, size, reason);
}

void Books::start_action(std::uint32_t pending, const PoolCounts& idle, int size, Reason reason) {
    const PendingJob& job = snapshot_->pending[pending];
    decide(pending);
    backfilled_ = backfilled_ || reason == Reason::backfilled;
    Action& action = add(ActionKind::start, reason, job.id, idle);
    action.size_after = size;
    action.entry = pending;
}

void Books::enlarge_start(std::size_t action, const PoolCounts& more, Time until) {
    Action& start = plan_.actions[action];
    profile_.take(snapshot_->now, until, more);
    start.nodes = sum(start.nodes, more);
    start.size_after += total(more);
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

void Books::start_by_trading(std::uint32_t pending, const PoolCounts& nodes, const PoolCounts& idle,
                             int size) {
    profile_.take(snapshot_->now, end_of(snapshot_->pending[pending], size), idle);
    start_action(pending, nodes, size, Reason::by_trading);
}

void Books::trade(const Promise& promise, JobId beneficiary, const PoolCounts& nodes) {
    Action& action = add(ActionKind::trade, Reason::starts_sooner, promise.job, nodes);
    action.op = promise.op;
    action.beneficiary = beneficiary;
}

void Books::shrink_for_anybody(const Shrinkage& part) {
    shrink(part, 0, snapshot_->now, Reason::for_pending_job);
}

void Books::leave(const Shrinkage& part, Reason reason) {
    shrink(part, 0, kNever, reason);
}

void Books::withhold(Time from, const PoolCounts& nodes) {
    profile_.take(from, kNever, nodes);
    if (from > snapshot_->now) falls_.push_back(from);
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

void Books::withdraw(const Promise& offer, Reason reason) {
    withdraws_ = true;
    add(ActionKind::withdraw, reason, offer.job, offer.nodes).op = offer.op;
}

void Books::reserve(Reservation reservation) {
    if (reservation.layers.empty()) {
        profile_.take(reservation.from, reservation.to, reservation.nodes);
        falls_.push_back(reservation.from);
    }
    take(profile_, reservation.layers);
    for (const Occupation& layer : reservation.layers) falls_.push_back(layer.from);
    reserved_.set(reservation.job);
    reservations_.push_back(std::move(reservation));
}

std::optional<Reservation> Books::lift_reservation(std::uint32_t pending) {
    if (!reserved_[pending]) return std::nullopt;
    const auto own =
        std::find_if(reservations_.begin(), reservations_.end(),
                     [&](const Reservation& reservation) { return reservation.job == pending; });
    if (own == reservations_.end()) return std::nullopt;
    const Reservation lifted = *own;
    reservations_.erase(own);
    if (lifted.layers.empty()) {
        profile_.give_back(lifted.from, lifted.to, lifted.nodes);
        forget_fall(lifted.from);
    }
    give_back(profile_, lifted.layers);
    for (const Occupation& layer : lifted.layers) forget_fall(layer.from);
    return lifted;
}

void Books::forget_fall(Time time) {
    const auto fall = std::ranges::find(falls_, time);
    if (fall != falls_.end()) falls_.erase(fall);
}

// ---- evolution profiles

std::optional<Reservation> Books::fit(std::uint32_t pending, Time from) {
    const PendingJob& job = snapshot_->pending[pending];
    const Duration duration = end_of(job, job.elastic.pref) - snapshot_->now;
    auto found =
        core::fit(profile_, eligible(job.eligible), layers(job.elastic.profile, duration), from);
    if (!found) return std::nullopt;
    Reservation reservation{pending, found->front().from, 0, PoolCounts(pools(), 0),
                            *std::move(found)};
    reservation.to = reservation.from + duration;
    for (const Occupation& layer : reservation.layers)
        if (layer.from <= reservation.from) reservation.nodes = sum(reservation.nodes, layer.nodes);
    return reservation;
}

bool Books::start_with_steps(std::uint32_t pending, Reason reason) {
    const PendingJob& job = snapshot_->pending[pending];
    const Time now = snapshot_->now;
    if (free_now(job.eligible) < job.elastic.pref) return false;
    const auto taken =
        fit_at(profile_, eligible(job.eligible),
               layers(job.elastic.profile, end_of(job, job.elastic.pref) - now), now);
    if (!taken) return false;
    PoolCounts idle(pools(), 0);
    LaterSteps later{job.id, {}, {}};
    take(profile_, *taken);
    for (const Occupation& layer : *taken) {
        if (layer.from <= now)
            idle = sum(idle, layer.nodes);
        else
            later.gains.push_back(layer);
    }
    enter(std::move(later));
    start_action(pending, idle, job.elastic.pref, reason);
    return true;
}

void Books::plan_later_steps() {
    if (index_->profiles_running == 0) return;
    std::vector<std::uint32_t> order;
    const std::vector<RunningJob>& running = snapshot_->running;
    for (std::uint32_t i = 0; i < running.size(); ++i)
        if (!running[i].elastic.profile.empty()) order.push_back(i);
    // Who began first was promised first.
    std::ranges::sort(order, {},
                      [&](std::uint32_t i) { return std::pair(running[i].start, running[i].id); });
    for (const std::uint32_t i : order) plan_later_steps(i, coming(running[i].id));
}

// What agreements in flight bring the job, or take from it.
PoolCounts Books::coming(JobId job) const {
    PoolCounts nodes(pools(), 0);
    for (const Promise& promise : snapshot_->promises) {
        if (promise.job == job && promise.kind == ResizeKind::shrink)
            nodes = difference(nodes, promise.nodes);
        else if (promise.job == job || promise.beneficiary == job)
            nodes = sum(nodes, promise.nodes);
    }
    return nodes;
}

void Books::plan_later_steps(std::uint32_t running, const PoolCounts& coming) {
    const RunningJob& job = snapshot_->running[running];
    const Time now = snapshot_->now, end = end_of(job);
    PoolCounts held = sum(job.held, coming), recent = coming;
    const StepsAhead ahead = steps_ahead(job.elastic.profile, total(held), end - now);
    LaterSteps later{job.id, {}, {}};
    --held[job.batch_host_pool];  // which it keeps
    for (auto part = ahead.given.rbegin(); part != ahead.given.rend(); ++part) {
        Occupation given{now + part->to, end, PoolCounts(pools(), 0)};
        int left = part->nodes;
        // What came last goes first.
        for (PoolCounts* from : {&recent, &held})
            for (PoolId pool = 0; pool < pools(); ++pool) {
                const int nodes = std::clamp(std::min((*from)[pool], held[pool]), 0, left);
                given.nodes[pool] += nodes;
                recent[pool] -= nodes;
                held[pool] -= nodes;
                left -= nodes;
            }
        profile_.move_vacancy(end, given.from, given.nodes);
        later.given.push_back(std::move(given));
    }
    later.gains = take_in_turn(profile_, eligible(job.eligible), ahead.gains, now);
    enter(std::move(later));
}

PoolCounts Books::idle_for_step(std::uint32_t running) {
    const RunningJob& job = snapshot_->running[running];
    const Time now = snapshot_->now;
    std::vector<Layer> lack =
        steps_ahead(job.elastic.profile, total(job.held), end_of(job) - now).gains;
    std::erase_if(lack, [](const Layer& layer) { return layer.from > 0; });
    PoolCounts nodes(pools(), 0);
    if (const auto found = fit_at(profile_, eligible(job.eligible), lack, now))
        for (const Occupation& layer : *found) nodes = sum(nodes, layer.nodes);
    return nodes;
}

bool Books::plan_steps_after_start(std::uint32_t pending, bool in_time) {
    const PendingJob& job = snapshot_->pending[pending];
    const Time now = snapshot_->now;
    std::vector<Layer> later = layers(job.elastic.profile, end_of(job, job.elastic.pref) - now);
    std::erase_if(later, [](const Layer& layer) { return layer.from <= 0; });
    LaterSteps steps{job.id, {}, {}};
    if (in_time) {
        auto found = fit_at(profile_, eligible(job.eligible), later, now);
        if (!found) return false;
        steps.gains = *std::move(found);
        take(profile_, steps.gains);
    } else {
        steps.gains = take_in_turn(profile_, eligible(job.eligible), later, now);
    }
    enter(std::move(steps));
    return true;
}

void Books::enter(LaterSteps later) {
    for (const Occupation& gain : later.gains) falls_.push_back(gain.from);
    later_.push_back(std::move(later));
}

void Books::lift_later_steps(JobId job) {
    // Elements of an array share a number until they start; the last is who was tried just now.
    const auto from_behind =
        std::ranges::find(later_.rbegin(), later_.rend(), job, &LaterSteps::job);
    if (from_behind == later_.rend()) return;
    const auto own = std::prev(from_behind.base());
    for (const Occupation& gain : own->gains) forget_fall(gain.from);
    give_back(profile_, own->gains);
    for (const Occupation& given : own->given)
        profile_.move_vacancy(given.from, given.to, given.nodes);
    later_.erase(own);
}

void Books::release_deferred() {
    const auto find = [this] {
        return std::ranges::find_if(reservations_, [this](const Reservation& reservation) {
            return is_deferred(snapshot_->pending[reservation.job]);
        });
    };
    for (auto found = find(); found != reservations_.end(); found = find())
        released_.push_back(*lift_reservation(found->job));
}

void Books::announce_reservations() {
    std::ranges::move(released_, std::back_inserter(reservations_));
    released_.clear();
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
