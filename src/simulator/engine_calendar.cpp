// SPDX-License-Identifier: MIT
// Reservations and outages, and nodes that are completing.  As for slurmctld, a job that would
// still run when a reservation begins may not use the reservation's nodes, while it may use them if
// it has ended by then; so jobs are eligible for other pools as time goes by.  A job of the
// reservation waits until that begins, and for its nodes alone; where it is not started before the
// reservation is over, it is a job like any other.
//
// Who runs on nodes that go down has come from a log in which the job had ended then, or survived:
// the nodes go when they come free.
#include <algorithm>
#include <iterator>
#include <utility>

#include "simulator/event_engine.hpp"

namespace elastic::simulator {

// The job has ended.
void Engine::leave_nodes(std::uint32_t job) {
    const core::PoolCounts held = cluster_.running(job + 1).held;
    cluster_.end(job + 1);
    if (options_.completing <= 0) return;
    for (core::PoolId pool = 0; pool < held.size(); ++pool) cluster_.add_nodes(pool, -held[pool]);
    completing_.emplace_back(now_ + options_.completing, held);
}

Time Engine::next_completed() const {
    return completing_.empty() ? kNever : completing_.front().first;
}

// Whether anything has changed.
bool Engine::follow_completing() {
    if (next_completed() > now_) return false;
    for (; next_completed() <= now_; completing_.pop_front())
        for (core::PoolId pool = 0; pool < completing_.front().second.size(); ++pool)
            cluster_.add_nodes(pool, completing_.front().second[pool]);
    return true;
}

void Engine::begin_calendar() {
    for (core::EligibilityId id = 0; id < workload_.partitions.size(); ++id)
        eligible_ids_.try_emplace(workload_.partitions[id].pools, id);
    for (const Job& job : workload_.jobs) longest_ = std::max(longest_, job.estimate);
    for (const Reservation& reservation : workload_.reservations) {
        calendar_.push_back(reservation.from - longest_);
        calendar_.push_back(reservation.from);
        calendar_.push_back(reservation.to);
    }
    for (const Outage& outage : workload_.outages) {
        calendar_.push_back(outage.from);
        calendar_.push_back(outage.to);
    }
    std::ranges::sort(calendar_);
    calendar_.erase(std::ranges::unique(calendar_).begin(), calendar_.end());
    down_.resize(workload_.pools.size());
    reserved_jobs_.resize(workload_.reservations.size());
}

Time Engine::next_in_calendar() const {
    return next_date_ < calendar_.size() ? calendar_[next_date_] : kNever;
}

// Whether anything has changed.
bool Engine::follow_calendar() {
    if (next_in_calendar() > now_) return false;
    while (next_in_calendar() <= now_) ++next_date_;
    lift_deferrals();
    follow_outages();
    near_.clear();
    for (std::uint32_t r = 0; r < workload_.reservations.size(); ++r) {
        const Reservation& reservation = workload_.reservations[r];
        if (reservation.from - longest_ <= now_ && now_ < reservation.to) near_.push_back(r);
        if (reservation.from > now_) continue;
        for (const std::uint32_t job : std::exchange(reserved_jobs_[r], {})) join_queue(job);
    }
    return true;
}

void Engine::follow_outages() {
    for (PoolDown& pool : down_) pool.wanted = 0;
    for (const Outage& outage : workload_.outages)
        if (outage.from <= now_ && now_ < outage.to) down_[outage.pool].wanted += outage.nodes;
    for (core::PoolId pool = 0; pool < down_.size(); ++pool) {
        const int back = down_[pool].taken - down_[pool].wanted;
        if (back <= 0) continue;
        cluster_.add_nodes(pool, back);
        down_[pool].taken -= back;
    }
}

// Of the nodes that are to be down those that are idle now.
void Engine::take_down() {
    for (core::PoolId pool = 0; pool < down_.size(); ++pool) {
        const int more =
            std::min(down_[pool].wanted - down_[pool].taken, cluster_.snapshot().pools[pool].idle);
        if (more <= 0) continue;
        cluster_.add_nodes(pool, -more);
        down_[pool].taken += more;
    }
}

// The reservation that the job has to run in; null: none, or none any more.
const Reservation* Engine::reservation_of(std::uint32_t job) const {
    const int number = workload_.reservation_of.empty() ? -1 : workload_.reservation_of[job];
    if (number < 0) return nullptr;
    const Reservation& reservation = workload_.reservations[static_cast<std::size_t>(number)];
    return now_ < reservation.to ? &reservation : nullptr;
}

// Whether the job has to wait for its reservation to begin.
bool Engine::waits_for_reservation(std::uint32_t job) {
    const Reservation* reservation = reservation_of(job);
    if (!reservation || reservation->from <= now_) return false;
    reserved_jobs_[static_cast<std::size_t>(workload_.reservation_of[job])].push_back(job);
    return true;
}

// Where the job may be until `end`.
core::Eligibility Engine::pools_until(std::uint32_t job, Time end) const {
    core::Eligibility pools = workload_.partitions[workload_.jobs[job].partition].pools;
    const Reservation* own = reservation_of(job);
    if (own) {
        core::Eligibility both;
        std::ranges::set_intersection(pools, own->pools, std::back_inserter(both));
        pools = std::move(both);
    }
    for (const std::uint32_t r : near_) {
        const Reservation& other = workload_.reservations[r];
        if (&other == own || other.from >= end || other.to <= now_) continue;
        core::Eligibility left;
        std::ranges::set_difference(pools, other.pools, std::back_inserter(left));
        pools = std::move(left);
    }
    return pools;
}

// The number by which the planner knows them.
core::EligibilityId Engine::eligibility(core::Eligibility pools) {
    const auto next = static_cast<core::EligibilityId>(cluster_.snapshot().eligibilities.size());
    const auto [found, is_new] = eligible_ids_.try_emplace(std::move(pools), next);
    if (is_new) cluster_.add_eligibility(found->first);
    return found->second;
}

// Tells the planner which pools jobs may use by now.
void Engine::keep_from_reserved() {
    if (near_.empty() && !had_near_) return;
    had_near_ = !near_.empty();
    std::vector<std::pair<JobId, core::EligibilityId>> changed;
    const auto look_at = [&](JobId job, core::EligibilityId now, Time end) {
        const core::EligibilityId then = eligibility(pools_until(job - 1, end));
        if (then != now) changed.emplace_back(job, then);
    };
    const core::Snapshot& snapshot = cluster_.snapshot();
    const core::QueueIndex& queue = cluster_.index().queue;
    for (std::uint32_t place = queue.next(0); place < queue.end(); place = queue.next(place + 1)) {
        const core::PendingJob& job = snapshot.pending[place];
        look_at(job.id, job.eligible, now_ + job.duration);
    }
    for (const core::RunningJob& job : snapshot.running)
        if (workload_.jobs[job.id - 1].elasticity >= 0)
            look_at(job.id, job.eligible, job.estimated_end);
    for (const auto& [job, eligible] : changed) cluster_.set_eligible(job, eligible);
}

}  // namespace elastic::simulator
