// SPDX-License-Identifier: MIT
// Jobs that may end others to have their nodes (Slurm's preemption).  Malleable ones of these are
// asked to shrink first, whatever the policy says of shrinking, since what they keep from the asker
// is taken from them; the others lose nothing.  Only where that does not give the job all it needs,
// running jobs are ended: by this plan, or by the scheduler that starts jobs beside it.
//
// Jobs that start together end nobody.
//
// Always holds: no job is both asked to shrink and ended; what is ended suffices, and none of it is
// ended for nothing; jobs are ended only for those that nobody in the queue is before.
#include <algorithm>
#include <unordered_map>
#include <utility>

#include "core/pass/choices/choices.hpp"
#include "core/pass/stages/lifted_reservation.hpp"
#include "core/pass/stages/stages.hpp"

namespace elastic::core {
namespace {

const Preemptor* preemptor_at(const Snapshot& snapshot, std::uint32_t place) {
    const auto found = std::ranges::lower_bound(snapshot.preemptors, place, {}, &Preemptor::place);
    return found != snapshot.preemptors.end() && found->place == place ? &*found : nullptr;
}

// As indices into Snapshot::running, in the same order; those that have no action yet.
std::vector<std::uint32_t> untouched(const SystemState& state, const std::vector<JobId>& victims) {
    std::unordered_map<JobId, std::uint32_t> by_id;
    const std::vector<RunningJob>& running = state.snapshot().running;
    for (std::uint32_t i = 0; i < running.size(); ++i) by_id.emplace(running[i].id, i);
    std::vector<std::uint32_t> found;
    for (JobId id : victims)
        if (const std::uint32_t i = by_id.at(id); !state.running().touched(i)) found.push_back(i);
    return found;
}

// Precedence over what is planned for jobs behind it, which then have what is left of their nodes.
class Precedence {
  public:
    Precedence(Schedule& schedule, std::uint32_t pending)
        : schedule_(schedule), lifted_(schedule.lift_planned_behind(pending)) {}
    ~Precedence() {
        for (Reservation& one : lifted_) schedule_.reserve_what_is_free(std::move(one));
    }
    Precedence(const Precedence&) = delete;
    Precedence& operator=(const Precedence&) = delete;

  private:
    Schedule& schedule_;
    std::vector<Reservation> lifted_;
};

bool shrink_victims(Pass& pass, std::uint32_t pending, int size) {
    Schedule& schedule = pass.schedule;
    const PendingJob& job = schedule.snapshot().pending[pending];
    if (size < 1 || schedule.queue().has_claim(job.id)) return false;
    const Time end = schedule.times().end_of(job, size);
    const PoolCounts idle = schedule.nodes().available(job.eligible, size, end).by_pool;
    Beneficiary who{job.eligible, size - total(idle), end, idle};
    who.preempts = true;
    if (who.needed <= 0) return false;
    const std::vector<Shrinkage> victims = pass.preemptible.select(schedule, who);
    if (victims.empty()) return false;
    schedule.start_by_shrinking(pending, idle, size, victims, Reason::instead_of_preemption);
    pass.victims.remove(schedule, victims);
    return true;
}

bool shrink_victims(Pass& pass, std::uint32_t pending,
                    const std::vector<std::uint32_t>& candidates) {
    const Schedule& schedule = pass.schedule;
    const PendingJob& job = schedule.snapshot().pending[pending];
    return pass.preemptible.admitted(schedule, *pass.rng, candidates) &&
           (shrink_victims(pass, pending, choices::initial_size(schedule, job)) ||
            shrink_victims(pass, pending, choices::least_initial_size(schedule, job)));
}

// What of the job's nodes the eligibility takes.
int usable(const RunningJob& job, const Eligibility& eligible) {
    int nodes = 0;
    for (PoolId pool : eligible) nodes += job.held[pool];
    return nodes;
}

// The first of these jobs that together have `needed` nodes, without those that are not needed for
// it; none if they have too few.
std::vector<std::uint32_t> enough_of(const SystemState& state,
                                     const std::vector<std::uint32_t>& candidates,
                                     const Eligibility& eligible, int needed) {
    const auto nodes = [&](std::uint32_t i) {
        return usable(state.snapshot().running[i], eligible);
    };
    std::vector<std::uint32_t> chosen;
    for (std::uint32_t i : candidates) {
        if (needed <= 0) break;
        if (nodes(i) == 0) continue;
        chosen.push_back(i);
        needed -= nodes(i);
    }
    if (needed > 0) return {};
    std::erase_if(chosen, [&](std::uint32_t i) {
        const bool spared = needed + nodes(i) <= 0;
        if (spared) needed += nodes(i);
        return spared;
    });
    return chosen;
}

void end_running(Pass& pass, std::uint32_t pending, const std::vector<std::uint32_t>& candidates) {
    Schedule& schedule = pass.schedule;
    const PendingJob& job = schedule.snapshot().pending[pending];
    if (pass.front.is_behind(job.eligible) || schedule.queue().has_claim(job.id)) return;
    const int size = choices::initial_size(schedule, job);
    const Time end = schedule.times().end_of(job, size);
    const int needed = size - schedule.nodes().available(job.eligible, size, end).count;
    if (size < 1 || needed <= 0) return;
    const auto ended = enough_of(schedule, candidates, schedule.eligible(job.eligible), needed);
    for (std::uint32_t i : ended) {
        pass.victims.remove(schedule, i);
        schedule.preempt(i, pending);
    }
    if (ended.empty()) return;
    pass.front.block(schedule, pending, size);
    schedule.claim(pending);
}

}  // namespace

bool start_by_preemption(Pass& pass, std::uint32_t pending) {
    Schedule& schedule = pass.schedule;
    const Preemptor* preemptor = preemptor_at(schedule.snapshot(), pending);
    if (!preemptor || schedule.queue().is_deferred(pending)) return false;
    if (schedule.snapshot().pending[pending].together) return false;
    const Precedence precedence(schedule, pending);
    const auto candidates = untouched(schedule, preemptor->victims);
    const bool has_profile = !schedule.snapshot().pending[pending].elastic.profile.empty();
    if (!preemptor->asked && !has_profile && shrink_victims(pass, pending, candidates)) return true;
    if (!preemptor->ends) return false;
    if (start_by_shrinking(pass, pending)) return true;
    end_running(pass, pending, candidates);
    return false;
}

void preempt_for_pending(Pass& pass) {
    Schedule& schedule = pass.schedule;
    for (const Preemptor& preemptor : schedule.snapshot().preemptors) {
        if (schedule.queue().decided(preemptor.place)) continue;
        LiftedReservation own(schedule, preemptor.place);
        if (start_by_preemption(pass, preemptor.place)) own.drop();
    }
}

}  // namespace elastic::core
