// SPDX-License-Identifier: GPL-2.0-or-later
// Slurm itself chooses whom it preempts and how, by select_nodes(), since its rules are many: grace
// times, exemptions, orders, modes of partitions and QOS.
//
// Always holds: a job that others are asked for is let go in time, whatever happens to the others.
#include "slurm/act/preemption_executor.hpp"

#include <algorithm>

#include "common/log.hpp"
#include "controller/planned_actions.hpp"
#include "slurm/lock.hpp"
#include "slurm/preemption.hpp"
#include "slurm/read/eligibility.hpp"
#include "slurm/records.hpp"

namespace elastic::slurm {

Started PreemptionExecutor::preempt(const core::Action& action, Time now) {
    const JobId id = action.beneficiary;
    job_record_t* job = pending_job(id);
    if (!job || !reading_.preempted.emplace(id, now).second)
        return {StartOutcome::refused, nullptr, "jobs are being preempted for it"};
    const View& view = reading_.view;
    NodeSet promised = idle_nodes();
    promised -= agreed_.free();
    NodeSet allowed = view.nodes_of(view.snapshot.pending[action.place].eligible);
    allowed -= promised;
    const Attempt& attempt = reading_.queue.attempts()[view.places[action.place].attempt];
    log_info("job {}: preempts others by Slurm's rules", id);
    PreemptionScope scope(Preemption::as_hosted);
    return start_job(job, attempt, allowed, kAsRequested);
}

bool PreemptionExecutor::settle(const core::Plan& plan, Time now) {
    if (!gate_.asks()) return false;
    ControllerLock lock;
    bool is_any_let_go = false;
    for (JobId id : gate_.overdue(now)) {
        let_go(id,
               fmt::format("they have not shrunk within PreemptShrinkTime={:g}",
                           config_.preempt_shrink_time),
               now);
        is_any_let_go = true;
    }
    for (JobId id : gate_.asking()) {
        const std::string why = why_in_vain(id, plan);
        if (why.empty()) continue;
        let_go(id, why, now);
        is_any_let_go = true;
    }
    return is_any_let_go && config_.starts == core::Starts::elastic;
}

// "" if it is not in vain, as far as is known.
std::string PreemptionExecutor::why_in_vain(JobId id, const core::Plan& plan) const {
    if (!state_.book.shrinks_for(id).empty() || controller::start_of(plan, id)) return "";
    return is_anybody_asked(id) ? "" : "that they shrink would not suffice";
}

// Whether an agreement is open of one that it may preempt, which may shrink afterwards.
bool PreemptionExecutor::is_anybody_asked(JobId id) const {
    const core::Snapshot& snapshot = reading_.view.snapshot;
    return std::ranges::any_of(snapshot.preemptors, [&](const core::Preemptor& preemptor) {
        return snapshot.pending[preemptor.place].id == id &&
               std::ranges::any_of(preemptor.victims, [&](JobId victim) {
                   return state_.book.of_job(victim) != nullptr;
               });
    });
}

void PreemptionExecutor::let_go(JobId id, const std::string& why, Time now) {
    if (!gate_.let_go(id, now)) return;
    log_info("job {}: may preempt malleable jobs: {}", id, why);
    negotiation_.drop_claim(id, "the job that waits may preempt others now", now);
    if (config_.starts == core::Starts::slurm) queue_job_scheduler();
}

}  // namespace elastic::slurm
