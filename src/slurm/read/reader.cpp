// SPDX-License-Identifier: GPL-2.0-or-later
// What a plan is made of.  Records and agreements are read in one hold of the lock, so that they
// fit each other; the queue before that, in holds of its own, so that jobs which do not wait any
// more are left out.
#include "slurm/read/reader.hpp"

#include "slurm/act/growth.hpp"
#include "slurm/read/eligibility.hpp"
#include "slurm/records.hpp"

namespace elastic::slurm {

using core::Agreement;
using core::AgreementState;

// Three holds of the lock, none of them longer than it must be.
void Reader::read(Time now) {
    {
        ControllerLock lock(context_.locks);
        context_.queue.list();
    }
    {
        ControllerLock lock(context_.locks);
        context_.queue.sort();
    }
    context_.queue.finish();
    context_.refusals = {};
    read_again(now);
}

void Reader::read_again(Time now) {
    ControllerLock lock(context_.locks);
    observer_.observe(now);
    read_cluster(now, context_.jobs, context_.queue, context_.refusals, context_.view);
    mark_resizable(now);
    add_agreements();
}

void Reader::mark_resizable(Time now) {
    for (core::RunningJob& job : context_.view.snapshot.running) {
        const JobEntry* entry = context_.jobs.find(job.id);
        const Agreement* open = context_.book.of_job(job.id);
        const bool undecided = open && open->state == AgreementState::queued && !has_victims(*open);
        job.resizable = entry && negotiation_.takes_part(*entry, now) && (!open || undecided);
    }
}

// What agreements in flight mean for planning: requests to decide, and promises.
void Reader::add_agreements() {
    core::Snapshot& snapshot = context_.view.snapshot;
    std::set<JobId> claimed;
    NodeSet idle = idle_nodes();
    for (const auto& [op, agreement] : context_.book.all()) {
        job_record_t* job = agreement.open() ? running_job(agreement.job) : nullptr;
        if (!job) continue;
        if (agreement.kind == ResizeKind::shrink) {
            claimed.insert(agreement.beneficiary);
            snapshot.promises.push_back(promised_shrink(agreement));
        } else if (agreement.state == AgreementState::queued && !has_victims(agreement)) {
            snapshot.requests.push_back(
                {op, agreement.job, agreement.nodes, agreement.least, agreement.deadline});
        } else if (agreement.state != AgreementState::applied) {
            snapshot.promises.push_back(promised_growth(agreement, job, idle));
        }
    }
    for (core::PendingJob& job : snapshot.pending) job.claimed = claimed.erase(job.id) > 0;
}

bool Reader::has_victims(const Agreement& growth) const {
    return !context_.book.shrinks_for(growth.job).empty();
}

core::Promise Reader::promised_shrink(const Agreement& agreement) const {
    core::Promise promise;
    promise.op = agreement.op;
    promise.job = agreement.job;
    promise.nodes = context_.view.count(NodeSet::from_text(agreement.node_list).get());
    promise.beneficiary = agreement.beneficiary;
    promise.size = agreement.beneficiary_size;
    promise.revocable = agreement.state == AgreementState::offered;
    return promise;
}

// Of idle nodes: what its victims will bring is in their promises.  None is promised twice, so it
// takes them from `idle`.
core::Promise Reader::promised_growth(const Agreement& agreement, job_record_t* job,
                                      NodeSet& idle) const {
    core::Promise promise;
    promise.kind = ResizeKind::expand;
    promise.op = agreement.op;
    promise.job = agreement.job;
    promise.revocable = agreement.state == AgreementState::offered;
    int coming = agreement.coming();
    for (const Agreement* shrink : context_.book.shrinks_for(agreement.job))
        coming -= shrink->nodes;
    NodeSet joining;
    if (const JobEntry* entry = context_.jobs.find(agreement.job))
        joining = choose_joining(job, *entry, agreement, idle).joining.first(coming);
    idle -= joining;
    promise.nodes = context_.view.count(joining.get());
    return promise;
}

}  // namespace elastic::slurm
