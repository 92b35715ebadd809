// SPDX-License-Identifier: GPL-2.0-or-later
// An agreement is ripe when all that it waited for has happened: the application has accepted, or
// released, and the nodes are there.  Then Slurm's records are changed, and only then books,
// journal and the application's notice.
//
// Slurm's records may have changed at will since something was agreed (failed nodes, ended jobs,
// new limits), so each step asks them first.  Long series are settled in several holds of the lock.
#include "slurm/act/agreement_executor.hpp"

#include <ctime>

#include <algorithm>

#include "common/log.hpp"
#include "core/pass/placement.hpp"
#include "slurm/act/prolog.hpp"
#include "slurm/act/resize.hpp"
#include "slurm/act/start.hpp"
#include "slurm/act/start_refusals.hpp"
#include "slurm/read/eligibility.hpp"
#include "slurm/read/limits.hpp"
#include "slurm/records.hpp"

namespace elastic::slurm {

namespace {

using controller::Agreement;
using controller::AgreementEvent;
using controller::AgreementState;
using controller::Claim;

// When time() says that this second is over, which it does up to a tick of the kernel's too late.
Time next_second() {
    timespec tick{};
    clock_getres(CLOCK_REALTIME_COARSE, &tick);
    return static_cast<Time>(time(nullptr) + 1) + 1e-9 * static_cast<double>(tick.tv_nsec);
}

}  // namespace

void AgreementExecutor::advance(Time now) {
    auto& agreements = state_.book.all();
    const bool is_second_over = next_join_ <= now;
    if (is_second_over) {
        next_join_ = kNever;
        std::erase_if(late_, [&](OpId op) { return !state_.book.find(op); });
    }
    bool anything = is_second_over ||
                    std::any_of(agreements.begin(), agreements.end(), [&](const auto& numbered) {
                        const Agreement& agreement = numbered.second;
                        return agreement.open() && (agreement.state == AgreementState::released ||
                                                    agreement.state == AgreementState::joined ||
                                                    (agreement.kind == ResizeKind::expand &&
                                                     agreement.state == AgreementState::accepted));
                    });
    if (!anything) return;
    advance_all(now);
}

void AgreementExecutor::advance_all(Time now) {
    if (state_.book.all().empty()) return;
    bool settled = false;
    while (!settled) {
        ControllerLock lock;
        if (reading_.view.is_stale()) return;
        observer_.observe_holders(now);
        settled = advance_some(lock, now);
    }
}

// False if the lock was held long enough before nothing could move any more.
bool AgreementExecutor::advance_some(const ControllerLock& lock, Time now) {
    bool moved = true;
    unreported_ = unreported_nodes();
    while (moved) {
        moved = false;
        for (auto& [op, agreement] : state_.book.all()) {
            if (!agreement.open() || !move_forward(agreement, now)) continue;
            moved = true;
            if (lock.held() >= kLongestHold) return false;
        }
    }
    return true;
}

// True if it has changed, so that others may be able to move now.
bool AgreementExecutor::move_forward(Agreement& agreement, Time now) {
    if (!running_job(agreement.job)) {
        prologs_.erase(agreement.op);
        negotiation_.end(agreement, AgreementEvent::cancel, "the job is not running any more", now);
        return true;
    }
    if (agreement.kind == ResizeKind::shrink) return move_shrink(agreement, now);
    if (agreement.state == AgreementState::accepted) return apply_grow(agreement, now);
    if (agreement.state == AgreementState::joined) return finish_joining(agreement, now);
    if (agreement.state != AgreementState::queued) return false;
    if (all_released(agreement.job)) {
        hand_over(agreement.job, now);
        return true;
    }
    return late_.erase(agreement.op) > 0 && apply_grow(agreement, now);
}

bool AgreementExecutor::move_shrink(Agreement& agreement, Time now) {
    JobId beneficiary = agreement.beneficiary;
    if (beneficiary && !still_waits(beneficiary)) {
        negotiation_.drop_claim(beneficiary, "the nodes are not needed any more", now);
        return true;
    }
    if (!may_leave(agreement)) return false;
    if (!beneficiary) {
        apply_shrink(agreement, now);
        return true;
    }
    if (!all_released(beneficiary)) return false;
    hand_over(beneficiary, now);
    return true;
}

// A claim of a group has the size of all its jobs.
bool AgreementExecutor::stands_for_group(JobId id) const {
    const controller::GroupBook& groups = state_.groups;
    return reading_.view.groups.contains(id) || groups.next_in(id);
}

// As it did when it was promised nodes.
bool AgreementExecutor::still_waits(JobId beneficiary) const {
    if (const job_record_t* job = pending_job(beneficiary)) {
        const Claim* claim = state_.book.claim_of(beneficiary);
        return !claim || claim->size == 0 || stands_for_group(beneficiary) ||
               takes(job, claim->size);
    }
    const Agreement* request = state_.book.of_job(beneficiary);
    return running_job(beneficiary) && request && request->state == AgreementState::queued;
}

// Its nodes are empty, and Slurm can make use of them: a node that has not reported since slurmctld
// started (it will, or be declared down) can be given to nobody.
bool AgreementExecutor::may_leave(const Agreement& shrink) {
    return shrink.state == AgreementState::released && running_job(shrink.job) &&
           !agreed_.of(shrink).overlaps(*unreported_);
}

// There are shrinks for it, and all their nodes can be handed over.
bool AgreementExecutor::all_released(JobId beneficiary) {
    auto shrinks = state_.book.shrinks_for(beneficiary);
    return !shrinks.empty() &&
           std::all_of(shrinks.begin(), shrinks.end(),
                       [this](const auto* shrink) { return may_leave(*shrink); }) &&
           may_join(beneficiary);
}

// None of what it is to be given has it left just before.
bool AgreementExecutor::may_join(JobId beneficiary) {
    const controller::Job* known = state_.jobs.find(beneficiary);
    if (!known) return true;
    const NodeSet later = placement_.just_left(*known);
    const Agreement* request = state_.book.of_job(beneficiary);
    bool waits = request && agreed_.of(*request).overlaps(later);
    for (const Agreement* shrink : state_.book.shrinks_for(beneficiary))
        waits |= agreed_.of(*shrink).overlaps(later);
    if (waits) try_again_later();
    return !waits;
}

void AgreementExecutor::try_again_later() {
    next_join_ = std::min(next_join_, next_second());
}

// [gupta] algorithm 1, ExecuteDependentDecisions: all nodes are free in fact, so the dependent
// launch or expansion follows at once.
void AgreementExecutor::hand_over(JobId beneficiary, Time now) {
    const Claim* kept = state_.book.claim_of(beneficiary);
    const Claim claim = kept ? *kept : Claim();
    NodeSet freed;
    for (Agreement* shrink : state_.book.shrinks_for(beneficiary))
        freed |= apply_shrink(*shrink, now);
    Agreement* request = state_.book.of_job(beneficiary);
    if (request && request->state == AgreementState::queued)
        grow_by(*request, freed, now);
    else
        start_beneficiary(beneficiary, claim, freed, now);
    state_.book.drop_claim(beneficiary);
}

// The nodes that are kept for a pending job, and those that its victims have left.
NodeSet AgreementExecutor::ready_for(JobId beneficiary) {
    NodeSet nodes;
    if (const Claim* claim = state_.book.claim_of(beneficiary)) nodes = agreed_.of(*claim);
    nodes &= idle_nodes();
    for (const Agreement* shrink : state_.book.shrinks_for(beneficiary))
        if (may_leave(*shrink)) nodes |= agreed_.of(*shrink);
    return nodes;
}

// Takes from victims of the job what is wanted of their nodes, with all that each has left.
NodeSet AgreementExecutor::leave_for(JobId beneficiary, const NodeSet& wanted, Time now) {
    NodeSet left;
    for (Agreement* shrink : state_.book.shrinks_for(beneficiary))
        if (may_leave(*shrink) && agreed_.of(*shrink).overlaps(wanted))
            left |= apply_shrink(*shrink, now);
    return left;
}

// Of these nodes, those that the job needs besides all that its victims give up.
NodeSet AgreementExecutor::needed_beside_victims(JobId beneficiary, int size, NodeSet nodes) {
    const auto index = reading_.view.index_of(beneficiary);
    if (!index) return nodes;
    const NodeSet eligible =
        reading_.view.nodes_of(reading_.view.snapshot.pending[*index].eligible);
    NodeSet coming;
    for (const Agreement* shrink : state_.book.shrinks_for(beneficiary))
        coming |= agreed_.of(*shrink);
    coming &= eligible;
    nodes &= eligible;
    return NodeOrder().first(nodes, std::max(0, size - coming.count()));
}

bool AgreementExecutor::trade(Agreement& shrink, JobId giver, const core::PoolCounts& counts,
                              Time now) {
    const JobId taker = shrink.beneficiary;
    const Claim* own = state_.book.claim_of(taker);
    const Claim* other = state_.book.claim_of(giver);
    if (!own || !other || !pending_job(giver) || shrink.state != AgreementState::accepted)
        return false;
    unreported_ = unreported_nodes();
    NodeSet there = agreed_.of(*other), taken = agreed_.of(*own);
    const Claim taking = *own, giving = *other;
    const NodeSet given =
        core::place(counts, reading_.view.pools, ready_for(giver), NodeOrder({there}));
    if (given.count() != core::total(counts)) return false;
    there |= leave_for(giver, given, now);
    outbox_.unsaved = true;
    if (!there.contains(given)) {  // Slurm would not let a victim shrink
        state_.book.claim(giver, {giving.size, there.text()});
        return false;
    }
    there -= given;
    state_.book.pass_on(shrink, giver);
    there = needed_beside_victims(giver, giving.size, there);
    state_.book.claim(giver, {giving.size, there.text()});
    state_.book.claim(taker, {taking.size, (taken |= given).text()});
    if (controller::Job* known = state_.jobs.find(giver)) known->has_traded = true;
    log_info("job {}: gives up {} for job {} in place of job {}, which gets {} of it", shrink.job,
             shrink.node_list, giver, taker, given.text());
    return true;
}

void AgreementExecutor::start_on_claim(const core::Action& start, Time now) {
    const Claim* claim = state_.book.claim_of(start.job);
    if (!claim) return;
    unreported_ = unreported_nodes();
    const NodeSet ready = ready_for(start.job);
    const NodeSet idle = placement_.rest_of(ready, start.nodes);
    if (ready.count() + idle.count() < claim->size) return;
    NodeSet kept = agreed_.of(*claim);
    kept |= idle;
    state_.book.claim(start.job, {claim->size, kept.text()});
    for (Agreement* shrink : state_.book.shrinks_for(start.job))
        if (!may_leave(*shrink))
            negotiation_.need_no_more(*shrink, "the nodes are not needed any more", now);
    hand_over(start.job, now);
}

// Without a claim: the crash of a controller came in between.
void AgreementExecutor::start_beneficiary(JobId id, const Claim& claim, const NodeSet& freed,
                                          Time now) {
    job_record_t* job = pending_job(id);
    const auto index = reading_.view.index_of(id);
    if (!job || !index) return;
    const int size =
        claim.size > 0 ? claim.size : reading_.view.snapshot.pending[*index].elastic.pref;
    const Attempt& attempt = reading_.queue.attempts()[reading_.view.places[*index].attempt];
    NodeSet allowed(freed);
    allowed |= agreed_.of(claim);
    if (give_to_group(id, allowed, size)) return;
    Started result = start_job(job, attempt, allowed, size);
    if (result.outcome != StartOutcome::started) {
        log_info("job {}: nodes were freed for it but it cannot start: {}", id, result.why);
        // So that others are not shrunk for it again as long as nothing else is free.
        if (result.outcome == StartOutcome::no_room) remember_no_room(reading_, placement_, *index);
        return;
    }
    // Of an array, it is the element that has started which traded.
    if (controller::Job* known = state_.jobs.find(id)) known->has_traded = false;
    started(result.job, now);
    log_info("job {}: started on {} ({} nodes, handed over)", result.job->job_id, result.job->nodes,
             result.job->node_cnt);
}

// If the job stands for a group, that owns the nodes from now on, and starts its jobs there in the
// next pass.
bool AgreementExecutor::give_to_group(JobId id, const NodeSet& nodes, int size) {
    const View& view = reading_.view;
    if (const auto group = view.groups.find(id); group != view.groups.end()) {
        const NodeSet own = NodeOrder().first(nodes, size);
        state_.groups.begin(group->second, own.text(), own.count());
    } else if (controller::Group* begun = state_.groups.next_in(id)) {
        NodeSet own(nodes);
        begun->node_list = (own |= agreed_.of(*begun)).text();
        state_.groups.changed();
    } else {
        return false;
    }
    outbox_.unsaved = true;
    return true;
}

// What the victim has left; nothing if that was not possible.
NodeSet AgreementExecutor::apply_shrink(Agreement& agreement, Time now) {
    job_record_t* job = running_job(agreement.job);
    controller::Job* known = state_.jobs.find(agreement.job);
    if (!job || !known) return {};
    NodeSet leaving = agreed_.of(agreement);
    leaving &= NodeSet(job->node_bitmap);  // a node may have failed meanwhile
    if (leaving.empty()) {
        negotiation_.end(agreement, AgreementEvent::cancel, "its nodes have left the job", now);
        return {};
    }
    int from = static_cast<int>(job->node_cnt);
    auto shrunk = shrink(job, leaving);
    if (!shrunk) {
        log_error("{}", shrunk.error().message);
        negotiation_.end(agreement, AgreementEvent::cancel, shrunk.error().message, now);
        return {};
    }
    (void)state_.book.advance(agreement, AgreementEvent::apply);
    after_resize(job, *known, agreement, from, leaving.text(), now);
    return leaving;
}

// Fewer nodes can join than agreed, but others will be able to soon, or may turn out to be idle.
bool AgreementExecutor::must_wait_for_nodes(const job_record_t* job, const Agreement& agreement,
                                            const Growth& growth) {
    if (growth.joining.count() >= agreement.coming()) return false;
    if (!growth.later.empty()) {
        if (agreement.state == AgreementState::queued) late_.insert(agreement.op);
        try_again_later();
        return true;
    }
    return job->part_ptr && NodeSet(job->part_ptr->node_bitmap).overlaps(unreported_nodes());
}

bool AgreementExecutor::apply_grow(Agreement& agreement, Time now) {
    return grow_by(agreement, NodeSet(), now);
}

// True if the agreement has changed.
bool AgreementExecutor::grow_by(Agreement& agreement, const NodeSet& freed, Time now) {
    job_record_t* job = running_job(agreement.job);
    controller::Job* known = state_.jobs.find(agreement.job);
    if (!job || !known) return false;
    const Growth growth = placement_.agreed_growth(job, *known, agreement, freed);
    if (must_wait_for_nodes(job, agreement, growth)) return false;
    const int from = static_cast<int>(job->node_cnt);
    const Result<void> grown = !growth.joining.empty() ? grow(job, growth.joining)
                               : growth.obstacle.empty()
                                   ? elastic::error("the nodes are not free any more")
                                   : elastic::error("{}", growth.obstacle);
    if (!grown) {
        not_grown(*known, agreement, grown.error().message, now);
        return true;
    }
    if (agreement.state == AgreementState::queued) {
        outbox_.note(now, journal::Grant{agreement.job, agreement.op, ResizeKind::expand,
                                         agreement.nodes, growth.joining.count()});
        (void)state_.book.advance(agreement, AgreementEvent::grant);
    }
    const bool must_wait = start_prolog(job, growth.joining);
    if (must_wait) prologs_.insert(agreement.op);
    (void)state_.book.advance(agreement, must_wait ? AgreementEvent::join : AgreementEvent::apply);
    known->participation.has_grown();
    after_resize(job, *known, agreement, from, growth.joining.text(), now);
    return true;
}

// True if the prolog has ended on all nodes that joined, so that the job has been told of them. Who
// started it may have been a controller that is gone: where it has run already, it is not run
// again.
bool AgreementExecutor::finish_joining(Agreement& agreement, Time now) {
    job_record_t* job = running_job(agreement.job);
    const controller::Job* known = state_.jobs.find(agreement.job);
    if (!job || !known) return false;
    const NodeSet nodes = agreed_.of(agreement);
    if (prologs_.insert(agreement.op).second) start_prolog(job, nodes);
    if (prolog_runs_on(job, nodes)) return false;
    prologs_.erase(agreement.op);
    (void)state_.book.advance(agreement, AgreementEvent::apply);
    negotiation_.applied(agreement, *known, agreement.node_list, now);
    outbox_.unsaved = true;
    return true;
}

// What keeps Slurm from granting a request may change, so the request waits for another plan.
void AgreementExecutor::not_grown(controller::Job& known, Agreement& agreement,
                                  const std::string& why, Time now) {
    refuse_growth(known, why, now);
    if (agreement.state != AgreementState::queued)
        return negotiation_.end(agreement, AgreementEvent::cancel, why, now);
    if (agreement.deadline <= now)
        return negotiation_.end(agreement, AgreementEvent::deny, why, now);
    state_.book.decide(agreement, 0, "");
    outbox_.unsaved = true;
}

void AgreementExecutor::refuse_growth(controller::Job& known, const std::string& obstacle,
                                      Time now) {
    if (!known.participation.refuse_growth(now, obstacle)) return;
    known.last_reason = "cannot grow: " + obstacle;
    log_info("job {}: cannot grow: {}; tried again from time to time", known.id, obstacle);
}

void AgreementExecutor::started(job_record_t* job, Time now) {
    observer_.started(job, now);
    outbox_.changed = true;
    if (controller::Job* known = state_.jobs.find(job->job_id); known && known->elastic)
        extend_limit(job, *known, "it starts with fewer nodes than it asked for");
}

// A job that has fewer nodes than its limit was meant for takes longer.
void AgreementExecutor::extend_limit(job_record_t* job, controller::Job& known, const char* why) {
    if (job->time_limit == INFINITE || known.time.extension() == 0) return;
    const time_t end =
        std::min(static_cast<time_t>(known.time.extension() + 0.999), latest_end(job));
    if (end <= job->end_time) return;
    log_info("job {}: time limit extended by {} s, since {}", known.id,
             static_cast<long>(end - job->end_time), why);
    set_end(job, end);
    known.time.extended(limit_of(job));
}

// Bookkeeping, time limit, journal and the application's notice.
void AgreementExecutor::after_resize(job_record_t* job, controller::Job& known,
                                     Agreement& agreement, int from, const std::string& changed,
                                     Time now) {
    Observer::follow_limit(job, known, now);
    observer_.resized(job, known);
    outbox_.changed = true;
    int to = known.nodes;
    known.history.add(now, from, to);
    known.count_nodes_until(now, from);
    if (to < from) known.left.add(changed, time(nullptr));
    outbox_.resized = true;
    known.last_reason = agreement.reason;
    const Duration cost = known.cost().seconds(from, to);
    known.scaling.resize(now, from, to, cost);
    // A profile says how long its steps take: fewer nodes need no more time.
    if (!known.evolution.exists()) {
        known.time.resize(now, to, cost);
        extend_limit(job, known, "it gave up nodes");
    }
    auto kind = to < from ? ResizeKind::shrink : ResizeKind::expand;
    outbox_.note(
        now, journal::Resize{known.id, agreement.op, kind, from, to, changed, agreement.reason});
    log_info("job {}: {} -> {} nodes, {} {} ({})", known.id, from, to,
             to < from ? "gave up" : "got", changed, agreement.reason);
    observer_.tell_initialisation(known, now);
    if (agreement.state != AgreementState::joined)
        return negotiation_.applied(agreement, known, changed, now);
    agreement.node_list = changed;
    agreement.deadline = kNever;  // Slurm ends the job, or drains the node, if a prolog fails
}

}  // namespace elastic::slurm
