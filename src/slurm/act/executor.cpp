// SPDX-License-Identifier: GPL-2.0-or-later
// A plan is made without locks from a snapshot; so every action first asks
// Slurm's records whether it still makes sense.  Long plans are carried out in
// pieces, so that no hold of the lock is long.
#include "slurm/act/executor.hpp"

#include <algorithm>
#include <utility>

#include "common/log.hpp"
#include "slurm/act/resize.hpp"
#include "slurm/read/eligibility.hpp"
#include "slurm/read/limits.hpp"
#include "slurm/read/request.hpp"
#include "slurm/records.hpp"

namespace elastic::slurm {

namespace {

using controller::Agreement;
using controller::AgreementEvent;
using controller::AgreementState;
using core::Action;
using core::ActionKind;

// Reasons of waiting that a job in the view has left behind.
bool may_be_replaced(uint32_t reason) {
    return reason == WAIT_NO_REASON || reason == WAIT_PRIORITY || reason == WAIT_RESOURCES ||
           reason == WAIT_LICENSES || reason == WAIT_ARRAY_TASK_LIMIT;
}

constexpr Duration kPartial = 30;  // until a job is tried anew that was not tried on all nodes

// From when on it may have nodes of more switches than it wants (--switches=1@TIME).
Time end_of_wait_for_switches(const job_record_t* job) {
    if (!job->req_switch || !job->wait4switch_start) return kNever;
    return static_cast<Time>(job->wait4switch_start + job->wait4switch);
}

// The limit of accounting that keeps a running job from so many more nodes.
std::optional<std::string> limit_on_more(job_record_t* job, const controller::Job& known,
                                         int nodes) {
    NodeSet others = eligible_nodes(job, usable_nodes());
    others -= NodeSet(job->node_bitmap);
    return limit_on_growth(job, others.first(nodes), known.node_time);
}

}  // namespace

bool Executor::carry_out(const core::Plan& plan, Time now) {
    plan_ = &plan;
    if (ask_those_planned_with()) return true;
    bool refused = false;
    auto action = plan.actions.begin();
    while (action != plan.actions.end()) {
        ControllerLock lock;
        if (reading_.view.is_stale()) return true;
        observer_.observe_holders(now);
        while (action != plan.actions.end() && lock.held() < kLongestHold)
            refused |= do_action(*action++, now);
    }
    explain_waiting();
    ask_others();
    if (reading_.refusals.has_limits()) ask_limits();
    settlement_.settle_all(now);
    return refused;
}

// Where one account is at its limit others will be, and each that only a plan finds out about
// costs a plan: so all are asked for, by the first job of each.
void Executor::ask_limits() {
    const std::size_t entries = reading_.view.snapshot.pending.size();
    for (std::size_t entry = 0; entry < entries;) {
        ControllerLock lock;
        if (reading_.view.is_stale()) return;
        for (; entry < entries && lock.held() < kLongestHold; ++entry) ask_limit(entry);
    }
}

void Executor::ask_limit(std::size_t index) {
    const core::PendingJob& entry = reading_.view.snapshot.pending[index];
    if (entry.shares_nodes) return;  // what it would take is not known
    job_record_t* job = pending_job(entry.id);
    if (job && reading_.refusals.is_first_of_account(account_of(reading_.view.places[index], job)))
        is_start_barred(job, index);
}

bool Executor::do_action(const Action& action, Time now) {
    switch (action.kind) {
        case ActionKind::start:
            return do_start(action, now);
        case ActionKind::shrink:
            return do_shrink(action, now);
        case ActionKind::expand:
            do_expand(action, now);
            break;
        case ActionKind::reserve:
            do_reserve(action, now);
            break;
        case ActionKind::deny:
            do_deny(action, now);
            break;
        case ActionKind::withdraw:
            do_withdraw(action, now);
            break;
        case ActionKind::trade:  // with the start that it is for
            break;
    }
    return false;
}

bool Executor::do_start(const Action& action, Time now) {
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
    if (reading_.view.extended.contains(action.job)) {
        groups_.extend(action.job, placement_.for_start(job, action), action.size_after, now);
        return false;
    }
    if (const auto group = reading_.view.groups.find(action.job);
        group != reading_.view.groups.end()) {
        const Started first =
            groups_.begin(group->second, placement_.for_start(job, action), action.size_after, now);
        return first.outcome != StartOutcome::started &&
               remember_refusal(job, action, first.outcome);
    }
    Started started = try_to_start(job, action);
    if (started.outcome == StartOutcome::started) {
        // Of an array, it was said of the element that has started.
        if (controller::Job* entry = state_.jobs.find(action.job)) {
            entry->promised = kNever;
            entry->has_traded = false;
        }
        settlement_.started(started.job, now);
        log_info("job {}: started on {} ({} nodes, {})", started.job->job_id, started.job->nodes,
                 started.job->node_cnt, to_string(action.reason));
        return false;
    }
    log_debug("job {}: not started: {}", action.job, started.why);
    return remember_refusal(job, action, started.outcome);
}

// The job starts when its victims have left.
void Executor::claim_for(const Action& action, Time now) {
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
void Executor::start_by_trading(const Action& start, Time now) {
    for (const Action& action : plan_->actions) {
        if (action.kind != ActionKind::trade) continue;
        Agreement* shrink = state_.book.find(action.op);
        const bool is_for_it = shrink && shrink->beneficiary == start.job;
        // What was traded before is no worse than what was promised, so the job waits on.
        if (is_for_it && !settlement_.trade(*shrink, action.beneficiary, action.nodes, now)) return;
    }
    settlement_.start_on_claim(start, now);
}

// Whether Slurm has refused the same to a job that asks for the same.
bool Executor::is_refused(const core::PendingJob& entry, controller::RequestId request) {
    return reading_.answers.is_refused(request, mask_of(placement_.room_for(entry)));
}

Started Executor::try_to_start(job_record_t* job, const Action& action) {
    const View& view = reading_.view;
    const core::PendingJob& entry = view.snapshot.pending[action.place];
    if (is_refused(entry, request_of(reading_.queue, view.places[action.place])))
        return {StartOutcome::no_room, nullptr, "Slurm has refused as much to a job like it"};
    const Attempt& attempt = reading_.queue.attempts()[view.places[action.place].attempt];
    const NodeSet allowed = placement_.for_start(job, action);
    // How many it takes is for Slurm to find out where nodes are shared, and from the processors
    // where the user named no number of nodes.
    const bool is_counted = !entry.shares_nodes && job->details->max_nodes > 0;
    const int size = is_counted ? action.size_after : kAsRequested;
    const time_t hole_ends = end_of_hole(action);
    const controller::Job* known = state_.jobs.find(action.job);
    const NodeSet first = known && is_counted
                              ? groups_.prefer_initialised(known->group_key(), allowed, size)
                              : allowed;
    Started started = start_job(job, attempt, first, size, hole_ends);
    if (started.outcome == StartOutcome::no_room && !first.equals(allowed))
        started = start_job(job, attempt, allowed, size, hole_ends);
    if (started.outcome == StartOutcome::no_room && may_start_anywhere(action))
        started = start_job(job, attempt, placement_.for_start_anywhere(action), size);
    // Slurm may have reasons against so many that it has not against fewer.
    if (started.outcome != StartOutcome::started && is_counted && entry.has_range())
        started = start_job(job, attempt, allowed, entry.elastic.pref, hole_ends);
    return started;
}

// When the first reservation begins on nodes like those that a job is backfilled on, 0 if none
// does.
time_t Executor::end_of_hole(const Action& start) const {
    if (start.reason == core::Reason::fits) return 0;
    const auto is_on_its_nodes = [&](const Action& reservation) {
        for (std::size_t pool = 0; pool < start.nodes.size() && pool < reservation.nodes.size();
             ++pool)
            if (start.nodes[pool] > 0 && reservation.nodes[pool] > 0) return true;
        return false;
    };
    time_t end = 0;
    for (const Action& action : plan_->actions) {
        if (action.kind != ActionKind::reserve || !is_on_its_nodes(action)) continue;
        const auto begin = static_cast<time_t>(action.time);
        end = end ? std::min(end, begin) : begin;
    }
    return end;
}

// Constraints that the plan does not know (counts of features, topology) may want other nodes than
// those it took of several pools.  Nobody before the job in the queue is to be protected from that
// if it starts in order.
bool Executor::may_start_anywhere(const Action& action) const {
    return action.reason == core::Reason::fits && reading_.view.snapshot.budgets.empty();
}

// True if the next plan will differ by it.
bool Executor::remember_refusal(job_record_t* job, const Action& action, StartOutcome outcome) {
    const Queue::Place& place = reading_.view.places[action.place];
    controller::PassRefusals& refusals = reading_.refusals;
    const core::PendingJob& entry = reading_.view.snapshot.pending[action.place];
    // As many as were asked for it may have.
    if (entry.elastic.malleable && action.size_after > entry.elastic.pref)
        return refusals.refuse_more_than_asked(place.id());
    const int least = entry.has_range() ? entry.elastic.pref : action.size_after;
    if (outcome == StartOutcome::limited) return refusals.limit(account_of(place, job), least);
    if (outcome == StartOutcome::no_room) return refuse_room(job, action);
    return refusals.refuse(place.id());
}

// It was tried on all that is free for it if it was first in the queue; if it was not, on as much
// as delays nobody, or costs no more than it takes, which may be more before long. A malleable job
// may have room there with fewer nodes.
bool Executor::refuse_room(job_record_t* job, const Action& action) {
    const Queue::Place& place = reading_.view.places[action.place];
    const controller::RequestId request = request_of(reading_.queue, place);
    if (request == 0 || ask_if_unknown(request, place)) return true;
    const core::PendingJob& entry = reading_.view.snapshot.pending[action.place];
    const bool is_all =
        may_start_anywhere(action) && entry.elastic.price < 0 && !entry.elastic.malleable;
    const Time latest = is_all ? kNever : reading_.view.snapshot.now + kPartial;
    reading_.answers.note(place.job);
    if (!is_refused(entry, request))
        reading_.answers.refuse(request, mask_of(placement_.room_for(entry)), entry.shares_nodes,
                                std::min(latest, end_of_wait_for_switches(job)));
    return true;
}

// A job that can never run must not keep nodes from others, by a reservation or because others are
// to shrink for it.  True if one was found, and the rest is worth a new plan.
bool Executor::ask_those_planned_with() {
    constexpr int kMost = 16;  // with a reservation for each job there are many
    ControllerLock lock;
    if (reading_.view.is_stale()) return true;
    bool is_news = false;
    int looked_at = 0;
    for (const Action& action : plan_->actions) {
        const bool waits = action.kind == ActionKind::reserve ||
                           (action.kind == ActionKind::start && action.deferred);
        if (!waits) continue;
        if (++looked_at > kMost || lock.held() >= kLongestHold) break;
        const Queue::Place& place = reading_.view.places[action.place];
        is_news |= ask_if_unknown(request_of(reading_.queue, place), place);
    }
    return is_news;
}

// A few in each pass, for one hold of the lock; the others in the next.
void Executor::ask_others() {
    if (reading_.view.unasked.empty()) return;
    ControllerLock lock;
    if (reading_.view.is_stale()) return;
    for (const Queue::Place& place : reading_.view.unasked) {
        ask_if_unknown(request_of(reading_.queue, place), place);
        if (lock.held() >= kLongestHold) return;
    }
}

// Whether the job is not to be planned with any more, so.
bool Executor::ask_if_unknown(controller::RequestId request, const Queue::Place& place) {
    using controller::Verdict;
    job_record_t* job = pending_job(place.job);
    if (!job || request == 0) return false;
    const Verdict known = reading_.answers.verdict(request);
    if (known == Verdict::barred) reading_.answers.note(place.job);
    if (known != Verdict::unknown) return known == Verdict::barred;
    const Attempt& attempt = reading_.queue.attempts()[place.attempt];
    const Verdict verdict = ask_whether_runnable(job, attempt, sizes_of(place.job));
    if (verdict == Verdict::impossible) {
        hold_impossible(job);
        log_info("job {}: held: no nodes of the cluster meet its request", job->job_id);
        return true;
    }
    reading_.answers.judge(request, verdict);
    if (verdict == Verdict::barred) reading_.answers.note(place.job);
    return verdict == Verdict::barred;
}

// Others than those of its record it may start with if it is malleable.
SizeRange Executor::sizes_of(JobId id) const {
    const controller::Job* known = state_.jobs.find(id);
    if (!known || !known->elastic || !known->annotation.malleable) return {};
    return {known->annotation.min, known->annotation.max};
}

bool Executor::do_shrink(const Action& action, Time now) {
    job_record_t* job = running_job(action.job);
    controller::Job* entry = state_.jobs.find(action.job);
    if (!job || !entry || state_.book.of_job(action.job)) return false;
    if (action.beneficiary && is_barred(action.beneficiary, now)) return true;
    const NodeSet leaving = placement_.for_shrink(job, action);
    if (leaving.empty()) return false;  // it has changed since
    const int count = leaving.count();
    std::string reason(to_string(action.reason));
    if (action.beneficiary) reason += fmt::format(": job {}", action.beneficiary);
    negotiation_.offer_shrink(*entry, leaving.text(), count, action.beneficiary, reason, now);
    return false;
}

// Whether a limit of accounting would leave the job without the nodes that others are to give up
// for it; asked before they are.
bool Executor::is_barred(JobId beneficiary, Time now) {
    if (job_record_t* job = pending_job(beneficiary)) {
        const auto index = reading_.view.index_of(beneficiary);
        return index && (is_start_barred(job, *index) || is_larger_start_barred(job));
    }
    return is_growth_barred(beneficiary, now);
}

// The request for which others would shrink waits then, no longer than its own time.
bool Executor::is_growth_barred(JobId id, Time now) {
    job_record_t* job = running_job(id);
    controller::Job* entry = state_.jobs.find(id);
    Agreement* request = state_.book.of_job(id);
    if (!job || !entry || !request || request->state != AgreementState::queued) return true;
    if (entry->participation.grow_after > now) return true;  // since an earlier victim
    const auto limit = limit_on_more(job, *entry, request->least);
    if (limit) settlement_.not_grown(*entry, *request, "limit of accounting: " + *limit, now);
    return limit.has_value();
}

bool Executor::is_start_barred(job_record_t* job, std::size_t index) {
    const core::PendingJob& entry = reading_.view.snapshot.pending[index];
    const Queue::Place& place = reading_.view.places[index];
    const int least = entry.elastic.malleable ? entry.elastic.min : entry.elastic.pref;
    if (reading_.refusals.hides(place.id(), account_of(place, job), least)) return true;
    auto attempt = find(reading_.queue.attempts()[place.attempt]);
    if (!attempt || !limit_on_start(job, *attempt, least)) return false;
    // A QOS may have a least size as well.
    auto limit = limit_on_start(job, *attempt, entry.elastic.pref);
    if (!limit) return false;
    log_debug("job {}: barred: {}", job->job_id, *limit);
    reading_.refusals.limit(account_of(place, job), least);
    return true;
}

// Whether it cannot start with as many nodes as planned, which are more than it asks for.
bool Executor::is_larger_start_barred(job_record_t* job) {
    const auto& actions = plan_->actions;
    const auto start = std::find_if(actions.begin(), actions.end(), [&](const Action& action) {
        return action.kind == ActionKind::start && action.job == job->job_id;
    });
    if (start == actions.end()) return false;
    const core::PendingJob& entry = reading_.view.snapshot.pending[start->place];
    if (start->size_after <= entry.elastic.pref) return false;
    const Queue::Place& place = reading_.view.places[start->place];
    auto attempt = find(reading_.queue.attempts()[place.attempt]);
    if (!attempt || !limit_on_start(job, *attempt, start->size_after)) return false;
    reading_.refusals.refuse_more_than_asked(place.id());
    return true;
}

void Executor::do_expand(const Action& action, Time now) {
    controller::Job* entry = state_.jobs.find(action.job);
    if (!entry || !running_job(action.job)) return;
    int nodes = core::total(action.nodes);
    if (!action.op) {
        if (!state_.book.of_job(action.job)) offer_growth(*entry, action, now);
        return;
    }
    Agreement* request = state_.book.find(action.op);
    if (!request || request->state != AgreementState::queued) return;
    state_.book.decide(*request, 0, "");  // what an earlier plan has promised it is free again
    const NodeSet idle = placement_.beside_victims(action, *plan_, placement_.just_left(*entry));
    state_.book.decide(*request, nodes, idle.text());
    outbox_.unsaved = true;
    // With victims it stays queued until all of them have left (settle).
    if (!action.deferred) settlement_.apply_grow(*request, now);
}

void Executor::offer_growth(controller::Job& entry, const Action& action, Time now) {
    const Growth growth = placement_.for_growth(running_job(entry.id), entry, action);
    const int nodes = growth.joining.count();
    if (nodes > 0) {
        negotiation_.offer_expand(entry, growth.joining.text(), nodes,
                                  std::string(to_string(action.reason)), now);
        return;
    }
    if (!growth.obstacle.empty()) settlement_.refuse_growth(entry, growth.obstacle, now);
}

void Executor::do_reserve(const Action& action, Time) {
    if (job_record_t* job = pending_job(action.job))
        job->start_time = static_cast<time_t>(action.time);
    // Who has no room yet may have none then either.
    const core::Snapshot& snapshot = reading_.view.snapshot;
    if (snapshot.pending[action.place].not_before > snapshot.now) return;
    controller::Job* entry = state_.jobs.find(action.job);
    if (entry && entry->promised >= kNever) entry->promised = action.time;
}

void Executor::do_deny(const Action& action, Time now) {
    Agreement* request = state_.book.find(action.op);
    if (!request || request->state != AgreementState::queued) return;
    job_record_t* job = running_job(request->job);
    controller::Job* entry = state_.jobs.find(request->job);
    // The maximum that a plan knows is also that of limits, which may change while a request waits.
    if (job && entry && action.reason == core::Reason::beyond_maximum &&
        entry->nodes + request->least <= entry->annotation.max)
        return settlement_.not_grown(*entry, *request, obstacle_to(job, *entry, *request), now);
    negotiation_.end(*request, AgreementEvent::deny, std::string(to_string(action.reason)), now);
}

// What keeps the job from the nodes that its request takes at least.
std::string Executor::obstacle_to(job_record_t* job, const controller::Job& entry,
                                  const Agreement& request) {
    const int to = entry.nodes + request.least;
    if (to > most_nodes_by_partition(job))
        return fmt::format("its partition allows no {} nodes", to);
    if (auto limit = limit_on_more(job, entry, request.least))
        return "limit of accounting: " + *limit;
    return entry.participation.obstacle.empty() ? "Slurm allows it no more nodes"
                                                : entry.participation.obstacle;
}

void Executor::do_withdraw(const Action& action, Time now) {
    Agreement* offer = state_.book.find(action.op);
    if (offer && offer->state == AgreementState::offered)
        negotiation_.end(*offer, AgreementEvent::cancel, std::string(to_string(action.reason)),
                         now);
}

// What squeue shows as the reason: the first that waits for resources, then
// those behind it.  What else kept them back does not any more, or they were not in the view.
void Executor::explain_waiting() {
    const auto& pending = reading_.view.snapshot.pending;
    uint32_t reason = WAIT_RESOURCES;
    for (std::size_t entry = 0; entry < pending.size();) {
        ControllerLock lock;
        if (reading_.view.is_stale()) return;
        for (; entry < pending.size() && lock.held() < kLongestHold; ++entry)
            if (job_record_t* job = pending_job(pending[entry].id)) {
                forget_lack_of_nodes(job, pending[entry]);
                explain(job, std::exchange(reason, WAIT_PRIORITY));
            }
    }
    ControllerLock lock;
    for (const auto& [lead, group] : reading_.view.groups)
        for (const controller::GroupJob& member : group.group.waiting)
            if (job_record_t* job = member.id == lead ? nullptr : pending_job(member.id))
                explain(job, WAIT_PRIORITY);
}

// Nodes that the job requires were down, say, when Slurm was asked last.
void Executor::forget_lack_of_nodes(job_record_t* job, const core::PendingJob& entry) const {
    const bool is_deferred = entry.not_before > reading_.view.snapshot.now;
    if (job->state_reason == WAIT_NODE_NOT_AVAIL && !is_deferred)
        job->state_reason = WAIT_NO_REASON;
}

void Executor::explain(job_record_t* job, uint32_t reason) {
    if (job->state_reason == reason || !may_be_replaced(job->state_reason)) return;
    job->state_reason = reason;
    xfree(job->state_desc);
}

}  // namespace elastic::slurm
