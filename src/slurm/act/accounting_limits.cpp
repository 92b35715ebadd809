// SPDX-License-Identifier: GPL-2.0-or-later
// Slurm asks these limits only when a job starts, which is too late where others have left nodes
// for it.
#include "slurm/act/accounting_limits.hpp"

#include "common/log.hpp"
#include "controller/planned_actions.hpp"
#include "slurm/node_order.hpp"
#include "slurm/read/eligibility.hpp"
#include "slurm/read/limits.hpp"
#include "slurm/read/request.hpp"
#include "slurm/records.hpp"

namespace elastic::slurm {

namespace {

using controller::Agreement;
using controller::AgreementState;

// The limit that keeps a running job from so many more nodes.
std::optional<std::string> limit_on_more(job_record_t* job, const controller::Job& known,
                                         int nodes) {
    NodeSet others = eligible_nodes(job, usable_nodes());
    others -= NodeSet(job->node_bitmap);
    return limit_on_growth(job, NodeOrder().first(others, nodes), known.node_time);
}

}  // namespace

bool AccountingLimits::bars(JobId beneficiary, const core::Plan& plan, Time now) {
    job_record_t* job = pending_job(beneficiary);
    if (!job) return bars_growth(beneficiary, now);
    const auto index = reading_.view.index_of(beneficiary);
    return index && (bars_start(job, *index) || bars_larger_start(job, plan));
}

bool AccountingLimits::bars_growth(JobId id, Time now) {
    job_record_t* job = running_job(id);
    controller::Job* known = state_.jobs.find(id);
    Agreement* request = state_.book.of_job(id);
    if (!job || !known || !request || request->state != AgreementState::queued) return true;
    if (known->participation.grow_after > now) return true;  // since an earlier victim
    const auto limit = limit_on_more(job, *known, request->least);
    if (limit)
        agreement_executor_.not_grown(*known, *request, "limit of accounting: " + *limit, now);
    return limit.has_value();
}

bool AccountingLimits::bars_start(job_record_t* job, std::size_t index) {
    const core::Sizing& sizes = reading_.view.snapshot.pending[index].elastic;
    const Queue::Place& place = reading_.view.places[index];
    const int least = sizes.malleable ? sizes.min : sizes.pref;
    if (is_left_out(reading_.refusals, place, job, least)) return true;
    const auto attempt = find(reading_.queue.attempts()[place.attempt]);
    if (!attempt || !limit_on_start(job, *attempt, least)) return false;
    // A QOS may have a least size as well.
    const auto limit = limit_on_start(job, *attempt, sizes.pref);
    if (!limit) return false;
    log_debug("job {}: barred: {}", job->job_id, *limit);
    reading_.refusals.limit(account_of(place, job), least);
    return true;
}

// Whether it cannot start with as many nodes as planned, which are more than it asks for.
bool AccountingLimits::bars_larger_start(job_record_t* job, const core::Plan& plan) {
    const core::Action* start = controller::start_of(plan, job->job_id);
    if (!start) return false;
    const core::PendingJob& pending = reading_.view.snapshot.pending[start->place];
    if (start->size_after <= pending.elastic.pref) return false;
    const Queue::Place& place = reading_.view.places[start->place];
    const auto attempt = find(reading_.queue.attempts()[place.attempt]);
    if (!attempt || !limit_on_start(job, *attempt, start->size_after)) return false;
    reading_.refusals.refuse_more_than_asked(place.id());
    return true;
}

void AccountingLimits::ask_accounts() {
    const std::size_t jobs = reading_.view.snapshot.pending.size();
    for (std::size_t index = 0; index < jobs;) {
        ControllerLock lock;
        if (reading_.view.is_stale()) return;
        for (; index < jobs && lock.held() < kLongestHold; ++index) ask_account_of(index);
    }
}

void AccountingLimits::ask_account_of(std::size_t index) {
    const core::PendingJob& pending = reading_.view.snapshot.pending[index];
    if (pending.shares_nodes) return;  // what it would take is not known
    job_record_t* job = pending_job(pending.id);
    if (job && reading_.refusals.is_first_of_account(account_of(reading_.view.places[index], job)))
        bars_start(job, index);
}

std::string AccountingLimits::obstacle_to(job_record_t* job, const controller::Job& known,
                                          const Agreement& request) {
    const int to = known.nodes + request.least;
    if (to > most_nodes_by_partition(job))
        return fmt::format("its partition allows no {} nodes", to);
    if (auto limit = limit_on_more(job, known, request.least))
        return "limit of accounting: " + *limit;
    return known.participation.obstacle.empty() ? "Slurm allows it no more nodes"
                                                : known.participation.obstacle;
}

}  // namespace elastic::slurm
