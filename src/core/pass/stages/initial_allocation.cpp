// SPDX-License-Identifier: MIT
// InitialAllocation, [lina] algorithm 3: first come first served with EASY backfilling.
//
// The paper's listing tests "p_r != p_c"; read here as "p_r <= p_c", as its text says.  A job
// starts if enough eligible nodes are free from now until its estimated end.  Since reservations
// stand in the availability profile, this one condition is EASY's rule: it ends at or before the
// shadow time, or it needs no more than the extra nodes, which it then uses up.
#include <algorithm>

#include "core/pass/choices/choices.hpp"
#include "core/pass/stages/lifted_reservation.hpp"
#include "core/pass/stages/queue_walk.hpp"
#include "core/pass/stages/together.hpp"

namespace elastic::core {
namespace {

// A job that shares nodes and does not fit on the idle ones: the rest may be found on partly used
// nodes.  Whether there is room on them, only Slurm knows; if not, the job comes back as one that
// has no room yet.
bool start_on_shared_nodes(Schedule& schedule, std::uint32_t pending, Reason reason) {
    const PendingJob& job = schedule.snapshot().pending[pending];
    const int size = job.requested_size();
    if (size < 1) return false;
    const Time end = schedule.times().end_of(job, size);
    const FreeNodes idle = schedule.nodes().available(job.eligible, size, end);
    const int missing = size - idle.count;
    // In each pool as many as it may take there, for only Slurm knows in which of them it has room.
    PoolCounts parts(schedule.pools(), 0);
    for (const PoolId pool : schedule.eligible(job.eligible))
        parts[pool] = std::min(missing, schedule.shareable(pool, idle.by_pool[pool], end));
    if (total(parts) < missing) return false;
    schedule.start(pending, idle.by_pool, size, reason);
    schedule.share(parts, end);
    return true;
}

// A claimed job waits for its victims' nodes; if idle ones do as well, it starts.
bool start_if_nodes_came_free(Pass& pass, std::uint32_t pending) {
    Schedule& schedule = pass.schedule;
    const PendingJob& job = schedule.snapshot().pending[pending];
    pass.claims.give_back_aside(schedule, pending);
    for (int size :
         {choices::initial_size(schedule, job), choices::least_initial_size(schedule, job)}) {
        const Time end = schedule.times().end_of(job, size);
        const FreeNodes idle = schedule.nodes().available(job.eligible, size, end);
        if (idle.count < size) continue;
        schedule.start(pending, idle.by_pool, size, Reason::nodes_came_free);
        pass.claims.drop(pending);
        return true;
    }
    pass.claims.keep_aside(schedule, pending);
    return false;
}

void start_claimed_job(Pass& pass, std::uint32_t pending) {
    const Policy& policy = pass.schedule.policy();
    if (pass.claims.is_settled(pending)) return;
    if (choices::may_start_on_idle_nodes(policy) && start_if_nodes_came_free(pass, pending)) return;
    if (policy.trades()) pass.claims.trade(pass.schedule, pending);
}

// The idle nodes that the job can have until it ends; none if it has to wait.  With fewer nodes it
// stays longer, and what it can have until then may again be less.
FreeNodes idle_nodes_for(const SystemState& state, const PendingJob& job) {
    int size = choices::initial_size(state, job, state.nodes().free_now(job.eligible));
    while (size > 0) {
        FreeNodes found =
            state.nodes().available(job.eligible, size, state.times().end_of(job, size));
        if (found.count == size) return found;
        size = choices::initial_size(state, job, found.count);
    }
    return {};
}

// A start that another scheduler has planned for later is no obstacle to the job's own start now.
bool start_now(Pass& pass, std::uint32_t pending) {
    LiftedReservation own(pass.schedule, pending);
    if (!start_on_idle_nodes(pass, pending) && !start_by_preemption(pass, pending)) return false;
    own.drop();
    return true;
}

// What a job must be content with to be worth a look.
QueueIndex::Supply supply_for_backfilling(const SystemState& state) {
    QueueIndex::Supply supply;
    for (PoolId pool = 0; pool < state.pools(); ++pool) {
        supply.free += state.availability().free_now(pool);
        supply.extra += state.availability().free_until(pool, kNever);
    }
    for (const Time fall : state.reservations().falls())
        supply.window = std::max(supply.window, fall - state.snapshot().now);
    return supply;
}

QueueIndex::By content_with(const Policy& policy) {
    return choices::is_moldable(policy) || policy.initial_size == InitialSize::equal_share ||
                   policy.initial_size == InitialSize::minimum
               ? QueueIndex::By::least
               : QueueIndex::By::size;
}

// Whether a job before it, or before one that starts together with it, waits for any of its pools.
bool is_behind(const Pass& pass, std::uint32_t pending) {
    const Snapshot& snapshot = pass.schedule.snapshot();
    for (std::uint32_t place = pending; place < Together::end(snapshot, pending); ++place)
        if (pass.front.is_behind(snapshot.pending[place].eligible)) return true;
    return false;
}

}  // namespace

bool start_on_idle_nodes(Pass& pass, std::uint32_t pending) {
    Schedule& schedule = pass.schedule;
    if (schedule.queue().is_deferred(pending)) return false;
    const PendingJob& job = schedule.snapshot().pending[pending];
    const bool behind = is_behind(pass, pending);
    if (behind && !choices::may_overtake(schedule.policy())) return false;
    const Reason reason = behind ? Reason::backfilled : Reason::fits;
    if (job.together) return Together(schedule, pending).start(reason);
    if (!job.elastic.profile.empty()) return schedule.start_with_steps(pending, reason);
    const FreeNodes idle = idle_nodes_for(schedule, job);
    if (idle.count == 0)
        return job.shares_nodes && start_on_shared_nodes(schedule, pending, reason);
    schedule.start(pending, idle.by_pool, idle.count, reason);
    return true;
}

void initial_allocation(Pass& pass) {
    Schedule& schedule = pass.schedule;
    // Whether or not they wait for other nodes too, they block nobody: theirs are set aside.
    for (std::uint32_t claimed : schedule.index().claimed) start_claimed_job(pass, claimed);
    pass.front.begin(schedule);
    walk_queue(
        pass,
        [&] {
            return Wanted{supply_for_backfilling(schedule), content_with(schedule.policy())};
        },
        [&](std::uint32_t place) { return start_now(pass, place); });
}

}  // namespace elastic::core
