// SPDX-License-Identifier: MIT
// InitialAllocation, [lina] algorithm 3: first come first served with EASY
// backfilling.
//
// The paper's listing tests "p_r != p_c"; read here as "p_r <= p_c", as its text
// says.  A job starts if enough eligible nodes are free from now until its
// estimated end.  Since reservations stand in the profile, this one condition is
// EASY's rule: it ends at or before the shadow time, or it needs no more than
// the extra nodes, which it then uses up.
#include <algorithm>

#include "core/pass/choices/choices.hpp"
#include "core/pass/stages/queue_walk.hpp"

namespace elastic::core {
namespace {

// Whether the partly used nodes of `shared` may be taken until `end`: a
// reservation may count on their coming free.
bool may_share_until(SystemState& state, const PoolCounts& idle, const PoolCounts& shared,
                     Time end) {
    const Time shadow = state.first_reservation();
    if (end <= shadow) return true;
    for (PoolId pool = 0; pool < state.pools(); ++pool) {
        if (shared[pool] == 0) continue;
        if (state.profile().free_between(pool, shadow, end) < idle[pool] + shared[pool])
            return false;
    }
    return true;
}

// A job that shares nodes and does not fit on the idle ones: the rest may be found
// on partly used nodes.  Whether there is room on them, only Slurm knows; if not, the
// job comes back as refused.
bool start_on_shared_nodes(Pass& pass, std::uint32_t pending, Reason reason) {
    SystemState& state = pass.state;
    const PendingJob& job = state.snapshot().pending[pending];
    const int size = choices::requested_size(job);
    if (job.refused || size < 1) return false;
    const Time end = state.end_of(job, size);
    const int missing = size - state.available(job.eligible, size, end, pass.counts);
    PoolCounts shared(state.pools(), 0);
    const auto left = [&](PoolId pool) { return state.shared_nodes(pool); };
    if (choose(state.eligible(job.eligible), missing, left, shared) < missing) return false;
    if (!may_share_until(state, pass.counts, shared, end)) return false;
    state.start(pending, pass.counts, size, reason);
    const Time shadow = state.first_reservation();
    if (shadow < end) state.profile().take(shadow, end, shared);
    return true;
}

// A claimed job waits for its victims' nodes; if idle ones do as well, it starts.
void start_if_nodes_came_free(Pass& pass, std::uint32_t pending) {
    SystemState& state = pass.state;
    const PendingJob& job = state.snapshot().pending[pending];
    state.claims().give_back_aside(state, pending);
    for (int size : {choices::initial_size(state, job), choices::least_initial_size(state, job)}) {
        const Time end = state.end_of(job, size);
        if (state.available(job.eligible, size, end, pass.counts) < size) continue;
        return state.start(pending, pass.counts, size, Reason::nodes_came_free);
    }
    state.claims().keep_aside(state, pending);
}

// The size that the job can have on idle nodes until it ends, and in pass.counts
// which; 0 if it has to wait.  With fewer nodes it stays longer, and what it can have
// until then may again be less.
int size_on_idle_nodes(Pass& pass, const PendingJob& job) {
    SystemState& state = pass.state;
    int size = choices::initial_size(state, job, state.free_now(job.eligible));
    while (size > 0) {
        const int found = state.available(job.eligible, size, state.end_of(job, size), pass.counts);
        if (found == size) break;
        size = choices::initial_size(state, job, found);
    }
    return size;
}

// What a job must be content with to be worth a look.
QueueIndex::Supply supply_for_backfilling(Pass& pass) {
    SystemState& state = pass.state;
    QueueIndex::Supply supply;
    for (PoolId pool = 0; pool < state.pools(); ++pool) {
        supply.free += state.profile().free_now(pool);
        supply.extra += state.profile().free_until(pool, kNever);
    }
    for (const Reservation& reservation : state.reservations())
        supply.window = std::max(supply.window, reservation.from - state.snapshot().now);
    return supply;
}

std::uint32_t next_candidate(Pass& pass, std::uint32_t from) {
    const QueueIndex& queue = pass.state.index().queue;
    if (!pass.front.is_settled()) return queue.next(from);
    if (!choices::may_overtake(pass.state.policy())) return queue.end();
    const QueueIndex::Supply supply = supply_for_backfilling(pass);
    return choices::is_moldable(pass.state.policy()) ||
                   pass.state.policy().initial_size == InitialSize::equal_share
               ? queue.next_by_least(from, supply)
               : queue.next_by_size(from, supply);
}

}  // namespace

bool start_on_idle_nodes(Pass& pass, std::uint32_t pending) {
    SystemState& state = pass.state;
    const PendingJob& job = state.snapshot().pending[pending];
    const bool behind = pass.front.is_behind(job.eligible);
    if (behind && !choices::may_overtake(state.policy())) return false;
    const Reason reason = behind ? Reason::backfilled : Reason::fits;
    const int size = size_on_idle_nodes(pass, job);
    if (size == 0) return job.shares_nodes && start_on_shared_nodes(pass, pending, reason);
    state.start(pending, pass.counts, size, reason);
    return true;
}

void initial_allocation(Pass& pass) {
    SystemState& state = pass.state;
    // Whether or not they wait for other nodes too, they block nobody: theirs are set aside.
    for (std::uint32_t claimed : state.index().claimed) start_if_nodes_came_free(pass, claimed);
    pass.front.begin(state);
    walk_queue(
        pass, [&](std::uint32_t from) { return next_candidate(pass, from); },
        [&](std::uint32_t place) { return start_on_idle_nodes(pass, place); });
}

}  // namespace elastic::core
