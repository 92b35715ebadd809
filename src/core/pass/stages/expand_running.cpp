// SPDX-License-Identifier: MIT
// ExpandRunningMalleableJobs of [lina] algorithm 1: "jobs with the highest
// runtime are chosen for expansion".
//
// Over nodes that nobody can use: free now, and not needed by a reservation before
// the job ends by its estimate, which with more nodes can only come sooner, or, where
// reserved nodes are lent, before it can give them back.  Where
// the cost of the resize eats that up, the job ends later than the reservations
// have been told, so it is left as it is unless there are none.
// Evolving requests that still wait are no obstacle: they wait because these
// nodes do not suffice or are not theirs.
#include <algorithm>

#include "core/pass/choices/choices.hpp"
#include "core/pass/stages/stages.hpp"

namespace elastic::core {
namespace {

bool any_idle(SystemState& state) {
    for (PoolId pool = 0; pool < state.pools(); ++pool)
        if (state.profile().free_now(pool) > 0) return true;
    return false;
}

// The size to which it can be expanded over nodes that are free until `until`, and in
// pass.counts which; 0 if it is to stay as it is.
int size_on_nodes_until(Pass& pass, const RunningJob& job, Time until) {
    SystemState& state = pass.state;
    const int room = job.elastic.max - total(job.held);
    const int found = state.available(job.eligible, room, until, pass.counts);
    const int size = choices::expanded_size(state, job, found);
    if (size == 0 || !choices::is_feasible(state, job, size)) return 0;
    if (!state.reservations().empty() && state.end_after_resize(job, size) > state.end_of(job))
        return 0;
    state.available(job.eligible, size - total(job.held), until, pass.counts);
    return size;
}

bool expand_until(Pass& pass, std::uint32_t running, Time until, Reason reason) {
    SystemState& state = pass.state;
    const int size = size_on_nodes_until(pass, state.snapshot().running[running], until);
    if (size == 0 || !state.may_grow(running, pass.counts)) return false;
    state.expand(running, pass.counts, size, reason);
    return true;
}

// Over nodes that it has to give back, if that makes it larger than those it can keep.
bool expand_by_loan(Pass& pass, std::uint32_t running) {
    SystemState& state = pass.state;
    const RunningJob& job = state.snapshot().running[running];
    const Time returned = state.returns_at(running);
    if (returned == state.end_of(job) || state.reservations().empty()) return false;
    const int kept = size_on_nodes_until(pass, job, state.end_of(job));
    const int lent = size_on_nodes_until(pass, job, returned);
    return lent > kept && choices::is_worth_lending(state, job, lent) &&
           expand_until(pass, running, returned, Reason::lent);
}

void expand(Pass& pass, std::uint32_t running) {
    const Time end = pass.state.end_of(pass.state.snapshot().running[running]);
    if (!expand_by_loan(pass, running)) expand_until(pass, running, end, Reason::nobody_can_use);
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
