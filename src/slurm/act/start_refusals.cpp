// SPDX-License-Identifier: GPL-2.0-or-later
// How long a refusal holds hangs on its reason: want of room until there is more of it, a limit or
// anything else of Slurm's own for the rest of the pass, in which other jobs are planned.
#include "slurm/act/start_refusals.hpp"

#include <algorithm>

#include "slurm/read/request.hpp"

namespace elastic::slurm {

namespace {

constexpr Duration kPartial = 30;  // until a job is tried anew that was not tried on all nodes

// From when on it may have nodes of more switches than it wants (--switches=1@TIME).
Time end_of_wait_for_switches(const job_record_t* job) {
    if (!job->req_switch || !job->wait4switch_start) return kNever;
    return static_cast<Time>(job->wait4switch_start + job->wait4switch);
}

}  // namespace

void remember_no_room(Reading& reading, Placement& placement, std::size_t index, Time latest) {
    const core::PendingJob& pending = reading.view.snapshot.pending[index];
    const Queue::Place& place = reading.view.places[index];
    reading.answers.note(place.job);
    reading.answers.refuse(request_of(reading.queue, place), mask_of(placement.room_for(pending)),
                           pending.shares_nodes, latest);
}

bool StartRefusals::has_refused(const core::PendingJob& pending, controller::RequestId request) {
    return reading_.answers.is_refused(request, mask_of(placement_.room_for(pending)));
}

bool StartRefusals::remember(job_record_t* job, const core::Action& start, StartOutcome outcome) {
    const Queue::Place& place = reading_.view.places[start.place];
    controller::PassRefusals& refusals = reading_.refusals;
    const core::PendingJob& pending = reading_.view.snapshot.pending[start.place];
    // As many as were asked for it may have.
    if (pending.elastic.malleable && start.size_after > pending.elastic.pref)
        return refusals.refuse_more_than_asked(place.id());
    const int least = pending.has_range() ? pending.elastic.pref : start.size_after;
    if (outcome == StartOutcome::limited) return refusals.limit(account_of(place, job), least);
    if (outcome == StartOutcome::no_room) return remember_no_room_for(job, start);
    return refusals.refuse(place.id());
}

// It was tried on all that is free for it if it was first in the queue; if it was not, on as much
// as delays nobody, or costs no more than it takes, which may be more before long. A malleable job
// may have room there with fewer nodes.
bool StartRefusals::remember_no_room_for(job_record_t* job, const core::Action& start) {
    const Queue::Place& place = reading_.view.places[start.place];
    const controller::RequestId request = request_of(reading_.queue, place);
    if (request == 0 || feasibility_.is_infeasible(request, place)) return true;
    const core::PendingJob& pending = reading_.view.snapshot.pending[start.place];
    const bool is_all = placement_.may_start_anywhere(start) && pending.elastic.price < 0 &&
                        !pending.elastic.malleable;
    const Time latest = is_all ? kNever : reading_.view.snapshot.now + kPartial;
    reading_.answers.note(place.job);
    if (!has_refused(pending, request))
        remember_no_room(reading_, placement_, start.place,
                         std::min(latest, end_of_wait_for_switches(job)));
    return true;
}

}  // namespace elastic::slurm
