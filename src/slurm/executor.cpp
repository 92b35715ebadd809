// SPDX-License-Identifier: GPL-2.0-or-later
// Two ways lead here: a plan (what the scheduler wants) and an agreement that
// has become ripe (what applications have done).  Both end in the same few
// functions that change Slurm's records.
//
// A plan is made without locks from a snapshot; so every action first asks
// Slurm's records whether it still makes sense.  Long plans are carried out in
// pieces, so that no hold of the lock is long.
#include "slurm/executor.hpp"

#include <algorithm>

#include "slurm/eligibility.hpp"
#include "slurm/limits.hpp"
#include "slurm/log.hpp"
#include "slurm/resize.hpp"
#include "slurm/start.hpp"

namespace elastic::slurm {

namespace {

using core::Action;
using core::ActionKind;
using core::Agreement;
using core::AgreementEvent;
using core::AgreementKind;
using core::AgreementState;

constexpr double kLongestHold = 0.002;  // seconds; then others get a turn

job_record_t* running_job(core::JobId id) {
    job_record_t* job = find_job_record(id);
    return job && IS_JOB_RUNNING(job) && job->node_bitmap && job->job_resrcs ? job : nullptr;
}

job_record_t* pending_job(core::JobId id) {
    job_record_t* job = find_job_record(id);
    return job && IS_JOB_PENDING(job) && job->details && job->priority ? job : nullptr;
}

NodeSet idle_nodes() {
    NodeSet idle(idle_node_bitmap);
    bit_and(idle.get(), avail_node_bitmap);
    bit_and(idle.get(), share_node_bitmap);
    bit_and_not(idle.get(), cg_node_bitmap);
    return idle;
}

// Since slurmctld started; their slurmd has not said yet what it is.
NodeSet unreported_nodes() {
    NodeSet result;
    for (int i = 0; i < node_record_count; ++i)
        if (node_record_table_ptr[i] && IS_NODE_UNKNOWN(node_record_table_ptr[i])) result.add(i);
    return result;
}

// The last `count` of them: jobs grow at the end, so what is given up was
// gained last and the kept part stays compact.
NodeSet last_of(const NodeSet& nodes, int count) {
    NodeSet result;
    for (int node = bit_fls(nodes.get()); node >= 0 && count > 0; --node)
        if (nodes.has(node)) {
            result.add(node);
            --count;
        }
    return result;
}

NodeSet first_of(const NodeSet& nodes, int count) {
    NodeSet result;
    nodes.for_each([&](int node) {
        if (count-- > 0) result.add(node);
    });
    return result;
}

time_t partition_end(const job_record_t* job) {
    if (!job->part_ptr || job->part_ptr->max_time == INFINITE) return INT64_MAX / 2;
    return job->start_time + static_cast<time_t>(job->part_ptr->max_time) * 60;
}

// Reasons of waiting that a job in the view has left behind.
bool may_be_replaced(uint32_t reason) {
    return reason == WAIT_NO_REASON || reason == WAIT_PRIORITY || reason == WAIT_RESOURCES ||
           reason == WAIT_LICENSES || reason == WAIT_ARRAY_TASK_LIMIT;
}

}  // namespace

// ---- reading

// Three holds of the lock, none of them longer than it must be.
void Executor::read(Time now) {
    {
        ControllerLock lock(context_.locks);
        queue_.list();
    }
    {
        ControllerLock lock(context_.locks);
        queue_.sort();
    }
    queue_.finish();
    context_.refusals = {};
    read_again(now);
}

void Executor::read_again(Time now) {
    ControllerLock lock(context_.locks);
    observer_.observe(now);
    read_cluster(now, context_.jobs, queue_, context_.refusals, context_.view);
    for (core::RunningJob& job : context_.view.snapshot.running) {
        const JobEntry* entry = context_.jobs.find(job.id);
        const Agreement* open = context_.book.of_job(job.id);
        bool undecided = open && open->state == AgreementState::queued &&
                         context_.book.shrinks_for(job.id).empty();
        job.resizable = entry && negotiation_.takes_part(*entry, now) && (!open || undecided);
    }
    add_promises();
}

// What agreements in flight mean for planning.
void Executor::add_promises() {
    core::Snapshot& snapshot = context_.view.snapshot;
    std::set<core::JobId> claimed;
    NodeSet idle = idle_nodes();
    for (auto& [op, agreement] : context_.book.all()) {
        const job_record_t* job = agreement.open() ? running_job(agreement.job) : nullptr;
        if (!job) continue;
        bool waits_for_shrinks = !context_.book.shrinks_for(agreement.job).empty();
        if (agreement.kind == AgreementKind::shrink) {
            core::Promise promise;
            promise.op = op;
            promise.job = agreement.job;
            promise.nodes = context_.view.count(NodeSet::from_text(agreement.node_list).get());
            promise.beneficiary = agreement.beneficiary;
            promise.revocable = agreement.state == AgreementState::offered;
            claimed.insert(agreement.beneficiary);
            snapshot.promises.push_back(std::move(promise));
        } else if (agreement.state == AgreementState::queued && !waits_for_shrinks) {
            snapshot.requests.push_back(
                {op, agreement.job, agreement.nodes, agreement.least, agreement.deadline});
        } else if (agreement.state != AgreementState::applied) {
            core::Promise promise;
            promise.kind = core::Promise::Kind::expand;
            promise.op = op;
            promise.job = agreement.job;
            promise.revocable = agreement.state == AgreementState::offered;
            int coming = 0;
            for (const Agreement* shrink : context_.book.shrinks_for(agreement.job))
                coming += shrink->nodes;
            const JobEntry* entry = context_.jobs.find(agreement.job);
            NodeSet joining;
            if (entry)
                joining =
                    choose_joining(const_cast<job_record_t*>(job), *entry, agreement, idle).joining;
            joining = first_of(joining, agreement.coming() - coming);
            idle -= joining;  // none is promised twice
            promise.nodes = context_.view.count(joining.get());
            snapshot.promises.push_back(std::move(promise));
        }
    }
    for (core::PendingJob& job : snapshot.pending) job.claimed = claimed.erase(job.id) > 0;
}

// ---- plans

bool Executor::carry_out(const core::Plan& plan, Time now) {
    bool refused = false;
    auto action = plan.actions.begin();
    while (action != plan.actions.end()) {
        ControllerLock lock(context_.locks);
        if (view_is_stale()) return true;
        observer_.observe(now);  // which takes a while by itself if the queue is long
        double until = lock.held() + kLongestHold;
        while (action != plan.actions.end() && lock.held() < until)
            refused |= do_action(*action++, now);
        if (action == plan.actions.end()) explain_waiting();
    }
    settle_all(now);
    return refused;
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
    }
    return false;
}

bool Executor::do_start(const Action& action, Time now) {
    if (action.deferred) {  // its shrinks carry the claim
        for (Agreement* shrink : context_.book.shrinks_for(action.job))
            context_.outbox.unsaved |=
                std::exchange(shrink->beneficiary_size, action.size_after) != action.size_after;
        return false;
    }
    job_record_t* job = pending_job(action.job);
    if (!job) return false;
    Started started = try_to_start(job, action);
    if (started.outcome == StartOutcome::started) {
        after_start(started.job, now);
        log_info("job {}: started on {} ({} nodes, {})", started.job->job_id, started.job->nodes,
                 started.job->node_cnt, to_string(action.reason));
        return false;
    }
    log_debug("job {}: not started: {}", action.job, started.why);
    return remember_refusal(job, action, started.outcome);
}

Started Executor::try_to_start(job_record_t* job, const Action& action) const {
    const View& view = context_.view;
    const core::PendingJob& entry = view.snapshot.pending[action.entry];
    const Attempt& attempt = queue_.attempts()[view.places[action.entry].attempt];
    // How many it takes is for Slurm to find out where nodes are shared, and from the processors
    // where the user named no number of nodes.
    if (entry.shares_nodes)
        return start_job(job, attempt, view.nodes_of(entry.eligible), kAsRequested);
    const int size = job->details->max_nodes > 0 ? action.size_after : kAsRequested;
    return start_job(job, attempt, view.nodes_of(action.nodes), size);
}

// True if the next plan will differ by it.
bool Executor::remember_refusal(const job_record_t* job, const Action& action,
                                StartOutcome outcome) {
    const Queue::Place& place = context_.view.places[action.entry];
    Refusals& refusals = context_.refusals;
    if (outcome == StartOutcome::limited) return refusals.limit(place, job, action.size_after);
    const bool shares = context_.view.snapshot.pending[action.entry].shares_nodes;
    return shares && outcome == StartOutcome::no_room ? refusals.refuse_sharing(place)
                                                      : refusals.refuse(place);
}

bool Executor::do_shrink(const Action& action, Time now) {
    job_record_t* job = running_job(action.job);
    JobEntry* entry = context_.jobs.find(action.job);
    if (!job || !entry || context_.book.of_job(action.job)) return false;
    if (action.beneficiary && is_barred(action.beneficiary, now)) return true;
    NodeSet held(job->node_bitmap);
    int keep = batch_host(job);
    if (keep >= 0) held.remove(keep);
    NodeSet leaving;
    for (std::size_t pool = 0; pool < action.nodes.size(); ++pool) {
        if (action.nodes[pool] == 0) continue;
        NodeSet here(held);
        here &= context_.view.pools[pool];
        leaving |= last_of(here, action.nodes[pool]);
    }
    int count = leaving.count();
    if (count != core::total(action.nodes)) return false;  // it has changed since
    std::string reason(to_string(action.reason));
    if (action.beneficiary) reason += fmt::format(": job {}", action.beneficiary);
    negotiation_.offer_shrink(*entry, leaving.text(), count, action.beneficiary, reason, now);
    return false;
}

// Whether a limit of accounting would leave the job without the nodes that others are to give up
// for it; asked before they are.
bool Executor::is_barred(core::JobId beneficiary, Time now) {
    if (job_record_t* job = pending_job(beneficiary)) return is_start_barred(job);
    job_record_t* job = running_job(beneficiary);
    Agreement* request = context_.book.of_job(beneficiary);
    if (!job || !request || request->state != AgreementState::queued) return false;
    NodeSet others = eligible_nodes(job, usable_nodes());
    others -= NodeSet(job->node_bitmap);
    auto limit = limit_on_growth(job, first_of(others, request->least));
    if (limit)
        negotiation_.end(*request, AgreementEvent::deny, "limit of accounting: " + *limit, now);
    return limit.has_value();
}

bool Executor::is_start_barred(job_record_t* job) {
    const auto index = context_.view.entry_of(job->job_id);
    if (!index) return false;
    const core::PendingJob& entry = context_.view.snapshot.pending[*index];
    const Queue::Place& place = context_.view.places[*index];
    const int least = entry.elastic.malleable ? entry.elastic.min : entry.elastic.pref;
    if (context_.refusals.hides(place, job, least)) return true;
    auto attempt = find(queue_.attempts()[place.attempt]);
    if (!attempt || !limit_on_start(job, *attempt, least)) return false;
    // A QOS may have a least size as well.
    auto limit = limit_on_start(job, *attempt, entry.elastic.pref);
    if (!limit) return false;
    log_debug("job {}: nobody is shrunk for it: {}", job->job_id, *limit);
    context_.refusals.limit(place, job, least);
    return true;
}

void Executor::do_expand(const Action& action, Time now) {
    JobEntry* entry = context_.jobs.find(action.job);
    if (!entry || !running_job(action.job)) return;
    int nodes = core::total(action.nodes);
    if (!action.op) {
        if (!context_.book.of_job(action.job)) offer_growth(*entry, action, now);
        return;
    }
    Agreement* request = context_.book.find(action.op);
    if (!request || request->state != AgreementState::queued) return;
    request->granted = nodes;
    context_.outbox.unsaved = true;
    // With victims it stays queued until all of them have left (settle).
    if (!action.deferred) apply_grow(*request, now);
}

void Executor::offer_growth(JobEntry& entry, const Action& action, Time now) {
    job_record_t* job = running_job(entry.id);
    const int size = static_cast<int>(job->node_cnt);
    NodeSet idle = idle_nodes();
    idle &= eligible_nodes(job, usable_nodes());
    Growth growth = within_limits(job, entry, idle, size + 1, size + core::total(action.nodes));
    if (!growth.limit.empty())
        log_debug("job {}: {} nodes offered of {}: {}", entry.id, growth.joining.count(),
                  core::total(action.nodes), growth.limit);
    if (int nodes = growth.joining.count())
        negotiation_.offer_expand(entry, nodes, std::string(to_string(action.reason)), now);
}

void Executor::do_reserve(const Action& action, Time) {
    if (job_record_t* job = pending_job(action.job))
        job->start_time = static_cast<time_t>(action.time);
}

void Executor::do_deny(const Action& action, Time now) {
    Agreement* request = context_.book.find(action.op);
    if (request && request->state == AgreementState::queued)
        negotiation_.end(*request, AgreementEvent::deny, std::string(to_string(action.reason)),
                         now);
}

void Executor::do_withdraw(const Action& action, Time now) {
    Agreement* offer = context_.book.find(action.op);
    if (offer && offer->state == AgreementState::offered)
        negotiation_.end(*offer, AgreementEvent::cancel, std::string(to_string(action.reason)),
                         now);
}

// What squeue shows as the reason: the first that waits for resources, then
// those behind it.  What else kept them back does not any more, or they were not in the view.
void Executor::explain_waiting() {
    bool first = true;
    for (const core::PendingJob& entry : context_.view.snapshot.pending) {
        job_record_t* job = pending_job(entry.id);
        if (!job) continue;
        auto reason = first ? WAIT_RESOURCES : WAIT_PRIORITY;
        first = false;
        if (job->state_reason == reason || !may_be_replaced(job->state_reason)) continue;
        job->state_reason = reason;
        xfree(job->state_desc);
    }
}

// ---- agreements

void Executor::settle(Time now) {
    auto& agreements = context_.book.all();
    bool anything = std::any_of(agreements.begin(), agreements.end(), [&](const auto& entry) {
        const Agreement& agreement = entry.second;
        return agreement.open() && (agreement.state == AgreementState::released ||
                                    (agreement.kind == AgreementKind::expand &&
                                     agreement.state == AgreementState::accepted));
    });
    if (!anything) return;
    settle_all(now);
}

void Executor::settle_all(Time now) {
    if (context_.book.all().empty()) return;
    bool settled = false;
    while (!settled) {
        ControllerLock lock(context_.locks);
        if (view_is_stale()) return;
        observer_.observe(now);
        settled = settle_some(lock, now);
    }
}

// Slurm was reconfigured with other nodes: indices mean something else now.
bool Executor::view_is_stale() const {
    return context_.view.node_records != node_record_count;
}

// False if the lock was held long enough before nothing could move any more.
bool Executor::settle_some(const ControllerLock& lock, Time now) {
    bool moved = true;
    while (moved) {
        moved = false;
        for (auto& [op, agreement] : context_.book.all()) {
            if (!agreement.open() || !move_forward(agreement, now)) continue;
            moved = true;
            if (lock.held() >= kLongestHold) return false;
        }
    }
    return true;
}

// True if it has changed, so that others may be able to move now.
bool Executor::move_forward(Agreement& agreement, Time now) {
    if (!running_job(agreement.job)) {
        negotiation_.end(agreement, AgreementEvent::cancel, "the job is not running any more", now);
        return true;
    }
    if (agreement.kind == AgreementKind::shrink) return move_shrink(agreement, now);
    if (agreement.state == AgreementState::accepted) return apply_grow(agreement, now);
    if (agreement.state == AgreementState::queued && all_released(agreement.job)) {
        hand_over(agreement.job, now);
        return true;
    }
    return false;
}

bool Executor::move_shrink(Agreement& agreement, Time now) {
    core::JobId beneficiary = agreement.beneficiary;
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

bool Executor::still_waits(core::JobId beneficiary) const {
    if (pending_job(beneficiary)) return true;
    const Agreement* request = context_.book.of_job(beneficiary);
    return running_job(beneficiary) && request && request->state == AgreementState::queued;
}

// Its nodes are empty, and Slurm can make use of them: a node that has not reported
// since slurmctld started (it will, or be declared down) can be given to nobody.
bool Executor::may_leave(const Agreement& shrink) const {
    return shrink.state == AgreementState::released && running_job(shrink.job) &&
           !NodeSet::from_text(shrink.node_list).overlaps(unreported_nodes());
}

// There are shrinks for it, and all their nodes can be handed over.
bool Executor::all_released(core::JobId beneficiary) const {
    auto shrinks = context_.book.shrinks_for(beneficiary);
    return !shrinks.empty() &&
           std::all_of(shrinks.begin(), shrinks.end(),
                       [this](const auto* shrink) { return may_leave(*shrink); });
}

// [gupta] algorithm 1, ExecuteDependentDecisions: all nodes are free in fact, so
// the dependent launch or expansion follows at once.
void Executor::hand_over(core::JobId beneficiary, Time now) {
    int size = 0;
    for (Agreement* shrink : context_.book.shrinks_for(beneficiary)) {
        size = shrink->beneficiary_size;
        apply_shrink(*shrink, now);
    }
    if (Agreement* request = context_.book.of_job(beneficiary);
        request && request->state == AgreementState::queued) {
        apply_grow(*request, now);
        return;
    }

    job_record_t* job = pending_job(beneficiary);
    const auto index = context_.view.entry_of(beneficiary);
    if (!job || !index) return;
    // Without a size the crash of a controller came in between.
    if (size == 0) size = context_.view.snapshot.pending[*index].elastic.pref;
    const Attempt& attempt = queue_.attempts()[context_.view.places[*index].attempt];
    Started started = start_job(job, attempt, nodes_for(job, attempt), size);
    if (started.outcome != StartOutcome::started) {
        log_info("job {}: nodes were freed for it but it cannot start: {}", beneficiary,
                 started.why);
        return;
    }
    after_start(started.job, now);
    log_info("job {}: started on {} ({} nodes, handed over)", started.job->job_id,
             started.job->nodes, started.job->node_cnt);
}

// As of now: some may have reported, or have gone, since the last pass.
NodeSet Executor::nodes_for(job_record_t* job, const Attempt& attempt) const {
    auto found = find(attempt);
    if (!found) return {};
    Trying trying(job, *found);
    return eligible_nodes(job, usable_nodes());
}

void Executor::apply_shrink(Agreement& agreement, Time now) {
    job_record_t* job = running_job(agreement.job);
    JobEntry* entry = context_.jobs.find(agreement.job);
    if (!job || !entry) return;
    NodeSet leaving = NodeSet::from_text(agreement.node_list);
    leaving &= NodeSet(job->node_bitmap);  // a node may have failed meanwhile
    int from = static_cast<int>(job->node_cnt);
    auto shrunk = shrink(job, leaving);
    if (!shrunk) {
        log_error("{}", shrunk.error().message);
        return negotiation_.end(agreement, AgreementEvent::cancel, shrunk.error().message, now);
    }
    (void)context_.book.advance(agreement, AgreementEvent::apply);
    after_resize(job, *entry, agreement, from, leaving.text(), now);
}

Executor::Growth Executor::choose_joining(job_record_t* job, const JobEntry& entry,
                                          const Agreement& agreement, NodeSet idle) const {
    idle &= eligible_nodes(job, usable_nodes());
    int size = static_cast<int>(job->node_cnt);
    int most = std::min({entry.annotation.max, size + agreement.coming(), size + idle.count()});
    int least = agreement.requested ? size + agreement.least : size + 1;
    return within_limits(job, entry, idle, least, most);
}

// To the largest allowed size from `least` to `most`.
Executor::Growth Executor::within_limits(job_record_t* job, const JobEntry& entry,
                                         const NodeSet& idle, int least, int most) const {
    Growth growth;
    const int size = static_cast<int>(job->node_cnt);
    const core::SizeRule& sizes = entry.annotation.sizes;
    for (int to = sizes.largest(least, most); to > size; to = sizes.largest(least, to - 1)) {
        growth.joining = first_of(idle, to - size);
        auto limit = limit_on_growth(job, growth.joining);
        if (!limit) return growth;
        growth.limit = *limit;
    }
    growth.joining = {};
    return growth;
}

// Fewer nodes are idle than agreed, but others may turn out to be soon.
bool Executor::must_wait_for_nodes(const job_record_t* job, const Agreement& agreement,
                                   int found) const {
    return found < agreement.coming() && job->part_ptr &&
           NodeSet(job->part_ptr->node_bitmap).overlaps(unreported_nodes());
}

// True if the agreement has changed.
bool Executor::apply_grow(Agreement& agreement, Time now) {
    job_record_t* job = running_job(agreement.job);
    JobEntry* entry = context_.jobs.find(agreement.job);
    if (!job || !entry) return false;
    const auto [joining, limit] = choose_joining(job, *entry, agreement, idle_nodes());
    if (must_wait_for_nodes(job, agreement, joining.count())) return false;
    int from = static_cast<int>(job->node_cnt);
    Result<void> grown = !joining.empty() ? grow(job, joining)
                         : limit.empty()  ? elastic::error("the nodes are not free any more")
                                          : elastic::error("limit of accounting: {}", limit);
    if (!grown) {
        if (agreement.state == AgreementState::queued) return false;  // the next plan decides
        negotiation_.end(agreement, AgreementEvent::cancel, grown.error().message, now);
        return true;
    }
    if (agreement.state == AgreementState::queued) {
        context_.outbox.note(now, journal::Grant{agreement.job, agreement.op, journal::Kind::expand,
                                                 agreement.nodes, joining.count()});
        (void)context_.book.advance(agreement, AgreementEvent::grant);
    }
    (void)context_.book.advance(agreement, AgreementEvent::apply);
    after_resize(job, *entry, agreement, from, joining.text(), now);
    return true;
}

void Executor::after_start(job_record_t* job, Time now) {
    observer_.started(job, now);
    context_.outbox.changed = true;
    if (JobEntry* entry = context_.jobs.find(job->job_id); entry && entry->elastic)
        extend_limit(job, *entry, "it starts with fewer nodes than it asked for");
}

// A job that has fewer nodes than its limit was meant for takes longer.
void Executor::extend_limit(job_record_t* job, JobEntry& entry, const char* why) {
    auto end = std::min({static_cast<time_t>(entry.ledger.estimated_end() + 0.999),
                         partition_end(job), end_by_limits(job)});
    if (job->time_limit == INFINITE || end <= job->end_time) return;
    log_info("job {}: time limit extended by {} s, since {}", entry.id,
             static_cast<long>(end - job->end_time), why);
    if (entry.limit_extended != job->time_limit) entry.limit_before = job->time_limit;
    set_end(job, end);
    entry.limit_extended = job->time_limit;
}

// Bookkeeping, time limit, journal and the application's notice.
void Executor::after_resize(job_record_t* job, JobEntry& entry, Agreement& agreement, int from,
                            const std::string& changed, Time now) {
    observer_.resized(job, entry);
    context_.outbox.changed = true;
    int to = entry.nodes;
    entry.gain += to - from;
    entry.expansions += to > from;
    ++entry.resizes;
    context_.outbox.resized = true;
    entry.last_resize = now;
    entry.last_reason = agreement.reason;
    entry.progress_end = 0;
    entry.ledger.resize(now, to, entry.annotation.cost.seconds(from, to));
    extend_limit(job, entry, "it gave up nodes");
    auto kind = to < from ? journal::Kind::shrink : journal::Kind::expand;
    context_.outbox.note(
        now, journal::Resize{entry.id, agreement.op, kind, from, to, changed, agreement.reason});
    log_info("job {}: {} -> {} nodes, {} {} ({})", entry.id, from, to,
             to < from ? "gave up" : "got", changed, agreement.reason);
    negotiation_.applied(agreement, entry, changed, now);
}

}  // namespace elastic::slurm
