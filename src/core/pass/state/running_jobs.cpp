// SPDX-License-Identifier: MIT
// What a job can give back for a reservation counts as free from then on (holding.hpp), so whether
// a resize delays a reservation is a matter of the job's holding before and after.
#include "core/pass/state/running_jobs.hpp"

#include <algorithm>

namespace elastic::core {

void RunningJobs::begin(const Snapshot& snapshot, const JobTimes& times) {
    snapshot_ = &snapshot;
    times_ = &times;
    touched_.reset(snapshot.running.size());
    returns_.reset(snapshot.running.size());
    asks_.reset(snapshot.running.size());
    index_by_id();
    for (const GrowthRequest& request : snapshot.requests)
        if (auto running = find(request.job); running < snapshot.running.size()) asks_.set(running);
    for (const Promise& promise : snapshot.promises)
        if (auto running = find(promise.job); running < snapshot.running.size())
            touched_.set(running);
}

void RunningJobs::index_by_id() {
    by_id_.clear();
    if (snapshot_->promises.empty() && snapshot_->requests.empty()) return;
    for (std::uint32_t i = 0; i < snapshot_->running.size(); ++i)
        by_id_.emplace_back(snapshot_->running[i].id, i);
    std::sort(by_id_.begin(), by_id_.end());
}

std::uint32_t RunningJobs::find(JobId id) const {
    const auto found = std::lower_bound(by_id_.begin(), by_id_.end(), std::pair(id, 0U));
    return found != by_id_.end() && found->first == id ? found->second : snapshot_->running.size();
}

bool RunningJobs::may_resize(std::uint32_t running) const {
    return may_be_asked(running) && times_->is_gap_over(job(running));
}

bool RunningJobs::may_be_asked(std::uint32_t running) const {
    const RunningJob& job = this->job(running);
    return job.elastic.malleable && job.resizable && !touched_[running] && !asks_[running] &&
           job.not_before <= snapshot_->now;
}

// Who has an agreement in flight takes part, too.  Who has once declined or let an offer expire
// might do so again, so nothing is lent to it.
void RunningJobs::count_on_returns(AvailabilityProfile& availability) {
    for (std::uint32_t i = 0; i < snapshot_->running.size(); ++i) {
        const RunningJob& job = snapshot_->running[i];
        const bool takes_part = job.resizable || touched_[i];
        if (!job.elastic.malleable || !takes_part || asks_[i] || job.not_before > 0) continue;
        returns_.set(i);
        if (returnable(job, job.held, returnable_) == 0) continue;
        const Time end = times_->end_of(job);
        availability.move_vacancy(end, std::min(end, times_->may_resize_from(job, job.last_resize)),
                                  returnable_);
    }
}

Time RunningJobs::returns_at(std::uint32_t running) const {
    const RunningJob& job = this->job(running);
    if (!returns_[running]) return times_->end_of(job);
    return std::min(times_->end_of(job), times_->may_resize_from(job, snapshot_->now));
}

Holding RunningJobs::holding(std::uint32_t running) const {
    const RunningJob& job = this->job(running);
    return hold(running, job.held, times_->end_of(job), job.last_resize);
}

Holding RunningJobs::holding_after(const Shrinkage& part) const {
    const RunningJob& job = this->job(part.victim);
    return hold(part.victim, difference(job.held, part.nodes),
                times_->end_after_shrink(job, part.size_after), snapshot_->now);
}

Holding RunningJobs::holding_after(std::uint32_t running, const PoolCounts& more) const {
    const RunningJob& job = this->job(running);
    return hold(running, sum(job.held, more), times_->end_of(job), snapshot_->now);
}

Holding RunningJobs::hold(std::uint32_t running, const PoolCounts& nodes, Time end,
                          Time resized) const {
    const RunningJob& job = this->job(running);
    Holding holding{end, std::min(end, times_->may_resize_from(job, resized)), nodes,
                    PoolCounts(snapshot_->pools.size(), 0)};
    if (returns_[running]) returnable(job, nodes, holding.returnable);
    return holding;
}

}  // namespace elastic::core
