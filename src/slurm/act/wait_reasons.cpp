// SPDX-License-Identifier: GPL-2.0-or-later
// Slurm sets a reason when it looks at a job and leaves it there.  What kept a job of the view back
// before does not any more, or it would not be in the view; a reason of any other kind is true.
#include "slurm/act/wait_reasons.hpp"

#include <utility>

#include "slurm/lock.hpp"
#include "slurm/records.hpp"

namespace elastic::slurm {

namespace {

// Reasons of waiting that a job in the view has left behind.
bool may_be_replaced(uint32_t reason) {
    return reason == WAIT_NO_REASON || reason == WAIT_PRIORITY || reason == WAIT_RESOURCES ||
           reason == WAIT_LICENSES || reason == WAIT_ARRAY_TASK_LIMIT;
}

// Nodes that the job requires were down, say, when Slurm was asked last.
void forget_lack_of_nodes(job_record_t* job, bool is_deferred) {
    if (job->state_reason == WAIT_NODE_NOT_AVAIL && !is_deferred)
        job->state_reason = WAIT_NO_REASON;
}

void explain(job_record_t* job, uint32_t reason) {
    if (job->state_reason == reason || !may_be_replaced(job->state_reason)) return;
    job->state_reason = reason;
    xfree(job->state_desc);
}

// The snapshot has one entry a group, with the number of its first job.
void explain_groups(const View& view) {
    ControllerLock lock;
    for (const auto& [lead, group] : view.groups)
        for (const controller::GroupJob& member : group.group.waiting)
            if (job_record_t* job = member.id == lead ? nullptr : pending_job(member.id))
                explain(job, WAIT_PRIORITY);
}

}  // namespace

void explain_waiting(const View& view) {
    const auto& pending = view.snapshot.pending;
    uint32_t reason = WAIT_RESOURCES;
    for (std::size_t index = 0; index < pending.size();) {
        ControllerLock lock;
        if (view.is_stale()) return;
        for (; index < pending.size() && lock.held() < kLongestHold; ++index)
            if (job_record_t* job = pending_job(pending[index].id)) {
                forget_lack_of_nodes(job, pending[index].not_before > view.snapshot.now);
                explain(job, std::exchange(reason, WAIT_PRIORITY));
            }
    }
    explain_groups(view);
}

}  // namespace elastic::slurm
