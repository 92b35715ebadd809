// SPDX-License-Identifier: MIT
// Jobs whose start cannot be judged by numbers (those that share nodes, wait for victims, or have
// an evolution profile or a price) demand nothing in the queue's index, so that every search finds
// them and the stages judge them.  Of jobs that start together the first demands what all need, and
// the others what nobody has, so that no search finds them.
#include "core/availability/snapshot_index.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <span>

namespace elastic::core {
namespace {

constexpr QueueIndex::Demand kFollows{kMaxNodes, kMaxNodes, kMaxNodes, kNever};

QueueIndex::Demand demand_of(const PendingJob& job) {
    const bool has_price = job.elastic.price >= 0;
    if (job.claimed || job.shares_nodes || has_price || !job.elastic.profile.empty()) return {};
    if (job.divisible > 0)  // it ranks by its duration on the fewest nodes
        return {job.requested_size(), job.smallest_start(), 0,
                std::max(job.duration_at(job.elastic.max), 0.0)};
    return {job.requested_size(), job.smallest_start(), job.elastic.pref,
            std::max(job.duration, 0.0)};
}

// The least that each of them needs where it may start, for the shortest time.  Those that may use
// the same pools need the sum of them.
QueueIndex::Demand demand_of_all(std::span<const PendingJob> jobs) {
    struct Component {
        int size = kMaxNodes;
        std::set<EligibilityId> eligible;
    };
    std::map<JobId, Component> components;
    Duration shortest = kNever;
    for (const PendingJob& job : jobs) {
        const QueueIndex::Demand own = demand_of(job);
        if (own.size == 0) return {};
        shortest = std::min(shortest, own.duration);
        Component& component = components[job.id];
        component.size = std::min(component.size, own.size);
        component.eligible.insert(job.eligible);
    }
    int most = 0;
    std::map<EligibilityId, int> sums;
    for (const auto& [id, component] : components) {
        most = std::max(most, component.size);
        if (component.eligible.size() > 1) continue;
        most = std::max(most, sums[*component.eligible.begin()] += component.size);
    }
    most = std::min(most, kMaxNodes);
    return {most, most, most, shortest};
}

std::uint32_t first_of(const std::vector<PendingJob>& jobs, std::uint32_t place) {
    while (place > 0 && jobs[place].starts_with(jobs[place - 1])) --place;
    return place;
}

// Those that start together with the job at `place`, up to that.
std::span<const PendingJob> jobs_until(const std::vector<PendingJob>& jobs, std::uint32_t place) {
    const std::uint32_t first = first_of(jobs, place);
    return std::span(jobs).subspan(first, place + 1 - first);
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
        const bool follows = count_follower(jobs, place);
        demands.push_back(follows ? kFollows : demand_of(job));
        if (follows) demands[first_of(jobs, place)] = demand_of_all(jobs_until(jobs, place));
    }
    queue.build();
}

void SnapshotIndex::add(const std::vector<PendingJob>& jobs) {
    const std::uint32_t place = queue.end();
    count(jobs[place], place);
    if (!count_follower(jobs, place)) return queue.push_back(demand_of(jobs[place]));
    queue.push_back(kFollows);
    queue.change(first_of(jobs, place), demand_of_all(jobs_until(jobs, place)));
}

bool SnapshotIndex::count_follower(const std::vector<PendingJob>& jobs, std::uint32_t place) {
    const bool follows = place > 0 && jobs[place].starts_with(jobs[place - 1]);
    if (follows) followers.push_back(place);
    return follows;
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
