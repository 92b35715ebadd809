// SPDX-License-Identifier: MIT
// Limits of QOS: a job that has no room in one of its limits is not in the queue, so that nobody
// waits behind it, as for Slurm it is pending for a limit and not for nodes.  Who is in the queue
// counts as if it ran: one pass may start all of them.
//
// Always holds: a job that waits for a limit is in the list of one limit that others use; so
// somebody runs or is in the queue whose end lets it in, and a job that is larger than its limit
// has it alone.
#include <algorithm>

#include "simulator/event_engine.hpp"

namespace elastic::simulator {

// Of `nodes` of the job's nodes.
void Engine::count_limits(std::uint32_t job, int nodes) {
    if (limits_.empty()) return;
    const NodePart& part = workload_.parts[job];
    for (const std::uint32_t limit : workload_.limits_of[job]) {
        Limit& used = limits_[limit].used;
        used.nodes += nodes;
        used.processors += nodes * part.processors;
        used.gpus += nodes * part.gpus;
        used.memory += nodes * part.memory;
    }
}

void Engine::count_job(std::uint32_t job, int sign) {
    for (const std::uint32_t limit : workload_.limits_of[job]) limits_[limit].used.jobs += sign;
}

bool Engine::has_room(const Limit& most, const Limit& used, const NodePart& part, int nodes) {
    const auto fits = [](double limit, double now, double more) {
        return limit <= 0 || more <= 0 || now + more <= limit;
    };
    return fits(most.nodes, used.nodes, nodes) &&
           fits(most.processors, used.processors, nodes * part.processors) &&
           fits(most.gpus, used.gpus, nodes * part.gpus) &&
           fits(most.memory, used.memory, nodes * part.memory);
}

// The limit that keeps the job from the queue; kNoLimit: none does.
std::uint32_t Engine::limit_on_start(std::uint32_t job) const {
    for (const std::uint32_t limit : workload_.limits_of[job]) {
        const Limit &most = workload_.limits[limit], &used = limits_[limit].used;
        if (used.jobs == 0) continue;
        if (most.jobs > 0 && used.jobs >= most.jobs) return limit;
        if (!has_room(most, used, workload_.parts[job], workload_.jobs[job].nodes)) return limit;
    }
    return kNoLimit;
}

bool Engine::may_grow(std::uint32_t job, int nodes) const {
    if (limits_.empty()) return true;
    return std::ranges::all_of(workload_.limits_of[job], [&](std::uint32_t limit) {
        return has_room(workload_.limits[limit], limits_[limit].used, workload_.parts[job], nodes);
    });
}

// The nodes with which a job starts: those of the plan, or if a limit has no room for all of them
// as many as were counted for it while it waited.
core::PoolCounts Engine::within_limits(const core::Action& start) const {
    const std::uint32_t job = start.job - 1;
    int too_many = start.size_after - workload_.jobs[job].nodes;
    if (too_many <= 0 || may_grow(job, too_many)) return start.nodes;
    core::PoolCounts nodes = start.nodes;
    for (auto pool = nodes.rbegin(); pool != nodes.rend(); ++pool) {
        const int left = std::max(0, *pool - too_many);
        too_many -= *pool - left;
        *pool = left;
    }
    return nodes;
}

// Whether the job may join the queue.
bool Engine::admit(std::uint32_t job) {
    if (limits_.empty()) return true;
    // Components come in one by one; who stops one of them would stop all.
    const std::uint32_t limit = is_component(job) ? kNoLimit : limit_on_start(job);
    if (limit == kNoLimit) {
        count_job(job, +1);
        count_limits(job, workload_.jobs[job].nodes);
        return true;
    }
    std::vector<std::uint32_t>& held = limits_[limit].held;
    const auto place = std::ranges::upper_bound(
        held, job, [&](std::uint32_t a, std::uint32_t b) { return comes_before(a, b); });
    held.insert(place, job);
    return false;
}

// The job has ended with so many nodes, or is to begin anew.
void Engine::leave_limits(std::uint32_t job, int nodes) {
    if (limits_.empty()) return;
    count_job(job, -1);
    count_limits(job, -nodes);
    for (const std::uint32_t limit : workload_.limits_of[job]) let_in(limit);
}

void Engine::let_in(std::uint32_t limit) {
    std::vector<std::uint32_t> held;
    held.swap(limits_[limit].held);
    for (const std::uint32_t job : held) join_queue(job);
}

}  // namespace elastic::simulator
