// SPDX-License-Identifier: GPL-2.0-or-later
// A job that can never run must not keep nodes from others, by a reservation or because others are
// to shrink for it: so those that a plan does either for are asked about before it is carried out,
// and the rest of the queue as there is time.
#include "slurm/act/feasibility.hpp"

#include "common/log.hpp"
#include "controller/planned_actions.hpp"
#include "slurm/act/start.hpp"
#include "slurm/lock.hpp"
#include "slurm/read/request.hpp"
#include "slurm/records.hpp"

namespace elastic::slurm {

namespace {

using controller::Verdict;

constexpr int kMost = 16;  // in one plan: with a reservation for each job there are many

// Others than those of its record the job may start with if it is malleable.
SizeRange sizes_of(const controller::Job* known) {
    if (!known || !known->elastic || !known->annotation.malleable) return {};
    return {known->annotation.min, known->annotation.max};
}

}  // namespace

bool Feasibility::ask_those_planned_with(const core::Plan& plan) {
    ControllerLock lock;
    if (reading_.view.is_stale()) return true;
    bool is_news = false;
    int looked_at = 0;
    for (const core::Action& action : plan.actions) {
        if (!controller::waits(action)) continue;
        if (++looked_at > kMost || lock.held() >= kLongestHold) break;
        const Queue::Place& place = reading_.view.places[action.place];
        is_news |= is_infeasible(request_of(reading_.queue, place), place);
    }
    return is_news;
}

void Feasibility::ask_others() {
    if (reading_.view.unasked.empty()) return;
    ControllerLock lock;
    if (reading_.view.is_stale()) return;
    for (const Queue::Place& place : reading_.view.unasked) {
        is_infeasible(request_of(reading_.queue, place), place);
        if (lock.held() >= kLongestHold) return;
    }
}

bool Feasibility::is_infeasible(controller::RequestId request, const Queue::Place& place) {
    job_record_t* job = pending_job(place.job);
    if (!job || request == 0) return false;
    Verdict verdict = reading_.answers.verdict(request);
    if (verdict == Verdict::unknown) {
        verdict = ask(job, place);
        if (verdict == Verdict::impossible) {
            hold_impossible(job);
            log_info("job {}: held: no nodes of the cluster meet its request", job->job_id);
            return true;
        }
        reading_.answers.judge(request, verdict);
    }
    if (verdict == Verdict::barred) reading_.answers.note(place.job);
    return verdict == Verdict::barred;
}

Verdict Feasibility::ask(job_record_t* job, const Queue::Place& place) const {
    return ask_whether_runnable(job, reading_.queue.attempts()[place.attempt],
                                sizes_of(jobs_.find(place.job)));
}

}  // namespace elastic::slurm
