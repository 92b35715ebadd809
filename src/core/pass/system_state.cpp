// SPDX-License-Identifier: MIT
// Books what the snapshot says and what the plan decides, in one place, so that
// every stage sees what the stages before it have left.
//
// Agreements in flight come first (claims.hpp), before any stage runs.
//
// What a job can give back for a reservation is booked as free from then on
// (holding.hpp), so a resize replaces one holding of it by another.
//
// Always holds: the profile never has a negative value; a job has at most one
// action that resizes or starts it.
#include "core/pass/system_state.hpp"

#include <algorithm>

#include "core/model/speedup.hpp"
#include "core/pass/choices/choices.hpp"
#include "core/pass/equal_share.hpp"

namespace elastic::core {
namespace {

PoolCounts sum(PoolCounts a, const PoolCounts& b) {
    for (std::size_t i = 0; i < a.size(); ++i) a[i] += b[i];
    return a;
}

PoolCounts difference(PoolCounts a, const PoolCounts& b) {
    for (std::size_t i = 0; i < a.size(); ++i) a[i] -= b[i];
    return a;
}

using Index = std::vector<std::pair<JobId, std::uint32_t>>;

std::uint32_t look_up(const Index& index, JobId id, std::size_t absent) {
    const auto found = std::lower_bound(index.begin(), index.end(), std::pair(id, 0U));
    return found != index.end() && found->first == id ? found->second : absent;
}

}  // namespace

void SystemState::begin(const Snapshot& snapshot, const SnapshotIndex& index, const Policy& policy,
                        Rng& rng) {
    snapshot_ = &snapshot;
    index_ = &index;
    policy_ = &policy;
    rng_ = &rng;
    plan_.clear();
    withdraws_ = false;
    touched_.reset(snapshot.running.size());
    asks_.reset(snapshot.running.size());
    decided_.reset(snapshot.pending.size());
    undecided_ = index.waiting;
    backfilled_ = false;
    equal_share_ = -1;
    reservations_.clear();
    PoolCounts idle(pools(), 0);
    for (PoolId pool = 0; pool < pools(); ++pool) idle[pool] = snapshot.pools[pool].idle;
    profile_.begin(snapshot.now, idle, index.releases);
    shared_.assign(pools(), 0);
    for (const SharedNodes& shared : snapshot.shared_until) shared_[shared.pool] += shared.nodes;
    index_running_jobs();
    for (const GrowthRequest& request : snapshot.requests)
        if (auto place = find_running(request.job); place < snapshot.running.size())
            asks_.set(place);
    for (const Promise& promise : snapshot.promises)
        if (auto place = find_running(promise.job); place < snapshot.running.size())
            touched_.set(place);
    claims_.collect(*this);
    count_on_returns();
    claims_.book(*this);
}

// Who has an agreement in flight takes part, too.  Who has once declined or let an offer expire
// might do so again, so nothing is lent to it.
void SystemState::count_on_returns() {
    returns_.reset(snapshot_->running.size());
    if (!is_anyone_waiting() || !choices::lends_reserved_nodes(*policy_)) return;
    for (std::uint32_t i = 0; i < snapshot_->running.size(); ++i) {
        const RunningJob& job = snapshot_->running[i];
        const bool takes_part = job.resizable || touched_[i];
        if (!job.elastic.malleable || !takes_part || asks_[i] || job.not_before > 0) continue;
        returns_.set(i);
        if (returnable(job, job.held, returnable_) == 0) continue;
        const Time end = end_of(job);
        profile_.move_release(end, std::min(end, may_resize_from(job, job.last_resize)),
                              returnable_);
    }
}

void SystemState::index_running_jobs() {
    running_by_id_.clear();
    if (snapshot_->promises.empty() && snapshot_->requests.empty()) return;
    for (std::uint32_t i = 0; i < snapshot_->running.size(); ++i)
        running_by_id_.emplace_back(snapshot_->running[i].id, i);
    std::sort(running_by_id_.begin(), running_by_id_.end());
}

void SystemState::book_growth(std::uint32_t running, const PoolCounts& more) {
    const Holding before = holding(running), after = holding_after(running, more);
    profile_.move_release(before.back, before.end, before.returnable);
    profile_.take(snapshot_->now, after.end, more);
    profile_.move_release(after.end, after.back, after.returnable);
}

// The victim runs longer with what it keeps; what it gives up is free as soon as
// its beneficiary ends, or at once where that does not use it.
void SystemState::book_shrink(const Shrinkage& part, Time beneficiary_end) {
    const Holding before = holding(part.victim), after = holding_after(part);
    profile_.move_release(before.back, before.end, before.returnable);
    profile_.move_release(before.end, after.end, after.nodes);
    profile_.move_release(before.end, beneficiary_end, part.used);
    profile_.move_release(before.end, profile_.soon(), difference(part.nodes, part.used));
    profile_.move_release(after.end, after.back, after.returnable);
}

std::uint32_t SystemState::find_running(JobId id) const {
    return look_up(running_by_id_, id, snapshot_->running.size());
}

Time SystemState::end_of(const RunningJob& job) const {
    return std::max(job.estimated_end, profile_.soon());
}

Time SystemState::end_of(const PendingJob& job, int size) const {
    const Duration slower = size < job.elastic.pref
                                ? rescale(job.duration, job.elastic.pref, size, job.elastic)
                                : job.duration;
    return std::max(snapshot_->now + std::max(slower, job.duration), profile_.soon());
}

Time SystemState::end_after_resize(const RunningJob& job, int size_after) const {
    const int size = total(job.held);
    const Time end = end_of(job);
    if (end >= kNever || size_after == size || size_after < 1) return end;
    return snapshot_->now + rescale(end - snapshot_->now, size, size_after, job.elastic) +
           job.elastic.cost.seconds(size, size_after);
}

Time SystemState::end_after_shrink(const RunningJob& job, int size_after) const {
    return std::max(end_of(job), end_after_resize(job, size_after));
}

bool SystemState::may_resize(std::uint32_t running) const {
    const RunningJob& job = snapshot_->running[running];
    return job.elastic.malleable && job.resizable && !touched_[running] && !asks_[running] &&
           job.not_before <= snapshot_->now &&
           job.last_resize + choices::resize_gap(*policy_, job) <= snapshot_->now;
}

// When it may be resized if it was last at `resized`.
Time SystemState::may_resize_from(const RunningJob& job, Time resized) const {
    return std::max(resized + choices::resize_gap(*policy_, job), profile_.soon());
}

Time SystemState::returns_at(std::uint32_t running) const {
    const RunningJob& job = snapshot_->running[running];
    if (!returns_[running]) return end_of(job);
    return std::min(end_of(job), may_resize_from(job, snapshot_->now));
}

Holding SystemState::holding(std::uint32_t running) const {
    const RunningJob& job = snapshot_->running[running];
    return hold(running, job.held, end_of(job), job.last_resize);
}

Holding SystemState::holding_after(const Shrinkage& part) const {
    const RunningJob& job = snapshot_->running[part.victim];
    return hold(part.victim, difference(job.held, part.nodes),
                end_after_shrink(job, part.size_after), snapshot_->now);
}

Holding SystemState::holding_after(std::uint32_t running, const PoolCounts& more) const {
    const RunningJob& job = snapshot_->running[running];
    return hold(running, sum(job.held, more), end_of(job), snapshot_->now);
}

Holding SystemState::hold(std::uint32_t running, const PoolCounts& nodes, Time end,
                          Time resized) const {
    const RunningJob& job = snapshot_->running[running];
    Holding holding{end, std::min(end, may_resize_from(job, resized)), nodes,
                    PoolCounts(pools(), 0)};
    if (returns_[running]) returnable(job, nodes, holding.returnable);
    return holding;
}

bool SystemState::may_grow(std::uint32_t running, const PoolCounts& more) {
    for (PoolId pool = 0; pool < pools(); ++pool)
        if (more[pool] > profile_.free_now(pool)) return false;
    if (reservations_.empty()) return true;
    const Holding before = holding(running), after = holding_after(running, more);
    for (const Reservation& reservation : reservations_)
        for (PoolId pool = 0; pool < pools(); ++pool) {
            const Time from = reservation.from;
            const int lost = before.free_at(pool, from) + more[pool] - after.free_at(pool, from);
            if (profile_.free_at(pool, from) < lost) return false;
        }
    return true;
}

int SystemState::available(EligibilityId id, int nodes, Time end, PoolCounts& counts) {
    counts.assign(pools(), 0);
    return choose(
        eligible(id), nodes, [&](PoolId pool) { return profile_.free_until(pool, end); }, counts);
}

int SystemState::free_now(EligibilityId id) const {
    int nodes = 0;
    for (PoolId pool : eligible(id)) nodes += profile_.free_now(pool);
    return nodes;
}

int SystemState::nodes_in(EligibilityId id) const {
    int nodes = 0;
    for (PoolId pool : eligible(id)) nodes += snapshot_->pools[pool].nodes;
    return nodes;
}

int SystemState::idle() const {
    int nodes = 0;
    for (PoolId pool = 0; pool < pools(); ++pool) nodes += profile_.free_now(pool);
    return nodes;
}

int SystemState::nodes() const {
    int nodes = 0;
    for (const Pool& pool : snapshot_->pools) nodes += pool.nodes;
    return nodes;
}

Time SystemState::next_end() const {
    const std::vector<Release>& releases = index_->releases.entries();
    return releases.empty() ? kNever : std::max(releases.front().at, profile_.soon());
}

Time SystemState::free_without_shrinking(EligibilityId id, int nodes) const {
    int missing = nodes - free_now(id);
    if (missing <= 0) return snapshot_->now;
    const Eligibility& pools = eligible(id);
    for (const Release& release : index_->releases.entries()) {
        if (std::find(pools.begin(), pools.end(), release.pool) == pools.end()) continue;
        missing -= release.nodes;
        if (missing <= 0) return std::max(release.at, profile_.soon());
    }
    return kNever;
}

int SystemState::equal_share() const {
    if (equal_share_ < 0) equal_share_ = core::equal_share(*this, ranges_);
    return equal_share_;
}

Time SystemState::first_reservation() const {
    Time first = kNever;
    for (const Reservation& reservation : reservations_) first = std::min(first, reservation.from);
    return first;
}

Action& SystemState::add(ActionKind kind, Reason reason, JobId job, const PoolCounts& nodes) {
    Action& action = plan_.actions.emplace_back();
    action.kind = kind;
    action.reason = reason;
    action.job = job;
    action.nodes = nodes;
    return action;
}

void SystemState::decide(std::uint32_t pending) {
    const std::vector<PendingJob>& queue = snapshot_->pending;
    const auto mark = [&](std::uint32_t i) {
        if (!decided_[i]) --undecided_;
        decided_.set(i);
    };
    mark(pending);
    if (!index_->alternatives) return;
    for (std::uint32_t i = 0; i < queue.size(); ++i)
        if (queue[i].id == queue[pending].id &&
            (queue[i].alternative || queue[pending].alternative))
            mark(i);
}

void SystemState::start(std::uint32_t pending, const PoolCounts& idle, int size, Reason reason) {
    const PendingJob& job = snapshot_->pending[pending];
    decide(pending);
    profile_.take(snapshot_->now, end_of(job, size), idle);
    backfilled_ = backfilled_ || reason == Reason::backfilled;
    Action& action = add(ActionKind::start, reason, job.id, idle);
    action.size_after = size;
    action.entry = pending;
}

void SystemState::start_by_shrinking(std::uint32_t pending, const PoolCounts& idle, int size,
                                     const std::vector<Shrinkage>& victims) {
    const PendingJob& job = snapshot_->pending[pending];
    for (const Shrinkage& victim : victims)
        shrink(victim, job.id, end_of(job, size), Reason::for_pending_job);
    start(pending, idle, size, Reason::by_shrinking);
    Action& action = plan_.actions.back();
    action.deferred = true;
    for (const Shrinkage& victim : victims) action.nodes = sum(action.nodes, victim.used);
}

void SystemState::shrink(const Shrinkage& part, JobId beneficiary, Time beneficiary_end,
                         Reason reason) {
    book_shrink(part, beneficiary_end);
    touched_.set(part.victim);
    const JobId victim = snapshot_->running[part.victim].id;
    Action& action = add(ActionKind::shrink, reason, victim, part.nodes);
    action.beneficiary = beneficiary;
    action.size_after = part.size_after;
}

void SystemState::grant(const GrowthRequest& request, std::uint32_t running, const PoolCounts& idle,
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

void SystemState::deny(const GrowthRequest& request, Reason reason) {
    add(ActionKind::deny, reason, request.job, PoolCounts(pools(), 0)).op = request.op;
}

void SystemState::expand(std::uint32_t running, const PoolCounts& idle, int size_after,
                         Reason reason) {
    const RunningJob& job = snapshot_->running[running];
    touched_.set(running);
    book_growth(running, idle);
    add(ActionKind::expand, reason, job.id, idle).size_after = size_after;
}

void SystemState::keep(const Promise& offer) {
    book_growth(find_running(offer.job), offer.nodes);
}

void SystemState::withdraw(const Promise& offer) {
    withdraws_ = true;
    add(ActionKind::withdraw, Reason::queue_needs_nodes, offer.job, offer.nodes).op = offer.op;
}

void SystemState::reserve(const Reservation& reservation) {
    profile_.take(reservation.from, reservation.to, reservation.nodes);
    reservations_.push_back(reservation);
}

void SystemState::announce_reservations() {
    std::sort(reservations_.begin(), reservations_.end(),
              [](const Reservation& a, const Reservation& b) { return a.job < b.job; });
    for (const Reservation& reservation : reservations_) {
        Action& action = add(ActionKind::reserve, Reason::head_of_queue,
                             snapshot_->pending[reservation.job].id, reservation.nodes);
        action.time = reservation.from;
        action.size_after = total(reservation.nodes);
        action.entry = reservation.job;
    }
}

const Plan& SystemState::finish() {
    if (withdraws_)
        std::stable_partition(plan_.actions.begin(), plan_.actions.end(), [](const Action& action) {
            return action.kind == ActionKind::withdraw;
        });
    return plan_;
}

}  // namespace elastic::core
