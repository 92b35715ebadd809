// SPDX-License-Identifier: MIT
// SatisfyEvolvingRequest, [lina] algorithm 2.
//
// Evolving requests come before pending jobs: a job in the middle of its run that lacks nodes
// wastes those it has.  So a growth may use nodes that a reservation of the last pass counted on;
// all later stages respect the reservations that are made after it.  Shrinks that a job asks for
// are granted by whoever makes the snapshot, since nothing can stand against them.
//
// A step of an evolution profile that has more nodes is a request as well, which nobody had to make
// and for which nodes have been planned since the job started; other requests may not take these
// nodes.
//
// A request gets all it asks for, from idle nodes or else from victims, or as much as there is if
// that is not less than what it takes at least; otherwise it waits for its deadline.  A job's own
// request is not subject to the resize gap.
#include <algorithm>

#include "core/pass/stages/kept_promises.hpp"
#include "core/pass/stages/stages.hpp"

namespace elastic::core {
namespace {

// Sizes after the growth; low > high never holds.
struct SizeRange {
    int size = 0, low = 0, high = 0;
};

void wait_or_deny(Pass& pass, const GrowthRequest& request) {
    if (request.deadline <= pass.schedule.snapshot().now)
        pass.schedule.deny(request, Reason::no_nodes);
}

PoolCounts refuse(Pass& pass, const GrowthRequest& request) {
    wait_or_deny(pass, request);
    return PoolCounts(pass.schedule.pools(), 0);
}

// What victims could give to this job.
int supply_for(Pass& pass, std::uint32_t running) {
    const RunningJob& job = pass.schedule.snapshot().running[running];
    return pass.victims.supply_without(pass.schedule, job.eligible, running);
}

// The nodes of a step are all that its job needs to go on.
bool is_worth_shrinking(const SystemState& state, const RunningJob& job, int target,
                        const std::vector<Shrinkage>& victims) {
    if (!job.elastic.profile.empty()) return true;
    const Duration saved = state.times().end_of(job) - state.times().end_after_resize(job, target);
    return choices::is_worth_shrinking(state, saved, victims);
}

// `until`: to when the nodes must be free, so that nobody who has been promised nodes waits for
// them.  Returns what the job gets.
PoolCounts satisfy_within(Pass& pass, const GrowthRequest& request, std::uint32_t running,
                          const SizeRange& asked, Time until) {
    Schedule& schedule = pass.schedule;
    const RunningJob& job = schedule.snapshot().running[running];
    const SizeRule& sizes = job.elastic.sizes;
    const Time now = schedule.snapshot().now;
    const int idle = schedule.nodes().available(job.eligible, asked.high - asked.size, until).count;
    // Victims need time to leave, which a request at its deadline has not.
    const bool may_wait = request.deadline > now;
    const int reach = idle + (may_wait ? supply_for(pass, running) : 0);
    const int target = sizes.largest(asked.low, std::min(asked.high, asked.size + reach));
    if (target == 0) return refuse(pass, request);
    const int more = target - asked.size;
    const FreeNodes found = schedule.nodes().available(job.eligible, more, until);
    std::vector<Shrinkage> victims;
    if (found.count < more) {
        const Beneficiary who{job.eligible, more - found.count, schedule.times().end_of(job),
                              found.by_pool, job.id};
        victims = pass.victims.select(schedule, who);
        if (victims.empty() || !is_worth_shrinking(schedule, job, target, victims))
            return refuse(pass, request);
    }
    schedule.grant(request, running, found.by_pool, victims);
    pass.victims.remove(schedule, victims);
    pass.victims.remove(schedule, running);
    PoolCounts gained = found.by_pool;
    for (const Shrinkage& victim : victims) gained = sum(gained, victim.used);
    return gained;
}

// plan_later_steps has taken nodes for the job's present step, if there were any, and for its later
// steps: they are the job's own.  A job whose later steps would never fit must not get more nodes:
// others that hold some may wait for them as well.
void satisfy_step(Pass& pass, const GrowthRequest& request, std::uint32_t running,
                  const SizeRange& asked) {
    Schedule& schedule = pass.schedule;
    const RunningJob& job = schedule.snapshot().running[running];
    schedule.lift_later_steps(job.id);
    const PoolCounts idle = schedule.idle_for_step(running);
    const bool is_there = total(idle) == asked.high - asked.size;
    if (is_there && schedule.grant_step(request, running, idle))
        return pass.victims.remove(schedule, running);
    const PoolCounts gained =
        is_there || !schedule.can_go_on(running)
            ? refuse(pass, request)
            : satisfy_within(pass, request, running, asked, schedule.times().end_of_growth(job));
    schedule.plan_later_steps(running, gained);
}

// Its nodes were planned with before anybody who waits now was promised a start.
bool is_for_step(const SystemState& state, const GrowthRequest& request) {
    const std::uint32_t running = state.running().find(request.job);
    if (running == state.snapshot().running.size()) return false;
    const RunningJob& job = state.snapshot().running[running];
    return !job.elastic.profile.empty() && total(job.held) < job.elastic.profile.front().nodes;
}

// `promises`: whether anybody has been promised a start.
void satisfy(Pass& pass, const GrowthRequest& request, bool promises) {
    Schedule& schedule = pass.schedule;
    const std::uint32_t running = schedule.running().find(request.job);
    if (running == schedule.snapshot().running.size()) return;  // it has ended
    const RunningJob& job = schedule.snapshot().running[running];
    SizeRange asked;
    asked.size = total(job.held);
    asked.low = asked.size + std::clamp(request.least, 1, request.nodes);
    asked.high = std::min(asked.size + request.nodes, job.elastic.max);
    if (asked.low > asked.high) return schedule.deny(request, Reason::beyond_maximum);
    if (job.elastic.sizes.largest(asked.low, asked.high) == 0)
        return schedule.deny(request, Reason::not_allowed_size);
    if (!job.resizable || schedule.running().touched(running)) return wait_or_deny(pass, request);
    if (!job.elastic.profile.empty()) return satisfy_step(pass, request, running, asked);
    const bool others_are_promised = promises || schedule.reservations().has_later_steps() ||
                                     !schedule.snapshot().planned.empty();
    const Time until = others_are_promised ? schedule.times().end_of(job) : schedule.snapshot().now;
    satisfy_within(pass, request, running, asked, until);
}

}  // namespace

void evolving_requests(Pass& pass) {
    if (pass.schedule.snapshot().requests.empty()) return;
    pass.victims.admitted(pass.schedule, *pass.rng);
    const std::vector<GrowthRequest>& requests = pass.schedule.snapshot().requests;
    for (const GrowthRequest& request : requests)
        if (is_for_step(pass.schedule, request)) satisfy(pass, request, false);
    const KeptPromises promises(pass.schedule);
    for (const GrowthRequest& request : requests)
        if (!is_for_step(pass.schedule, request)) satisfy(pass, request, promises.any());
}

}  // namespace elastic::core
