// SPDX-License-Identifier: MIT
// ExpandRunningMalleableJobs of [lina] algorithm 1: "jobs with the highest
// runtime are chosen for expansion".
//
// Over nodes that nobody can use: free now, and not needed by a reservation before
// the job ends by its estimate, which with more nodes can only come sooner.  Where
// the cost of the resize eats that up, the job ends later than the reservations
// have been told, so it is left as it is unless there are none.
// Evolving requests that still wait are no obstacle: they wait because these
// nodes do not suffice or are not theirs.
#include <algorithm>

#include "core/choices/choices.hpp"
#include "core/stages/stages.hpp"

namespace elastic::core {
namespace {

bool any_idle(SystemState& state) {
    for (PoolId pool = 0; pool < state.pools(); ++pool)
        if (state.profile().free_now(pool) > 0) return true;
    return false;
}

void expand(Pass& pass, std::uint32_t running) {
    SystemState& state = pass.state;
    const RunningJob& job = state.snapshot().running[running];
    const int room = job.elastic.max - total(job.held);
    const Time end = state.end_of(job);
    const int found = state.available(job.eligible, room, end, pass.counts);
    const int size = choices::expanded_size(state, job, found);
    if (size == 0 || !choices::is_feasible(state, job, size)) return;
    if (!state.reservations().empty() && state.end_after_resize(job, size) > end) return;
    state.available(job.eligible, size - total(job.held), end, pass.counts);
    state.expand(running, pass.counts, size);
}

}  // namespace

void expand_running_malleable_jobs(Pass& pass) {
    SystemState& state = pass.state;
    if (state.index().expandable == 0 || !choices::may_expand(state) || !any_idle(state)) return;
    const std::vector<RunningJob>& running = state.snapshot().running;
    auto& order = pass.expandable;
    order.clear();
    for (std::uint32_t i = 0; i < running.size(); ++i)
        if (total(running[i].held) < running[i].elastic.max && state.may_resize(i))
            order.emplace_back(choices::expand_rank(state, running[i]), running[i].id, i);
    std::sort(order.begin(), order.end());
    for (const auto& [rank, id, job] : order) {
        if (!any_idle(state)) return;
        expand(pass, job);
    }
}

}  // namespace elastic::core
