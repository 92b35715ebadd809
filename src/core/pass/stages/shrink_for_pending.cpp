// SPDX-License-Identifier: MIT
// SchedulePendingJob, [lina] algorithm 4: starts jobs that are still pending by shrinking running
// malleable ones; SelectShrinkableJob and AllocateResource (algorithms 5 to 8) are in victims.cpp.
//
// A malleable job is started with its minimum (lines 2 and 3), any other with its initial size, on
// the idle nodes it can have without delaying a reservation and on victims' nodes for the rest.
// The paper's loop visits each job of J_p, not only the head; what the paper leaves open is how
// that agrees with the head's reservation.  Here no job, by its idle nodes or by what it does to
// its victims, may delay a reservation but its own, which it gives up as it starts; the next
// blocked job then becomes the head.
//
// A malleable job whose minimum fits on idle nodes needs no victim and starts on those; any job
// that fits now that a reservation has gone starts as in initial_allocation.  If no running job can
// be shrunk, the stage does nothing (algorithm 1, line 3).
//
// With ShrinkFor=anybody the loop is [mebf] algorithm 2's, over the running jobs: nobody is to have
// the nodes, and the next plan finds them idle.
#include <algorithm>

#include "core/pass/choices/choices.hpp"
#include "core/pass/stages/lifted_reservation.hpp"
#include "core/pass/stages/queue_walk.hpp"

namespace elastic::core {
namespace {

bool start_on_victims(Pass& pass, std::uint32_t pending, int size) {
    Schedule& schedule = pass.schedule;
    const PendingJob& job = schedule.snapshot().pending[pending];
    const Time end = schedule.times().end_of(job, size);
    const PoolCounts idle = schedule.nodes().available(job.eligible, size, end).by_pool;
    const int needed = size - total(idle);
    if (needed == 0) {
        const bool behind = pass.front.is_behind(job.eligible);
        schedule.start(pending, idle, size, behind ? Reason::backfilled : Reason::fits);
        return true;
    }
    if (schedule.queue().has_claim(job.id) || pass.victims.supply(schedule, job.eligible) < needed)
        return false;
    const bool is_least = size <= choices::least_initial_size(schedule, job);
    const Beneficiary who{job.eligible, needed, end, idle, 0, is_least};
    std::vector<Shrinkage> victims = pass.victims.select(schedule, who);
    if (victims.empty()) return false;
    const bool small = size < choices::initial_size(schedule, job);
    if (choices::may_start_larger(schedule, job))
        size = pass.victims.take_more(schedule, job, who, size, victims);
    if (!choices::is_start_beneficial(schedule, job, size, small, victims)) return false;
    schedule.start_by_shrinking(pending, idle, size, victims);
    pass.victims.remove(schedule, victims);
    return true;
}

// A job with an evolution profile also has to have its later steps in time.
bool start_by_shrinking(Pass& pass, std::uint32_t pending, int size) {
    Schedule& schedule = pass.schedule;
    const PendingJob& job = schedule.snapshot().pending[pending];
    if (job.elastic.profile.empty()) return start_on_victims(pass, pending, size);
    if (!schedule.plan_steps_after_start(pending, true)) return false;
    const bool starts = start_on_victims(pass, pending, size);
    if (!starts) schedule.lift_later_steps(job.id);
    return starts;
}

bool start_with_best_or(Pass& pass, std::uint32_t pending, int size) {
    const Schedule& schedule = pass.schedule;
    const int best = choices::best_initial_size(schedule, schedule.snapshot().pending[pending]);
    return (best > size && start_by_shrinking(pass, pending, best)) ||
           start_by_shrinking(pass, pending, size);
}

bool start_somehow(Pass& pass, std::uint32_t pending, int size) {
    return start_on_idle_nodes(pass, pending) || start_with_best_or(pass, pending, size);
}

bool start_instead_of_reservation(Pass& pass, std::uint32_t pending, int size) {
    LiftedReservation own(pass.schedule, pending);
    if (!start_somehow(pass, pending, size)) return false;
    // What its reservation held is free for others.
    if (own.exists()) pass.failures.clear(pass.schedule.snapshot().eligibilities.size());
    own.drop();
    return true;
}

// What running jobs give up for nobody in particular.
PoolCounts coming_for_anybody(const Snapshot& snapshot) {
    PoolCounts nodes(snapshot.pools.size(), 0);
    for (const Promise& promise : snapshot.promises)
        if (promise.kind == ResizeKind::shrink && promise.beneficiary == 0)
            nodes = sum(nodes, promise.nodes);
    return nodes;
}

// Victims for all of them, none for two; empty if there are not enough or it does not pay.
std::vector<Shrinkage> victims_for_all(Pass& pass, const PendingJob& job,
                                       const std::vector<Beneficiary>& wanted) {
    const Schedule& schedule = pass.schedule;
    std::vector<Shrinkage> all;
    for (const Beneficiary& who : wanted) {
        if (pass.victims.supply(schedule, who.eligible) < who.needed) return {};
        const std::vector<Shrinkage> victims = pass.victims.select(schedule, who);
        if (victims.empty() ||
            !choices::is_start_beneficial(schedule, job, job.requested_size(), false, victims))
            return {};
        for (const Shrinkage& victim : victims) {
            if (std::ranges::find(all, victim.victim, &Shrinkage::victim) != all.end()) return {};
            all.push_back(victim);
        }
    }
    return all;
}

// Victims give up nodes to nobody in particular for jobs that start together, which do so by a
// later plan, when all of the nodes are idle.  Only for the first of the queue that have a
// reservation, since others could not count on them.
bool shrink_for_together(Pass& pass, std::uint32_t first) {
    Schedule& schedule = pass.schedule;
    const Together jobs(schedule, first);
    const bool is_behind = jobs.any([&](std::uint32_t place) {
        return pass.front.is_behind(schedule.snapshot().pending[place].eligible);
    });
    if (is_behind) return false;
    std::vector<Shrinkage> victims =
        victims_for_all(pass, schedule.snapshot().pending[first],
                        jobs.missing(coming_for_anybody(schedule.snapshot())));
    for (Shrinkage& victim : victims) {
        victim.used.assign(schedule.pools(), 0);  // nobody does in this plan
        schedule.shrink_for_anybody(victim);
    }
    pass.victims.remove(schedule, victims);
    return !victims.empty();
}

// What victims leave may come late, so the reservation stays for the time that it was for.
bool start_together(Pass& pass, std::uint32_t first) {
    Schedule& schedule = pass.schedule;
    LiftedReservation own(schedule, first);
    if (start_on_idle_nodes(pass, first)) {
        if (own.exists()) pass.failures.clear(schedule.snapshot().eligibilities.size());
        own.drop();
        return true;
    }
    if (!own.exists() || !shrink_for_together(pass, first)) return false;
    const Time from = own.from();
    own.drop();
    for (Reservation& one : Together(schedule, first).earliest(from))
        schedule.reserve(std::move(one));
    return false;
}

bool schedule_pending_job(Pass& pass, std::uint32_t pending) {
    Failures& failures = pass.failures;
    Schedule& schedule = pass.schedule;
    if (schedule.queue().is_deferred(pending)) return false;
    const PendingJob& job = schedule.snapshot().pending[pending];
    if (job.together) return start_together(pass, pending);
    if (pass.front.is_behind(job.eligible) && !choices::may_overtake(schedule.policy()))
        return false;
    const int size = choices::least_initial_size(schedule, job);
    const bool is_judged_by_size = job.elastic.profile.empty();
    if (size < 1) return false;
    if (is_judged_by_size && failures.covers(job.eligible, size, job.duration)) return false;
    if (schedule.nodes().free_now(job.eligible) + pass.victims.supply(schedule, job.eligible) <
        size)
        return false;
    const auto reserved = schedule.reservations().of(pending);
    if (start_instead_of_reservation(pass, pending, size)) return true;
    // A copy that has none would wait longer, which may make shrinking worth it.
    const bool all_reserved = reserved >= schedule.queue().undecided_copies(pending);
    if (reserved > 0 && !all_reserved && start_somehow(pass, pending, size)) return true;
    // Others may be helped where only its turn has not come.
    if (schedule.queue().has_claim(job.id)) return false;
    // Where it would not pay for this job, it is taken not to pay for one that wants no less for no
    // less time: not so for sure, but no worse by measurement and less to search.
    if (!all_reserved && is_judged_by_size) failures.add(job.eligible, size, job.duration);
    return false;
}

// Bounds from above what this stage can give to one job, so that a pass in which it helps nobody
// costs nothing.
int most_in_reach(const SystemState& state) {
    return state.nodes().idle() + state.index().shrinkable;
}

// A closer bound takes a look at all victims for each set of pools.
constexpr std::size_t kFewEligibilities = 8;

int reach(Pass& pass) {
    const Schedule& schedule = pass.schedule;
    const std::size_t eligibilities = schedule.snapshot().eligibilities.size();
    if (eligibilities > kFewEligibilities) return most_in_reach(schedule);
    int nodes = 0;
    for (EligibilityId id = 0; id < eligibilities; ++id)
        nodes = std::max(nodes, schedule.nodes().free_now(id) + pass.victims.supply(schedule, id));
    return nodes;
}

Wanted within_reach(Pass& pass) {
    const int nodes = reach(pass);
    return {{nodes, nodes, kNever}, QueueIndex::By::least, &pass.failures};
}

// Nodes that the first waiting job can use.
void shrink_for_queue(Pass& pass) {
    Schedule& schedule = pass.schedule;
    const std::vector<PendingJob>& queue = schedule.snapshot().pending;
    for (std::uint32_t place = 0; place < queue.size(); ++place) {
        if (schedule.queue().decided(place) || schedule.queue().is_deferred(place)) continue;
        const auto parts = pass.victims.select_all(schedule, queue[place].eligible);
        for (const Shrinkage& part : parts) schedule.shrink_for_anybody(part);
        return pass.victims.remove(schedule, parts);
    }
}

}  // namespace

bool start_by_shrinking(Pass& pass, std::uint32_t pending) {
    const Schedule& schedule = pass.schedule;
    if (schedule.policy().shrink_for == ShrinkFor::anybody) return false;
    if (!pass.victims.admitted(schedule, *pass.rng)) return false;
    const int size = choices::least_initial_size(schedule, schedule.snapshot().pending[pending]);
    return size >= 1 && start_with_best_or(pass, pending, size);
}

void shrink_for_pending(Pass& pass) {
    Schedule& schedule = pass.schedule;
    const QueueIndex& queue = schedule.index().queue;
    const bool for_anybody = schedule.policy().shrink_for == ShrinkFor::anybody;
    if (!schedule.queue().is_anyone_waiting() || !choices::may_shrink(schedule)) return;
    if (!for_anybody && !queue.any_within(most_in_reach(schedule))) return;
    if (!pass.victims.admitted(schedule, *pass.rng)) return;
    if (for_anybody) return shrink_for_queue(pass);
    pass.front.begin(schedule);
    pass.failures.clear(schedule.snapshot().eligibilities.size());
    walk_queue(
        pass, [&] { return within_reach(pass); },
        [&](std::uint32_t place) { return schedule_pending_job(pass, place); });
}

}  // namespace elastic::core
