// SPDX-License-Identifier: MIT
// ExpandRunningMalleableJobs of [lina] algorithm 1: "jobs with the highest runtime are chosen for
// expansion".
//
// Over nodes that nobody can use: free now, and not needed by a reservation before the job ends by
// its estimate, which with more nodes can only come sooner, or, where reserved nodes are lent,
// before it can give them back.  Where the cost of the resize eats that up, the job ends later than
// the reservations have been told, so it is left as it is unless there are none.  Evolving requests
// that still wait are no obstacle: they wait because these nodes do not suffice or are not theirs.
//
// With ExpandFrom=start the jobs that this plan starts on idle nodes are candidates as well, as if
// they ran already.  To start larger is no resize, so it needs no gap and costs nothing, but who
// comes next may have to wait for what it takes to give the nodes back.  So that has to be a small
// share of what they save, where resizes have to pay.  They are lent nothing: whether a job takes
// part, and so would give it back, is not known before it runs.  Nor are nodes woken for them.
#include <algorithm>

#include "core/pass/choices/choices.hpp"
#include "core/pass/stages/stages.hpp"

namespace elastic::core {
namespace {

bool any_idle(const SystemState& state) {
    for (PoolId pool = 0; pool < state.pools(); ++pool)
        if (state.availability().free_now(pool) > 0) return true;
    return false;
}

void leave_asleep(Schedule& schedule) {
    PoolCounts asleep(schedule.pools(), 0);
    for (PoolId pool = 0; pool < schedule.pools(); ++pool)
        if (schedule.snapshot().pools[pool].asleep)
            asleep[pool] = schedule.availability().free_now(pool);
    if (total(asleep) > 0)
        schedule.availability().take(schedule.snapshot().now, schedule.availability().soon(),
                                     asleep);
}

// The size to which it can be expanded over nodes that are free until `until`; 0 if it is to stay
// as it is.
int size_on_nodes_until(const SystemState& state, const RunningJob& job, Time until) {
    const int room = job.elastic.max - total(job.held);
    const int found = state.nodes().available(job.eligible, room, until).count;
    const int wanted = choices::expanded_size(state, job, found);
    const int size =
        wanted > 0 ? choices::feasible_expansion(state.policy(), state.times(), job, wanted) : 0;
    if (size == 0) return 0;
    const bool is_later = state.times().end_after_resize(job, size) > state.times().end_of(job);
    return is_later && !state.reservations().falls().empty() ? 0 : size;
}

bool expand_until(Schedule& schedule, std::uint32_t running, Time until, Reason reason) {
    const RunningJob& job = schedule.snapshot().running[running];
    const int size = size_on_nodes_until(schedule, job, until);
    if (size == 0) return false;
    const PoolCounts more =
        schedule.nodes().available(job.eligible, size - total(job.held), until).by_pool;
    if (!schedule.may_grow(running, more)) return false;
    schedule.expand(running, more, size, reason);
    return true;
}

// Expands the job over nodes that it has to give back, if it becomes larger so than on nodes that
// it can keep.
bool expand_by_loan(Schedule& schedule, std::uint32_t running) {
    const RunningJob& job = schedule.snapshot().running[running];
    const Time returned = schedule.running().returns_at(running);
    if (returned == schedule.times().end_of(job) || schedule.reservations().falls().empty())
        return false;
    const int kept = size_on_nodes_until(schedule, job, schedule.times().end_of(job));
    const int lent = size_on_nodes_until(schedule, job, returned);
    const Duration until_needed = schedule.reservations().first_fall() - schedule.snapshot().now;
    return lent > kept && choices::is_worth_lending(job, lent, until_needed) &&
           expand_until(schedule, running, returned, Reason::lent);
}

void expand(Schedule& schedule, std::uint32_t running) {
    const Time end = schedule.times().end_of(schedule.snapshot().running[running]);
    if (!expand_by_loan(schedule, running))
        expand_until(schedule, running, end, Reason::nobody_can_use);
}

void start_larger(Schedule& schedule, const Starting& start) {
    const RunningJob& job = start.job;
    const Time end = schedule.times().end_of(job);
    const int size = size_on_nodes_until(schedule, job, end);
    if (size == 0) return;
    const int more = size - total(job.held);
    schedule.enlarge_start(start.action,
                           schedule.nodes().available(job.eligible, more, end).by_pool, end);
}

// T_rescale is to be much less than what is done with the nodes ([gupta] section IV).
ResizeCost much_more(ResizeCost cost) {
    constexpr double kMuchMore = 10;
    for (double* part : {&cost.alpha, &cost.beta, &cost.b, &cost.sync, &cost.data})
        *part *= kMuchMore;
    return cost;
}

// The start as if the job ran already and had been left alone for ever.
RunningJob as_running(const SystemState& state, const Action& start) {
    const PendingJob& pending = state.snapshot().pending[start.place];
    RunningJob job;
    job.id = pending.id;
    job.elastic = pending.elastic;
    job.elastic.cost = much_more(pending.elastic.cost);
    job.eligible = pending.eligible;
    job.held = start.nodes;
    job.start = state.snapshot().now;
    job.estimated_end = state.times().end_of(pending, start.size_after);
    job.last_resize = -kNever;
    job.duration = pending.duration;
    return job;
}

void find_starting(Pass& pass) {
    pass.starting.clear();
    if (!choices::expands_from_start(pass.schedule.policy())) return;
    const std::vector<Action>& actions = pass.schedule.plan().actions;
    for (std::size_t i = 0; i < actions.size(); ++i) {
        const Action& action = actions[i];
        if (action.kind != ActionKind::start || action.deferred) continue;
        const PendingJob& job = pass.schedule.snapshot().pending[action.place];
        const bool has_whole_nodes = total(action.nodes) == action.size_after;
        if (job.elastic.malleable && has_whole_nodes && action.size_after < job.elastic.max)
            pass.starting.push_back({as_running(pass.schedule, action), i});
    }
}

// By rank.  Indices behind those of the running jobs are of jobs that start.
void rank_candidates(Pass& pass) {
    const Schedule& schedule = pass.schedule;
    const std::vector<RunningJob>& running = schedule.snapshot().running;
    auto& order = pass.expandable;
    order.clear();
    const auto add = [&](const RunningJob& job, std::size_t index) {
        order.emplace_back(choices::expand_rank(schedule, job), job.id, index);
    };
    if (schedule.index().expandable > 0)
        for (std::uint32_t i = 0; i < running.size(); ++i)
            if (total(running[i].held) < running[i].elastic.max && schedule.running().may_resize(i))
                add(running[i], i);
    for (std::size_t i = 0; i < pass.starting.size(); ++i)
        add(pass.starting[i].job, running.size() + i);
    std::sort(order.begin(), order.end());
}

}  // namespace

void expand_running(Pass& pass) {
    Schedule& schedule = pass.schedule;
    if (!choices::may_expand(schedule.policy(), schedule.queue())) return;
    leave_asleep(schedule);
    if (!any_idle(schedule)) return;
    find_starting(pass);
    rank_candidates(pass);
    const std::size_t running = schedule.snapshot().running.size();
    for (const auto& [rank, id, index] : pass.expandable) {
        if (!any_idle(schedule)) return;
        if (index < running)
            expand(schedule, index);
        else
            start_larger(schedule, pass.starting[index - running]);
    }
}

}  // namespace elastic::core
