// SPDX-License-Identifier: GPL-2.0-or-later
// Slurm asks these limits only when a job starts, which is too late where others have left nodes
// for it.
#include "slurm/act/accounting_limits.hpp"

#include <algorithm>

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

// As Slurm's own backfill, which asks this before it plans a later start.
bool AccountingLimits::bars_reservation(const core::Action& reserve) {
    const core::PendingJob& pending = reading_.view.snapshot.pending[reserve.place];
    job_record_t* job = pending_job(reserve.job);
    if (!job || pending.shares_nodes || pending.together) return false;
    const Queue::Place& place = reading_.view.places[reserve.place];
    const auto attempt = find(reading_.queue.attempts()[place.attempt]);
    if (!attempt) return false;
    const auto limit = limit_on_start(job, *attempt, pending.elastic.pref);
    if (!limit) return false;
    log_debug("job {}: barred: {}", job->job_id, *limit);
    return reading_.refusals.limit(account_of(place, job), pending.elastic.pref);
}

// Nothing that starts behind a reservation delays it, by nodes or by limits.
bool AccountingLimits::bars_start_behind(const core::Action& start, const core::Plan& plan) {
    constexpr int kMost = 16;  // reservations that are looked at; EASY has one a pool
    if (!(accounting_enforce & ACCOUNTING_ENFORCE_LIMITS)) return false;
    const core::Snapshot& snapshot = reading_.view.snapshot;
    LimitsTogether together;
    int reserved = 0;
    bool is_of_same_account = false;
    const auto account = [&](const core::Action& action) {
        return account_of(reading_.view.places[action.place], pending_job(action.job));
    };
    const auto beside = [&](const core::Action& action, int nodes) -> std::optional<std::string> {
        job_record_t* job = pending_job(action.job);
        const Queue::Place& place = reading_.view.places[action.place];
        const auto attempt = find(reading_.queue.attempts()[place.attempt]);
        if (!job || !attempt || snapshot.pending[action.place].shares_nodes) return {};
        is_of_same_account |= action.job != start.job && account(action) == account(start);
        return together.beside(job, *attempt, nodes);
    };
    for (const core::Action& action : plan.actions)
        if (action.kind == core::ActionKind::reserve && action.place < start.place &&
            action.job != start.job && reserved++ < kMost)
            beside(action, snapshot.pending[action.place].elastic.pref);
    if (reserved == 0) return false;
    const auto limit = beside(start, start.size_after);
    if (!limit) return false;
    log_debug("job {}: barred behind a reservation: {}", start.job, *limit);
    // What bars all of an account bars the job that has the reservation, too.
    if (is_of_same_account) return reading_.refusals.refuse(reading_.view.places[start.place].id());
    return reading_.refusals.limit(
        account(start), std::min(snapshot.pending[start.place].elastic.pref, start.size_after));
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
