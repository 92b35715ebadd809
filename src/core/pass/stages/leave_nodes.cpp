// SPDX-License-Identifier: MIT
// [gupta] section VII: malleable jobs leave nodes that are drained, about to fail or about to be
// maintained (A), and nodes that cost more than they take them for (B), without anybody asking.
//
// Before a node fails its job is asked at once, whatever its resize gap, and gets other nodes first
// if it would be smaller than it prefers: idle ones, before the queue has its turn, since what the
// job has computed is at stake.  A price may change often, so it waits for the gap, and a job
// shrinks to its minimum before it gets other nodes for what it still has that is too dear.
//
// A node that is left because it fails never comes free: nobody is eligible for it.  The node of a
// batch script stays, for it cannot move.
#include <algorithm>

#include "core/model/departure.hpp"
#include "core/pass/stages/stages.hpp"

namespace elastic::core {
namespace {

template <class Unwanted>
std::vector<PoolId> unwanted_pools(const Snapshot& snapshot, Unwanted is_unwanted) {
    std::vector<PoolId> pools;
    for (PoolId pool = 0; pool < snapshot.pools.size(); ++pool)
        if (is_unwanted(snapshot.pools[pool])) pools.push_back(pool);
    return pools;
}

// The nodes of these pools that the job could leave if it were large enough.
int held_of(const RunningJob& job, const std::vector<PoolId>& pools) {
    int nodes = 0;
    for (PoolId pool : pools) nodes += job.held[pool] - (pool == job.batch_host_pool ? 1 : 0);
    return std::max(0, nodes);
}

struct Leaving {
    std::vector<PoolId> pools;
    Departure (*next)(const Sizing&, int nodes, int leaving, int room);
    Reason reason;
    bool are_lost;  // the nodes, to everybody
};

void leave(Schedule& schedule, std::uint32_t running, const Leaving& how) {
    const RunningJob& job = schedule.snapshot().running[running];
    const int size = total(job.held), leaving = held_of(job, how.pools);
    if (leaving == 0) return;
    const Time now = schedule.snapshot().now;
    const int room =
        schedule.nodes().available(job.eligible, std::max(0, job.elastic.max - size), now).count;
    const Departure next = how.next(job.elastic, size, leaving, room);
    if (next.grow > 0) {
        const FreeNodes more = schedule.nodes().available(job.eligible, next.grow, now);
        return schedule.expand(running, more.by_pool, size + next.grow, Reason::replaces);
    }
    if (next.leave == 0) return;
    const int lost = how.are_lost ? next.leave : 0;
    schedule.leave(allocate_resource(schedule, running, how.pools, next.leave + next.besides, lost),
                   how.reason);
}

Reason why_to_leave(const Snapshot& snapshot, const RunningJob& job, const Leaving& how) {
    const bool is_for_maintenance = std::ranges::all_of(how.pools, [&](PoolId pool) {
        return job.held[pool] == 0 || snapshot.pools[pool].maintained;
    });
    return is_for_maintenance ? Reason::leaves_maintained : Reason::leaves_failing;
}

void leave_failing_nodes(Schedule& schedule) {
    const Snapshot& snapshot = schedule.snapshot();
    Leaving how{
        unwanted_pools(snapshot, [](const Pool& pool) { return pool.failing && pool.nodes > 0; }),
        next_replacement, Reason::leaves_failing, true};
    if (how.pools.empty()) return;
    for (std::uint32_t i = 0; i < snapshot.running.size(); ++i) {
        if (!schedule.running().may_be_asked(i)) continue;
        how.reason = why_to_leave(snapshot, snapshot.running[i], how);
        leave(schedule, i, how);
    }
}

void leave_dear_nodes(Schedule& schedule) {
    const Snapshot& snapshot = schedule.snapshot();
    if (std::ranges::all_of(snapshot.pools, [](const Pool& pool) { return pool.price <= 0; }))
        return;
    for (std::uint32_t i = 0; i < snapshot.running.size(); ++i) {
        const Sizing& elastic = snapshot.running[i].elastic;
        if (elastic.price < 0 || !schedule.running().may_resize(i)) continue;
        leave(schedule, i,
              {unwanted_pools(snapshot, [&](const Pool& pool) { return is_dear(pool, elastic); }),
               next_retreat, Reason::leaves_dear, false});
    }
}

}  // namespace

void leave_nodes(Pass& pass) {
    leave_failing_nodes(pass.schedule);
    leave_dear_nodes(pass.schedule);
}

}  // namespace elastic::core
