// SPDX-License-Identifier: GPL-2.0-or-later
// Slurm sets a reason when it looks at a job and leaves it there.  What kept a job of the view back
// before does not any more, or it would not be in the view; a reason of any other kind is true.
//
// A job that may start in one of several ways is in the view once for each; it waits for one
// reason, that of the first.
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

// Nodes that the job requires and that are down or drained.
NodeSet unavailable_nodes(const job_record_t* job) {
    if (!job->details->req_node_bitmap) return {};
    NodeSet required(job->details->req_node_bitmap);
    return required -= NodeSet(avail_node_bitmap);
}

void explain_unavailable(job_record_t* job, const NodeSet& nodes) {
    job->state_reason = WAIT_NODE_NOT_AVAIL;
    xfree(job->state_desc);
    job->state_desc =
        xstrdup(fmt::format("ReqNodeNotAvail, UnavailableNodes:{}", nodes.text()).c_str());
}

void explain(job_record_t* job, uint32_t reason) {
    if (job->state_reason == reason || !may_be_replaced(job->state_reason)) return;
    job->state_reason = reason;
    xfree(job->state_desc);
}

// `turn`: the reason of the next job that has no other.
void explain_in_turn(job_record_t* job, bool is_deferred, uint32_t& turn) {
    if (!may_be_replaced(job->state_reason) && job->state_reason != WAIT_NODE_NOT_AVAIL) return;
    if (const NodeSet nodes = unavailable_nodes(job); !nodes.empty())
        return explain_unavailable(job, nodes);
    // Slurm has found other nodes wanting that are there now.
    if (job->state_reason == WAIT_NODE_NOT_AVAIL && !is_deferred)
        job->state_reason = WAIT_NO_REASON;
    explain(job, std::exchange(turn, WAIT_PRIORITY));
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
    uint32_t turn = WAIT_RESOURCES;
    for (std::size_t index = 0; index < pending.size();) {
        ControllerLock lock;
        if (view.is_stale()) return;
        for (; index < pending.size() && lock.held() < kLongestHold; ++index)
            if (job_record_t* job =
                    pending[index].alternative ? nullptr : pending_job(pending[index].id))
                explain_in_turn(job, pending[index].not_before > view.snapshot.now, turn);
    }
    explain_groups(view);
}

}  // namespace elastic::slurm
