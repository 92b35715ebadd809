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

#include "core/choices/choices.hpp"
#include "core/stages/stages.hpp"

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

// A job that shares nodes and does not fit on the idle ones in pass.counts: the
// rest may be found on partly used nodes.  Whether there is room on them, only
// Slurm knows; if not, the job comes back as refused.
bool start_on_shared_nodes(Pass& pass, std::uint32_t pending, int missing, Reason reason) {
    SystemState& state = pass.state;
    const PendingJob& job = state.snapshot().pending[pending];
    if (!job.shares_nodes || job.refused) return false;
    PoolCounts shared(state.pools(), 0);
    const auto left = [&](PoolId pool) { return state.shared_nodes(pool); };
    if (choose(state.eligible(job.eligible), missing, left, shared) < missing) return false;
    const int size = total(pass.counts) + missing;
    const Time end = state.end_of(job, size);
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
    const int aside = total(*state.set_aside(pending));
    for (int size : {choices::initial_size(state.policy(), job),
                     choices::least_initial_size(state.policy(), job)}) {
        const int more = std::max(0, size - aside);
        const Time end = state.end_of(job, size);
        if (size < aside || state.available(job.eligible, more, end, pass.counts) < more) continue;
        return state.start_claimed(pending, pass.counts, size);
    }
}

}  // namespace

bool start_on_idle_nodes(Pass& pass, std::uint32_t pending) {
    SystemState& state = pass.state;
    const PendingJob& job = state.snapshot().pending[pending];
    const bool behind = pass.front.is_behind(job.eligible);
    if (behind && !choices::may_overtake(state.policy())) return false;
    const int size = choices::initial_size(state.policy(), job);
    if (size < 1 || (!job.shares_nodes && state.free_now(job.eligible) < size)) return false;
    const Reason reason = behind ? Reason::backfilled : Reason::fits;
    const int found = state.available(job.eligible, size, state.end_of(job, size), pass.counts);
    if (found < size) return start_on_shared_nodes(pass, pending, size - found, reason);
    state.start(pending, pass.counts, size, reason);
    return true;
}

void initial_allocation(Pass& pass) {
    SystemState& state = pass.state;
    pass.front.begin(state);
    const std::vector<PendingJob>& queue = state.snapshot().pending;
    for (std::uint32_t i = 0; i < queue.size(); ++i) {
        if (queue[i].claimed)
            start_if_nodes_came_free(pass, i);
        else if (!state.decided(i) && !start_on_idle_nodes(pass, i))
            pass.front.block(state, i, choices::initial_size(state.policy(), queue[i]));
    }
}

}  // namespace elastic::core
