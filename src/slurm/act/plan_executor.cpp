// SPDX-License-Identifier: GPL-2.0-or-later
// A plan is made without locks from a snapshot; so every action first asks Slurm's records whether
// it still makes sense.  Long plans are carried out in pieces, so that no hold of the lock is long.
// Around that Slurm is asked, and users are told, what the plan could not know: a part each.
#include "slurm/act/plan_executor.hpp"

#include <cstdlib>
#include <cstring>

#include "common/log.hpp"
#include "controller/planned_actions.hpp"
#include "slurm/act/wait_reasons.hpp"
#include "slurm/cycle_counts.hpp"
#include "slurm/read/eligibility.hpp"
#include "slurm/read/request.hpp"
#include "slurm/records.hpp"

namespace elastic::slurm {

namespace {

using controller::Agreement;
using controller::AgreementEvent;
using controller::AgreementState;
using core::Action;
using core::ActionKind;

constexpr char kObserves[] = "nothing is resized here yet (Observe=yes)";

// The number behind a key of SchedulerParameters.
long parameter(const char* key, long otherwise) {
    const char* found = xstrcasestr(slurm_conf.sched_params, const_cast<char*>(key));
    return found ? strtol(found + strlen(key), nullptr, 10) : otherwise;
}

// Two rounds of the slower of Slurm's loops.
Duration patience_with_slurm() {
    return 2.0 * static_cast<double>(
                     std::max(parameter("bf_interval=", 30), parameter("sched_interval=", 60)));
}

}  // namespace

bool PlanExecutor::carry_out(const core::Plan& plan, Time now) {
    plan_ = &plan;
    tried_together_.clear();
    placement_.begin_plan();
    if (config_.starts == core::Starts::elastic && feasibility_.ask_those_planned_with(plan))
        return true;
    bool refused = false, is_stopped = false;
    awaited_.begin_look();
    state_.observations.begin_look();
    reading_.reserved.clear();
    auto action = plan.actions.begin();
    while (action != plan.actions.end()) {
        ControllerLock lock;
        if (reading_.view.is_stale()) return true;
        observer_.observe_holders(now);
        while (action != plan.actions.end() && lock.held() < kLongestHold) {
            const Action& next = *action++;
            if (is_stopped && next.kind == ActionKind::start && !next.deferred) continue;
            const bool is_refused = do_action(next, now);
            refused |= is_refused;
            is_stopped |= is_refused && stops_at_limits();
        }
    }
    awaited_.end_look();
    state_.observations.end_look(now, outbox_);
    if (config_.starts == core::Starts::elastic) {
        explain_waiting(reading_.view);
        feasibility_.ask_others();
        if (reading_.refusals.has_limits()) limits_.ask_accounts();
    }
    refused |= preemption_.settle(plan, now);
    agreement_executor_.advance_all(now);
    return refused;
}

// Whom a limit that was found just now keeps from starting, behind its job, the next plan knows.
bool PlanExecutor::stops_at_limits() const {
    return reading_.parameters.limits_stop && reading_.refusals.has_limits();
}

bool PlanExecutor::do_action(const Action& action, Time now) {
    if (config_.observe == core::Observe::yes && only_observe(action, now)) return false;
    if (hangs_on_missing_nodes(action)) return false;
    switch (action.kind) {
        case ActionKind::start:
            return do_start(action, now);
        case ActionKind::shrink:
            return do_shrink(action, now);
        case ActionKind::expand:
            do_expand(action, now);
            break;
        case ActionKind::reserve:
            return do_reserve(action);
        case ActionKind::deny:
            do_deny(action, now);
            break;
        case ActionKind::withdraw:
            do_withdraw(action, now);
            break;
        case ActionKind::trade:  // with the start that it is for
            break;
        case ActionKind::preempt:
            do_preempt(action, now);
            break;
    }
    return false;
}

// The plan after the last report may not want what this one would ask an application for, and has
// more nodes for who would start on few.
bool PlanExecutor::hangs_on_missing_nodes(const Action& action) const {
    if (reading_.roll_call.is_over()) return false;
    return (action.kind == ActionKind::shrink && action.beneficiary) ||
           (action.kind == ActionKind::expand && !action.op) || is_small_start(action);
}

bool PlanExecutor::is_small_start(const Action& action) const {
    if (action.kind != ActionKind::start || action.deferred) return false;
    if (action.reason != core::Reason::fits && action.reason != core::Reason::backfilled)
        return false;
    const core::PendingJob& job = reading_.view.snapshot.pending[action.place];
    return job.elastic.malleable && action.size_after < job.requested_size();
}

// False if the action resizes nobody.
bool PlanExecutor::only_observe(const Action& action, Time now) {
    using What = controller::Observations::What;
    const auto would = [&](What what, int count) {
        state_.observations.would(what, action.job, count, action.beneficiary, now, outbox_);
        return true;
    };
    switch (action.kind) {
        case ActionKind::start:
            return action.deferred && would(What::start, action.size_after);
        case ActionKind::shrink:
            return would(What::shrink, core::total(action.nodes));
        case ActionKind::expand:
            if (!action.op) return would(What::expand, core::total(action.nodes));
            if (Agreement* request = state_.book.find(action.op))
                negotiation_.end(*request, AgreementEvent::deny, kObserves, now);
            return true;
        case ActionKind::reserve:
        case ActionKind::deny:
        case ActionKind::withdraw:
        case ActionKind::trade:
        case ActionKind::preempt:
            return false;
    }
    return false;
}

bool PlanExecutor::do_start(const Action& action, Time now) {
    if (action.deferred) {
        claim_for(action, now);
        return false;
    }
    job_record_t* job = pending_job(action.job);
    if (!job) return false;
    if (action.reason == core::Reason::by_trading) {
        start_by_trading(action, now);
        return false;
    }
    // What is kept for a job Slurm's loops do not see.
    const bool is_kept = action.reason == core::Reason::nodes_came_free;
    if (config_.starts == core::Starts::slurm && !is_kept) return leave_to_slurm(action, now);
    if (has_started_enough()) return false;
    if (const JobId together = reading_.view.snapshot.pending[action.place].together)
        return start_together(together, now);
    if (reading_.view.extended.contains(action.job)) {
        groups_.extend(action.job, placement_.for_start(job, action, action.size_after),
                       action.size_after, now);
        return false;
    }
    if (const auto group = reading_.view.groups.find(action.job);
        group != reading_.view.groups.end()) {
        const Started first =
            groups_.begin(group->second, placement_.for_start(job, action, action.size_after),
                          action.size_after, now);
        reading_.started += first.outcome == StartOutcome::started;
        return first.outcome != StartOutcome::started &&
               refusals_.remember(job, action, first.outcome);
    }
    return start_alone(job, action, now);
}

// The next pass starts more.
bool PlanExecutor::has_started_enough() const {
    const int most = reading_.parameters.most_started;
    return most && reading_.started >= most;
}

// The job starts when its victims have left.
void PlanExecutor::claim_for(const Action& action, Time now) {
    const auto victims = state_.book.shrinks_for(action.job);
    const NodeSet aside = placement_.beside_victims(action, *plan_);
    int coming = aside.count();
    for (const Agreement* shrink : victims) coming += shrink->nodes;
    if (coming < action.size_after)  // something has changed since the plan was made
        return negotiation_.drop_claim(action.job, "other nodes of the job that waits are gone",
                                       now);
    state_.book.claim(action.job, {action.size_after, aside.text()});
    outbox_.unsaved = true;
}

// Its trades, which the plan has before it, and its start are one hold of the lock.
void PlanExecutor::start_by_trading(const Action& start, Time now) {
    for (const Action& action : plan_->actions) {
        if (action.kind != ActionKind::trade) continue;
        Agreement* shrink = state_.book.find(action.op);
        const bool is_for_it = shrink && shrink->beneficiary == start.job;
        // What was traded before is no worse than what was promised, so the job waits on.
        if (is_for_it && !agreement_executor_.trade(*shrink, action.beneficiary, action.nodes, now))
            return;
    }
    agreement_executor_.start_on_claim(start, now);
}

// What Slurm's scheduler does not start for long, for reasons that no plan knows, does not keep
// nodes from others: as if it had been refused all that is free.
bool PlanExecutor::leave_to_slurm(const Action& action, Time now) {
    if (!awaited_.is_overdue(action.job, now, patience_with_slurm())) return false;
    remember_no_room(reading_, placement_, action.place);
    return reading_.refusals.refuse(reading_.view.places[action.place].id());
}

// True if Slurm refused it and the next plan will differ by that.
bool PlanExecutor::start_alone(job_record_t* job, const Action& action, Time now) {
    if (limits_.bars_start_behind(action, *plan_)) return true;
    const NodeSet idle = idle_nodes();
    const Started started = try_to_start(job, action);
    if (started.outcome != StartOutcome::started) {
        log_debug("job {}: not started: {}", action.job, started.why);
        return refusals_.remember(job, action, started.outcome);
    }
    placement_.started(started.job, action, idle);
    book_start(started, action.job, action.reason, now);
    return false;
}

// The actions of a plan that start them are tried as one, at the first of them.
bool PlanExecutor::start_together(JobId together, Time now) {
    if (!tried_together_.insert(together).second) return false;
    std::vector<const Action*> starts;
    for (const Action& action : plan_->actions)
        if (action.kind == ActionKind::start &&
            reading_.view.snapshot.pending[action.place].together == together)
            starts.push_back(&action);
    const ComponentStarter::Result result = components_.start(starts, *plan_);
    if (result.started.outcome == StartOutcome::started) {
        for (std::size_t i = 0; i < starts.size(); ++i)
            book_start({StartOutcome::started, result.jobs[i], ""}, starts[i]->job,
                       starts[i]->reason, now);
        return false;
    }
    log_debug("job {}: its components are not started: {}", together, result.started.why);
    job_record_t* refused = result.refused ? pending_job(result.refused->job) : nullptr;
    return refused && refusals_.remember(refused, *result.refused, result.started.outcome);
}

void PlanExecutor::book_start(const Started& started, JobId waited, core::Reason reason, Time now) {
    // Of an array, it was said of the element that has started.
    if (controller::Job* known = state_.jobs.find(waited)) {
        known->promised = kNever;
        known->has_traded = false;
    }
    ++reading_.started;
    if (reason == core::Reason::backfilled) count_backfilled();
    agreement_executor_.started(started.job, now);
    log_info("job {}: started on {} ({} nodes, {})", started.job->job_id, started.job->nodes,
             started.job->node_cnt, to_string(reason));
}

// Where Slurm ends them at once, the job starts at once.
void PlanExecutor::do_preempt(const Action& action, Time now) {
    const Started started = preemption_.preempt(action, now);
    if (started.outcome == StartOutcome::started)
        book_start(started, action.beneficiary, action.reason, now);
    else
        log_debug("job {}: waits for those it preempts: {}", action.beneficiary, started.why);
}

Started PlanExecutor::try_to_start(job_record_t* job, const Action& action) {
    const View& view = reading_.view;
    const core::PendingJob& pending = view.snapshot.pending[action.place];
    if (refusals_.has_refused(pending, request_of(reading_.queue, view.places[action.place])))
        return {StartOutcome::no_room, nullptr, "Slurm has refused as much to a job like it"};
    const Attempt& attempt = reading_.queue.attempts()[view.places[action.place].attempt];
    // How many it takes is for Slurm to find out where nodes are shared, and from the processors
    // where the user named no number of nodes.
    const bool is_counted = !pending.shares_nodes && job->details->max_nodes > 0;
    const int size = is_counted ? action.size_after : kAsRequested;
    const NodeSet allowed = placement_.for_start(job, action, size);
    const time_t hole_ends = end_of_hole(*plan_, action);
    const controller::Job* known = state_.jobs.find(action.job);
    const NodeSet first = known && is_counted
                              ? groups_.prefer_initialised(known->group_key(), allowed, size)
                              : allowed;
    Started started = start_job(job, attempt, first, size, hole_ends);
    if (started.outcome == StartOutcome::no_room && !first.equals(allowed))
        started = start_job(job, attempt, allowed, size, hole_ends);
    if (started.outcome == StartOutcome::no_room && placement_.may_start_anywhere(action))
        started = start_job(job, attempt, placement_.for_start_anywhere(action), size);
    // Slurm may have reasons against so many that it has not against fewer.
    if (started.outcome != StartOutcome::started && is_counted && pending.has_range())
        started = start_job(job, attempt, allowed, pending.elastic.pref, hole_ends);
    return started;
}

bool PlanExecutor::do_shrink(const Action& action, Time now) {
    job_record_t* job = running_job(action.job);
    controller::Job* known = state_.jobs.find(action.job);
    if (!job || !known || state_.book.of_job(action.job)) return false;
    if (action.beneficiary && limits_.bars(action.beneficiary, *plan_, now)) return true;
    const NodeSet leaving = placement_.for_shrink(job, action);
    if (leaving.empty()) return false;  // it has changed since
    const int count = leaving.count();
    std::string reason(to_string(action.reason));
    if (action.beneficiary) reason += fmt::format(": job {}", action.beneficiary);
    negotiation_.offer_shrink(*known, leaving.text(), count, action.beneficiary, reason, now);
    return false;
}

void PlanExecutor::do_expand(const Action& action, Time now) {
    controller::Job* known = state_.jobs.find(action.job);
    if (!known || !running_job(action.job)) return;
    int nodes = core::total(action.nodes);
    if (!action.op) {
        if (!state_.book.of_job(action.job)) offer_growth(*known, action, now);
        return;
    }
    Agreement* request = state_.book.find(action.op);
    if (!request || request->state != AgreementState::queued) return;
    state_.book.decide(*request, 0, "");  // what an earlier plan has promised it is free again
    const NodeSet idle = placement_.beside_victims(running_job(known->id), *known, action, *plan_);
    state_.book.decide(*request, nodes, idle.text());
    outbox_.unsaved = true;
    // With victims it stays queued until all of them have left (AgreementExecutor::advance).
    if (!action.deferred) agreement_executor_.apply_grow(*request, now);
}

void PlanExecutor::offer_growth(controller::Job& known, const Action& action, Time now) {
    const Growth growth = placement_.for_growth(running_job(known.id), known, action);
    const int nodes = growth.joining.count();
    if (nodes > 0) {
        negotiation_.offer_expand(known, growth.joining.text(), nodes,
                                  std::string(to_string(action.reason)), now);
        return;
    }
    if (!growth.obstacle.empty()) agreement_executor_.refuse_growth(known, growth.obstacle, now);
}

// True if a limit keeps the job, so that the next plan has no reservation for it.
bool PlanExecutor::do_reserve(const Action& action) {
    if (config_.starts == core::Starts::elastic && limits_.bars_reservation(action)) return true;
    if (job_record_t* job = pending_job(action.job);
        job && config_.starts == core::Starts::elastic) {
        job->start_time = static_cast<time_t>(action.time);
        reading_.reserved[action.job] = action.time;
    }
    // Who has no room yet may have none then either.
    const core::Snapshot& snapshot = reading_.view.snapshot;
    if (snapshot.pending[action.place].not_before > snapshot.now) return false;
    controller::Job* known = state_.jobs.find(action.job);
    if (known && (action.anew || known->promised >= kNever)) known->promised = action.time;
    return false;
}

void PlanExecutor::do_deny(const Action& action, Time now) {
    Agreement* request = state_.book.find(action.op);
    if (!request || request->state != AgreementState::queued) return;
    job_record_t* job = running_job(request->job);
    controller::Job* known = state_.jobs.find(request->job);
    // The maximum that a plan knows is also that of limits, which may change while a request waits.
    if (job && known && action.reason == core::Reason::beyond_maximum &&
        known->nodes + request->least <= known->annotation.max)
        return agreement_executor_.not_grown(
            *known, *request, AccountingLimits::obstacle_to(job, *known, *request), now);
    negotiation_.end(*request, AgreementEvent::deny, std::string(to_string(action.reason)), now);
}

void PlanExecutor::do_withdraw(const Action& action, Time now) {
    Agreement* offer = state_.book.find(action.op);
    if (offer && offer->state == AgreementState::offered)
        negotiation_.end(*offer, AgreementEvent::cancel, std::string(to_string(action.reason)),
                         now);
}

}  // namespace elastic::slurm
