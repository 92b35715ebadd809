// SPDX-License-Identifier: MIT
// Jobs whose start cannot be judged by numbers (those that share nodes, wait for victims, start
// together, or have an evolution profile or a price) demand nothing in the queue's index, so that
// every search finds them and the stages judge them.
#include "core/availability/snapshot_index.hpp"

#include <algorithm>

namespace elastic::core {
namespace {

QueueIndex::Demand demand_of(const PendingJob& job) {
    const bool has_price = job.elastic.price >= 0;
    if (job.claimed || job.shares_nodes || has_price || !job.elastic.profile.empty()) return {};
    if (job.together) return {};
    if (job.divisible > 0)  // it ranks by its duration on the fewest nodes
        return {job.requested_size(), job.smallest_start(), 0,
                std::max(job.duration_at(job.elastic.max), 0.0)};
    return {job.requested_size(), job.smallest_start(), job.elastic.pref,
            std::max(job.duration, 0.0)};
}

}  // namespace

void SnapshotIndex::load(const Snapshot& snapshot) {
    vacancies.clear();
    for (const RunningJob& job : snapshot.running) vacancies.append(job.estimated_end, job.held);
    for (const SharedNodes& shared : snapshot.shared_until)
        vacancies.append(shared.until, shared.pool, shared.nodes);
    vacancies.sort();
    shrinkable = expandable = malleable_running = profiles_running = 0;
    for (const RunningJob& job : snapshot.running) count(job, +1);
    load_queue(snapshot.pending);
}

void SnapshotIndex::load_queue(const std::vector<PendingJob>& jobs) {
    claimed.clear();
    promised.clear();
    followers.clear();
    waiting = malleable_waiting = 0;
    alternatives = false;
    std::vector<QueueIndex::Demand>& demands = queue.begin_anew();
    for (const PendingJob& job : jobs) {
        const auto place = static_cast<std::uint32_t>(demands.size());
        count(job, place);
        if (place > 0 && job.starts_with(jobs[place - 1])) followers.push_back(place);
        demands.push_back(demand_of(job));
    }
    queue.build();
}

void SnapshotIndex::add(const PendingJob& job, bool follows) {
    count(job, queue.end());
    if (follows) followers.push_back(queue.end());
    queue.push_back(demand_of(job));
}

void SnapshotIndex::count(const PendingJob& job, std::uint32_t place) {
    ++waiting;
    malleable_waiting += job.elastic.malleable;
    alternatives = alternatives || job.alternative;
    if (job.claimed) claimed.push_back(place);
    if (job.promised < kNever) promised.push_back(place);
}

void SnapshotIndex::promise(std::uint32_t place) {
    promised.insert(std::ranges::lower_bound(promised, place), place);
}

void SnapshotIndex::remove(std::uint32_t place, const PendingJob& job) {
    queue.remove(place);
    if (job.promised < kNever) std::erase(promised, place);
    if (job.together) std::erase(followers, place);
    --waiting;
    malleable_waiting -= job.elastic.malleable;
}

void SnapshotIndex::count(const RunningJob& job, int sign) {
    if (!job.elastic.profile.empty()) profiles_running += sign;
    if (!job.elastic.malleable) return;
    const int size = total(job.held);
    malleable_running += sign;
    shrinkable += sign * std::max(0, size - job.elastic.min);
    expandable += sign * std::max(0, job.elastic.max - size);
}

}  // namespace elastic::core
