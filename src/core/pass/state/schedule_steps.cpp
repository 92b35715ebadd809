// SPDX-License-Identifier: MIT
// The steps of evolution profiles in the schedule ([evolving]).
//
// A running job's later steps are what it has to get, as layers that are fitted into the
// availability, and its own nodes, which come free in parts.  A job that has to wait before a
// growth keeps what it has, and everything behind that growth is so much later.
//
// Always holds: a job grows on no nodes that it has itself by then, and nobody is planned on nodes
// which a job that waits still has.
#include <algorithm>
#include <utility>

#include "core/pass/state/schedule.hpp"

namespace elastic::core {

std::optional<Reservation> Schedule::fit(std::uint32_t pending, Time from) {
    const PendingJob& job = snapshot_->pending[pending];
    const Duration duration = times_.end_of(job, job.elastic.pref) - snapshot_->now;
    auto found = core::fit(availability(), eligible(job.eligible),
                           layers(job.elastic.profile, duration), from);
    if (!found) return std::nullopt;
    Reservation reservation{pending, found->front().from, 0, PoolCounts(pools(), 0),
                            *std::move(found)};
    reservation.to = reservation.from + duration;
    for (const Occupation& layer : reservation.layers)
        if (layer.from <= reservation.from) reservation.nodes = sum(reservation.nodes, layer.nodes);
    return reservation;
}

bool Schedule::start_with_steps(std::uint32_t pending, Reason reason) {
    const PendingJob& job = snapshot_->pending[pending];
    const Time now = snapshot_->now;
    if (nodes_.free_now(job.eligible) < job.elastic.pref) return false;
    const auto taken =
        fit_at(availability(), eligible(job.eligible),
               layers(job.elastic.profile, times_.end_of(job, job.elastic.pref) - now), now);
    if (!taken) return false;
    PoolCounts idle(pools(), 0);
    LaterSteps later{job.id, {}, {}};
    take(availability(), *taken);
    for (const Occupation& layer : *taken) {
        if (layer.from <= now)
            idle = sum(idle, layer.nodes);
        else
            later.gains.push_back(layer);
    }
    reservations_.add(std::move(later));
    start_action(pending, idle, job.elastic.pref, reason);
    return true;
}

// What came last goes first, and the node of the batch script with what is left at the end.
Schedule::StepsLeft Schedule::steps_left(std::uint32_t running, const PoolCounts& coming) const {
    const RunningJob& job = snapshot_->running[running];
    const Time now = snapshot_->now, end = times_.end_of(job);
    PoolCounts held = sum(job.held, coming), recent = coming;
    StepsAhead ahead = steps_ahead(job.elastic.profile, total(held), end - now);
    StepsLeft left{running, std::move(ahead.gains), {}};
    --held[job.batch_host_pool];
    for (auto part = ahead.given.rbegin(); part != ahead.given.rend(); ++part) {
        Occupation given{now + part->to, end, PoolCounts(pools(), 0)};
        int missing = part->nodes;
        for (PoolCounts* from : {&recent, &held})
            for (PoolId pool = 0; pool < pools(); ++pool) {
                const int nodes = std::clamp(std::min((*from)[pool], held[pool]), 0, missing);
                given.nodes[pool] += nodes;
                recent[pool] -= nodes;
                held[pool] -= nodes;
                missing -= nodes;
            }
        left.own.push_back(std::move(given));
    }
    ++held[job.batch_host_pool];
    left.own.push_back({end, end, std::move(held)});
    return left;
}

void Schedule::come_free(const Occupations& own) {
    for (const Occupation& part : own) availability().move_vacancy(part.to, part.from, part.nodes);
}

void Schedule::come_free_without_steps(const Occupations& own) {
    for (const Occupation& part : own) availability().move_vacancy(part.from, part.to, part.nodes);
}

// Whether nobody is planned on the nodes of the part while the job has them longer.
bool Schedule::may_keep(const Occupation& part) {
    if (part.from <= part.to) return true;
    for (PoolId pool = 0; pool < pools(); ++pool)
        if (part.nodes[pool] > 0 &&
            availability().free_between(pool, part.to, part.from) < part.nodes[pool])
            return false;
    return true;
}

void Schedule::add_later_steps(const StepsLeft& left, Occupations gains, Occupations own) {
    reservations_.add({snapshot_->running[left.running].id, std::move(gains), std::move(own)});
}

std::vector<std::uint32_t> Schedule::plan_steps_on_time(const std::vector<StepsLeft>& jobs) {
    for (const StepsLeft& left : jobs) come_free(left.own);
    std::vector<Occupations> planned;
    std::vector<std::uint32_t> missed;
    for (const StepsLeft& left : jobs) {
        const Eligibility& eligible = this->eligible(snapshot_->running[left.running].eligible);
        auto gains = fit_at(availability(), eligible, left.gains, snapshot_->now);
        if (!gains) missed.push_back(left.running);
        planned.push_back(std::move(gains).value_or(Occupations()));
        take(availability(), planned.back());
    }
    if (missed.empty()) {
        for (std::size_t i = 0; i < jobs.size(); ++i)
            add_later_steps(jobs[i], std::move(planned[i]), jobs[i].own);
        return missed;
    }
    for (auto gains = planned.rbegin(); gains != planned.rend(); ++gains)
        give_back(availability(), *gains);
    for (const StepsLeft& left : jobs) come_free_without_steps(left.own);
    return missed;
}

// What the job keeps while it waits for its next growth comes free so much later.
Occupations Schedule::own_while_waiting(const StepsLeft& left, Duration delay) const {
    Occupations own = left.own;
    if (left.gains.empty()) return own;
    for (Occupation& part : own)
        if (part.from > snapshot_->now + left.gains.front().from)
            part.from = delay >= kNever ? kNever : part.from + delay;
    return own;
}

void Schedule::keep_nodes(const StepsLeft& left) {
    Occupations own = own_while_waiting(left, kNever);
    come_free(own);
    add_later_steps(left, {}, std::move(own));
}

// The job cannot grow on what it has itself: as long as it waits, that does not come free.
bool Schedule::plan_steps_late(const StepsLeft& left) {
    const RunningJob& job = snapshot_->running[left.running];
    const Time now = snapshot_->now;
    keep_nodes(left);
    auto gains = core::fit(availability(), eligible(job.eligible), left.gains, now);
    lift_later_steps(job.id);
    if (!gains) return false;
    Occupations own =
        own_while_waiting(left, gains->front().from - (now + left.gains.front().from));
    if (!std::ranges::all_of(own, [this](const auto& part) { return may_keep(part); }))
        return false;
    come_free(own);
    take(availability(), *gains);
    add_later_steps(left, *std::move(gains), std::move(own));
    return true;
}

bool Schedule::plan_steps(const StepsLeft& left) {
    return plan_steps_on_time({left}).empty() || plan_steps_late(left);
}

void Schedule::plan_steps_in_turn(StepsLeft left) {
    const RunningJob& job = snapshot_->running[left.running];
    come_free(left.own);
    auto gains = take_in_turn(availability(), eligible(job.eligible), left.gains, snapshot_->now);
    add_later_steps(left, std::move(gains), std::move(left.own));
}

void Schedule::plan_later_steps(std::uint32_t running, const PoolCounts& coming) {
    StepsLeft left = steps_left(running, coming);
    if (!plan_steps(left)) plan_steps_in_turn(std::move(left));
}

bool Schedule::can_go_on(std::uint32_t running) {
    StepsLeft left = steps_left(running, PoolCounts(pools(), 0));
    std::erase_if(left.gains, [](const Layer& layer) { return layer.from <= 0; });
    const bool can = plan_steps(left);
    if (can) lift_later_steps(snapshot_->running[running].id);
    return can;
}

bool Schedule::grant_step(const GrowthRequest& request, std::uint32_t running,
                          const PoolCounts& idle) {
    const RunningJob& job = snapshot_->running[running];
    const Time now = snapshot_->now, end = times_.end_of(job);
    availability().take(now, end, idle);
    if (!plan_steps(steps_left(running, idle))) {
        availability().give_back(now, end, idle);
        return false;
    }
    running_.touch(running);
    Action& action = add(ActionKind::expand, Reason::evolving_request, job.id, idle);
    action.place = running;
    action.op = request.op;
    action.size_after = total(job.held) + total(idle);
    return true;
}

PoolCounts Schedule::idle_for_step(std::uint32_t running) {
    const RunningJob& job = snapshot_->running[running];
    const Time now = snapshot_->now;
    std::vector<Layer> lack =
        steps_ahead(job.elastic.profile, total(job.held), times_.end_of(job) - now).gains;
    std::erase_if(lack, [](const Layer& layer) { return layer.from > 0; });
    PoolCounts nodes(pools(), 0);
    if (const auto found = fit_at(availability(), eligible(job.eligible), lack, now))
        for (const Occupation& layer : *found) nodes = sum(nodes, layer.nodes);
    return nodes;
}

bool Schedule::plan_steps_after_start(std::uint32_t pending, bool in_time) {
    const PendingJob& job = snapshot_->pending[pending];
    const Time now = snapshot_->now;
    std::vector<Layer> later =
        layers(job.elastic.profile, times_.end_of(job, job.elastic.pref) - now);
    std::erase_if(later, [](const Layer& layer) { return layer.from <= 0; });
    LaterSteps steps{job.id, {}, {}};
    if (in_time) {
        auto found = fit_at(availability(), eligible(job.eligible), later, now);
        if (!found) return false;
        steps.gains = *std::move(found);
        take(availability(), steps.gains);
    } else {
        steps.gains = take_in_turn(availability(), eligible(job.eligible), later, now);
    }
    reservations_.add(std::move(steps));
    return true;
}

void Schedule::lift_later_steps(JobId job) {
    const auto lifted = reservations_.remove_later_steps(job);
    if (!lifted) return;
    give_back(availability(), lifted->gains);
    come_free_without_steps(lifted->given);
}

}  // namespace elastic::core
