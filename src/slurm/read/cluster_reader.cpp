// SPDX-License-Identifier: GPL-2.0-or-later
// What a plan is made of.  Records and agreements are read in one hold of the lock, so that they
// fit each other; the queue and what has happened to jobs before that, in holds of their own, so
// that jobs which do not wait any more are left out.
#include "slurm/read/cluster_reader.hpp"

#include "common/text.hpp"
#include "slurm/lock.hpp"
#include "slurm/node_order.hpp"
#include "slurm/read/eligibility.hpp"
#include "slurm/read/request.hpp"
#include "slurm/records.hpp"

namespace elastic::slurm {

using controller::Agreement;
using controller::AgreementState;

namespace {

constexpr time_t kListedFor = 3;  // seconds, beside Slurm's loops

}  // namespace

// Four holds of the lock, none of them longer than it must be.
void ClusterReader::read(Time now) {
    read_queue();
    read_again(now);
}

void ClusterReader::read_queue() {
    reading_.refusals = {};
    reading_.started = 0;
    if (queue_is_current()) return;
    queue_listed_ = time(nullptr);
    {
        ControllerLock lock;
        reading_.queue.list();
    }
    {
        ControllerLock lock;
        reading_.queue.sort();
    }
    reading_.queue.finish();
}

// Slurm's own loops list it, too, where these start jobs. Who could have a node that is idle is
// missed by no pass, and a change of the order for some seconds.
bool ClusterReader::queue_is_current() const {
    if (config_.starts != core::Starts::slurm || time(nullptr) >= queue_listed_ + kListedFor)
        return false;
    ControllerLock lock;
    return reading_.queue.is_current();
}

// Slurm's loops go by them where these start jobs.
void ClusterReader::read_parameters() {
    const bool is_ours = config_.starts == core::Starts::elastic;
    const std::string now = fmt::format("{}:{}", is_ours, text(slurm_conf.sched_params));
    if (now == read_parameters_) return;
    read_parameters_ = now;
    const auto read = controller::parse_scheduler_parameters(text(slurm_conf.sched_params)).values;
    reading_.parameters = is_ours ? read : controller::beside_slurm(read);
}

void ClusterReader::read_again(Time now) {
    {
        ControllerLock lock;
        observer_.observe(now);
    }
    ControllerLock lock;
    observer_.observe_holders(now);
    read_parameters();
    const std::set<JobId> claimed = beneficiaries();
    const bool learns = config_.policy.belief == core::Belief::learned;
    reading_.answers.begin_look(configuration_now(), now);
    read_cluster({.now = now,
                  .config = config_,
                  .parameters = reading_.parameters,
                  .terms = reading_.terms,
                  .queue = reading_.queue,
                  .refusals = reading_.refusals,
                  .answers = reading_.answers,
                  .jobs = state_.jobs,
                  .groups = state_.groups,
                  .experience = learns ? &state_.experience : nullptr,
                  .agreed = agreed_,
                  .planned = reading_.planned,
                  .claimed = claimed},
                 reading_.view);
    reading_.answers.end_look();
    reading_.nodes.read(reading_.view.nodes_in_all);
    if (!reading_.roll_call.is_over()) reading_.roll_call.note(unreported_nodes().count(), now);
    core::apply_prices(reading_.view.snapshot);
    mark_resizable(now);
    add_agreements();
}

void ClusterReader::mark_resizable(Time now) {
    for (core::RunningJob& job : reading_.view.snapshot.running) {
        const controller::Job* known = state_.jobs.find(job.id);
        const Agreement* open = state_.book.of_job(job.id);
        const bool undecided = open && open->state == AgreementState::queued && !has_victims(*open);
        // To the nodes of a step its job has agreed when it was submitted.
        const bool takes_part = known && (known->takes_part(now, grace_of(config_, *known)) ||
                                          (open && open->for_step));
        // The nodes of its group are for the other jobs as they are.
        const bool is_free = !reading_.view.in_groups.contains(job.id);
        job.resizable = takes_part && is_free && (!open || undecided);
    }
}

// What agreements in flight mean for planning: requests to decide, and promises.
void ClusterReader::add_agreements() {
    core::Snapshot& snapshot = reading_.view.snapshot;
    std::set<JobId> claimed;
    NodeSet taken;
    for (const auto& [op, agreement] : state_.book.all()) {
        job_record_t* job = agreement.open() ? running_job(agreement.job) : nullptr;
        if (!job) continue;
        if (agreement.kind == ResizeKind::shrink) {
            claimed.insert(agreement.beneficiary);
            snapshot.promises.push_back(promised_shrink(agreement));
        } else if (agreement.state == AgreementState::queued && !has_victims(agreement)) {
            if (is_waiting_for_slurm(agreement, snapshot.now)) continue;
            snapshot.requests.push_back(
                {op, agreement.job, agreement.nodes, agreement.least, agreement.deadline});
        } else if (agreement.state != AgreementState::applied &&
                   agreement.state != AgreementState::joined) {
            snapshot.promises.push_back(promised_growth(agreement, job, taken));
        }
    }
    for (core::PendingJob& job : snapshot.pending) {
        job.claimed = claimed.erase(job.id) > 0;
        const controller::Claim* claim = job.claimed ? state_.book.claim_of(job.id) : nullptr;
        if (!claim || claim->node_list.empty()) continue;
        NodeSet kept = agreed_.of(*claim);
        kept &= idle_nodes();
        snapshot.claims.push_back({job.id, reading_.view.count(kept.get())});
    }
    reading_.view.split_claimed();
}

// Jobs for which others give up nodes.
std::set<JobId> ClusterReader::beneficiaries() const {
    std::set<JobId> ids;
    for (const auto& [op, agreement] : state_.book.all())
        if (agreement.open() && agreement.kind == ResizeKind::shrink)
            ids.insert(agreement.beneficiary);
    return ids;
}

// Slurm would not carry out what the last plan granted; once its time is over, the request is
// decided all the same.
bool ClusterReader::is_waiting_for_slurm(const Agreement& request, Time now) const {
    const controller::Job* known = state_.jobs.find(request.job);
    return known && known->participation.grow_after > now && request.deadline > now;
}

bool ClusterReader::has_victims(const Agreement& growth) const {
    return !state_.book.shrinks_for(growth.job).empty();
}

core::Promise ClusterReader::promised_shrink(const Agreement& agreement) {
    core::Promise promise;
    promise.op = agreement.op;
    promise.job = agreement.job;
    promise.nodes = reading_.view.count(agreed_.of(agreement).get());
    promise.beneficiary = agreement.beneficiary;
    const controller::Claim* claim = state_.book.claim_of(agreement.beneficiary);
    promise.size = claim ? claim->size : 0;
    promise.revocable = agreement.state == AgreementState::offered;
    promise.released = agreement.state == AgreementState::released;
    return promise;
}

// The idle nodes of a growth: the nodes of its victims are in their promises.  A growth onto any
// nodes takes some that nobody is promised, `taken` being those that such growths before it have.
core::Promise ClusterReader::promised_growth(const Agreement& agreement, job_record_t* job,
                                             NodeSet& taken) {
    core::Promise promise;
    promise.kind = ResizeKind::expand;
    promise.op = agreement.op;
    promise.job = agreement.job;
    promise.revocable = agreement.state == AgreementState::offered;
    NodeSet joining;
    if (!agreement.node_list.empty()) {
        joining = agreed_.of(agreement);
        joining &= idle_nodes();
    } else if (!has_victims(agreement)) {
        joining = eligible_nodes(job, usable_nodes());
        joining &= agreed_.free();
        joining -= taken;
        joining = NodeOrder({with_neighbours(NodeSet(job->node_bitmap), job)})
                      .first(joining, agreement.coming());
        taken |= joining;
    }
    promise.nodes = reading_.view.count(joining.get());
    return promise;
}

}  // namespace elastic::slurm
