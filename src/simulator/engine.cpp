// SPDX-License-Identifier: MIT
// A binary heap of ends, requests and wake-ups, merged with the arrivals, which are in order
// already.  Whatever changes a running job's future gives it a new version; events of an older one
// are thrown away when they come up.
//
// A rigid job costs one push and one pop.  The further state of an elastic job stands in a slot
// that the job has while it runs.  Nothing is allocated for an event once the arrays have grown,
// and nothing is formatted here.
//
// Always holds: the number of passes is bounded, whatever the policy does. Arrivals, ends, starts
// and requests are as many as the workload has, and between two of them there is a bounded number
// of wake-ups.
#include "simulator/engine.hpp"

#include <algorithm>
#include <cassert>
#include <numeric>
#include <utility>

#include "simulator/event_engine.hpp"

namespace elastic::simulator {
namespace {

using core::Action;
using core::ActionKind;

// How often a running job is looked at again between two changes in the system: enough to react to
// resizes with resizes, and no end in itself.
constexpr std::int64_t kWakeUpsPerJob = 8;

// Passes of one instant, if each of them ends jobs for others or finds no room for one.
constexpr int kMostRounds = 100;

template <class Earlier>
std::vector<std::uint32_t> in_order_of_arrival(std::size_t jobs, Earlier earlier) {
    std::vector<std::uint32_t> order(jobs);
    std::iota(order.begin(), order.end(), 0U);
    if (!std::is_sorted(order.begin(), order.end(), earlier))
        std::stable_sort(order.begin(), order.end(), earlier);
    return order;
}

core::Cluster make_cluster(const Workload& workload, const SimulationOptions& options) {
    if (options.supply) return core::Cluster(pool_sizes(*options.supply, workload.nodes));
    if (workload.pools.empty()) return core::Cluster(workload.nodes);
    core::PoolCounts nodes;
    for (const NodePool& pool : workload.pools) nodes.push_back(pool.nodes);
    std::vector<std::uint32_t> weights;
    for (const NodePool& pool : workload.pools) weights.push_back(pool.weight);
    std::vector<core::Eligibility> eligibilities;
    for (const Partition& partition : workload.partitions) eligibilities.push_back(partition.pools);
    return core::Cluster(nodes, std::move(eligibilities), std::move(weights));
}

}  // namespace

Engine::Engine(const Workload& workload, const SimulationOptions& options)
    : workload_(workload),
      options_(options),
      cluster_(make_cluster(workload, options)),
      rng_(options.seed),
      partly_used_(workload.pools, [this](core::PoolId pool, auto before, auto after) {
          cluster_.share(pool, before, after);
      }) {
    find_components();
    limits_.resize(workload.limits.size());
    if (!workload.reservations.empty() || !workload.outages.empty()) begin_calendar();
    arrivals_ = in_order_of_arrival(workload.jobs.size(), [&](std::uint32_t a, std::uint32_t b) {
        const Time first = workload.jobs[a].submit, second = workload.jobs[b].submit;
        if (first != second || whole_.empty()) return first < second;
        return first_component(a) < first_component(b);
    });
    outcome_.jobs.resize(workload.jobs.size());
    if (options.supply) supply_ = core::SupplyClock(options.supply->supply);
    follow_supply();
    if (!workload.levels.empty()) runs_.assign(workload.jobs.size(), 0);
    if (workload.elasticities.empty()) return;
    slot_.assign(workload.jobs.size(), kNoSlot);
    resizes_ = options.policy.resizes();
    learns_ = resizes_ && options.policy.belief == core::Belief::learned;
    const bool is_without_gap = std::ranges::any_of(workload.elasticities, [&](const auto& e) {
        return e.annotation.malleable && gap(e.annotation) == 0;
    });
    const bool frees_nodes = options.policy.shrink_for == core::ShrinkFor::anybody;
    // Nodes that jobs give up for those that start together are freed for nobody, too.
    plans_again_ = resizes_ && (is_without_gap || frees_nodes || options.settle || options.supply ||
                                !whole_.empty());
}

void Engine::find_components() {
    if (workload_.heterogeneous.empty()) return;
    whole_.assign(workload_.jobs.size(), -1);
    for (std::size_t whole = 0; whole < workload_.heterogeneous.size(); ++whole)
        for (const std::uint32_t job : workload_.heterogeneous[whole])
            whole_[job] = static_cast<std::int32_t>(whole);
}

// Which stands in the queue for all; the job itself if it is no component.
std::uint32_t Engine::first_component(std::uint32_t job) const {
    return is_component(job) ? workload_.heterogeneous[whole_[job]].front() : job;
}

Outcome Engine::run() {
    while (next_instant())
        if (apply_events()) pass();
    outcome_.lost = static_cast<std::int64_t>(outcome_.jobs.size()) - ended_;
    std::sort(outcome_.segments.begin(), outcome_.segments.end(),
              [](const Segment& a, const Segment& b) {
                  return a.job != b.job ? a.job < b.job : a.from < b.from;
              });
    return std::move(outcome_);
}

// ---- events -----------------------------------------------------------------

void Engine::push(Time at, EventKind kind, std::uint32_t job, std::uint32_t version) {
    events_.push_back({std::max(at, now_), job, version, static_cast<std::uint32_t>(kind)});
    std::push_heap(events_.begin(), events_.end());
}

void Engine::pop() {
    std::pop_heap(events_.begin(), events_.end());
    events_.pop_back();
}

bool Engine::is_stale(const Event& event) const {
    if (preempts() && event.version < runs_[event.job]) return true;
    if (workload_.jobs[event.job].elasticity < 0) return false;
    const std::uint32_t slot = slot_[event.job];
    return slot == kNoSlot || progress_[slot].version != event.version;
}

// Moves the clock to the next instant at which anything happens, if there is one.
bool Engine::next_instant() {
    while (!events_.empty() && is_stale(events_.front())) pop();
    const bool arrivals_left = next_arrival_ < arrivals_.size();
    // Whoever waits may wait for a price, a cap, or nodes that are reserved or down.
    const bool is_over = ended_ == std::ssize(workload_.jobs);
    const Time change =
        is_over ? kNever : std::min({supply_.next(), next_in_calendar(), next_completed()});
    if (events_.empty() && !arrivals_left && change >= kNever) return false;
    Time next = events_.empty() ? kNever : events_.front().at;
    if (arrivals_left) next = std::min(next, workload_.jobs[arrivals_[next_arrival_]].submit);
    next = std::min(next, change);
    pay(next);
    now_ = next;
    cluster_.advance(now_);
    return true;
}

// Whether there is a reason for a pass.
bool Engine::apply_events() {
    bool changed = follow_supply() | follow_calendar() | follow_completing(), woken = false;
    while (!events_.empty() && events_.front().at <= now_) {
        const Event event = events_.front();
        pop();
        if (is_stale(event)) continue;
        const auto kind = static_cast<EventKind>(event.kind);
        (kind == EventKind::wake_up ? woken : changed) = true;
        if (kind == EventKind::end) end(event.job);
        if (kind == EventKind::request) request(event.job);
        if (kind == EventKind::step) step(event.job);
    }
    for (; next_arrival_ < arrivals_.size(); ++next_arrival_, changed = true) {
        const std::uint32_t job = arrivals_[next_arrival_];
        if (workload_.jobs[job].submit > now_) break;
        arrive(job);
    }
    if (changed) wake_ups_left_ = kWakeUpsPerJob * (running_ + 1);
    return changed || (woken && is_wake_up_due() && wake_ups_left_-- > 0);
}

// That a job may be resized again matters only where there is something to gain.
bool Engine::is_wake_up_due() const {
    return pending_ > 0 || cluster_.idle() > 0 || options_.supply;
}

// Whether anything has changed.
bool Engine::follow_supply() {
    if (!options_.supply || !supply_.advance(now_)) return false;
    const SupplySeries& series = *options_.supply;
    std::vector<double> prices(cluster_.snapshot().pools.size(), 0);
    std::vector<core::Budget> budgets;
    for (std::size_t set = 0; set < supply_.terms().size(); ++set) {
        const core::Terms& terms = supply_.terms()[set];
        const std::vector<core::PoolId> pools = pools_of(series, set);
        for (const core::PoolId pool : pools)
            if (prices[pool] == 0) prices[pool] = terms.price;
        if (terms.most) budgets.push_back({*terms.most, pools});
    }
    cluster_.set_supply(prices, std::move(budgets));
    return true;
}

// For what is in use from now until then.
void Engine::pay(Time until) {
    constexpr Duration kHour = 3600;
    if (!options_.supply) return;
    for (const core::Pool& pool : cluster_.snapshot().pools) {
        if (pool.price <= 0) continue;
        const double used = (until - now_) * (pool.nodes - pool.idle);
        outcome_.counters.priced += used;
        outcome_.counters.cost += used / kHour * pool.price;
    }
}

void Engine::arrive(std::uint32_t job) {
    join_queue(job);
    if (options_.observer) options_.observer->arrived(now_, job);
}

// The queue, or those who wait for their reservation or for a limit.
void Engine::join_queue(std::uint32_t job) {
    if (waits_for_reservation(job) || !admit(job)) return;
    ++pending_;
    core::PendingJob pending = pending_of(job);
    if (is_component(job)) pending.together = first_component(job) + 1;
    if (!has_order()) return cluster_.arrive(std::move(pending));
    cluster_.arrive(std::move(pending), [&](JobId other) { return comes_before(job, other - 1); });
}

// In the queue's order, no components.
void Engine::join_queue(const std::vector<std::uint32_t>& jobs) {
    pending_ += static_cast<std::int64_t>(jobs.size());
    std::vector<core::PendingJob> pending;
    for (const std::uint32_t job : jobs) pending.push_back(pending_of(job));
    cluster_.arrive(std::move(pending), [&](JobId job, JobId other) {
        return comes_before(static_cast<std::uint32_t>(job - 1),
                            static_cast<std::uint32_t>(other - 1));
    });
}

core::PendingJob Engine::pending_of(std::uint32_t index) const {
    const Job& job = workload_.jobs[index];
    core::PendingJob pending;
    pending.id = index + 1;
    if (job.elasticity >= 0) {
        pending.elastic = workload_.elasticities[job.elasticity].annotation;
        if (learns_) pending.elastic.speedup.believed = experience_.believed(program_of(index));
    } else {
        pending.elastic.min = pending.elastic.pref = pending.elastic.max = job.nodes;
    }
    pending.eligible = job.partition;
    pending.shares_nodes = shares_nodes(index);
    pending.duration = job.estimate;
    pending.submit = job.submit;
    return pending;
}

core::Experience::Program Engine::program_of(std::uint32_t job) const {
    return static_cast<core::Experience::Program>(workload_.jobs[job].program);
}

void Engine::learn(std::uint32_t index) {
    const Job& job = workload_.jobs[index];
    core::WorkSeen seen;
    if (job.elasticity >= 0) {
        seen = progress(index).seen;
    } else {
        core::Sizing rigid;
        rigid.pref = job.nodes;
        seen.add(now_ - outcome_.jobs[index].start, job.nodes, rigid);
    }
    experience_.learn(program_of(index), job.nodes, job.estimate, seen);
}

void Engine::end(std::uint32_t job) {
    JobResult& result = outcome_.jobs[job];
    result.end = now_;
    --running_;
    ++ended_;
    shares_nodes(job) ? leave_parts(job) : leave_nodes(job);
    lift_deferrals();
    count_job(job, result.nodes_end, -1);
    let_in(job);
    if (workload_.jobs[job].elasticity >= 0) {
        book(job);
        if (learns_ && !has_profile(job)) learn(job);
        if (has_profile(job)) stepping_.erase(job);
        free_slots_.push_back(slot_[job]);
        slot_[job] = kNoSlot;
    } else {
        outcome_.counters.busy +=
            (now_ - result.start) * result.nodes_end * share_of_node(workload_, job);
        add_segment(job, result.start, now_, Segment::Kind::run);
        if (learns_) learn(job);
    }
    if (options_.observer) options_.observer->ended(now_, job, result.nodes_end);
}

// [lina] section 4: a wish for fewer nodes is granted at once, since nothing can stand against it;
// one for more is decided in the pass that follows.
void Engine::request(std::uint32_t job) {
    Progress& progress = this->progress(job);
    const int nodes = progress.how->events[progress.next_request++].nodes;
    schedule_request(job);
    if (nodes < 0) return shrink_by_itself(job, -nodes);
    if (nodes == 0) return;
    const OpId op = next_op_++;
    asked_.push_back({op, job, nodes, false});
    // It does not wait, but victims are only asked for one whose deadline is not reached.
    cluster_.ask({op, job + 1, nodes, 1, std::nextafter(now_, kNever)});
    if (options_.observer) options_.observer->asked(now_, job, op, nodes, 1);
}

// ---- passes -----------------------------------------------------------------

// False only if a pass could do nothing at all.
bool Engine::could_act() const {
    if (!asked_.empty() || steps_waiting_ > 0) return true;
    if (preempts() && pending_ > 0) return true;
    return resizes_ || options_.supply
               ? pending_ + running_ > 0
               : pending_ > 0 && (cluster_.idle() > 0 || cluster_.has_shared());
}

void Engine::pass() {
    take_down();
    if (!could_act()) return;
    const bool acted = plan_until_settled();
    // What has just started or changed can be resized in the same instant, and what was freed for
    // nobody can be used.
    if (acted && plans_again_ && is_wake_up_due()) plan_until_settled();
}

// Whose nodes were taken has left them, and who has taken them starts; who was refused is left out.
bool Engine::plan_until_settled() {
    bool acted = false, again = true;
    for (int round = 0; again && round < kMostRounds; ++round) {
        const std::int64_t before = outcome_.counters.preempted;
        acted = plan_and_execute();
        again = unsettled_ || outcome_.counters.preempted > before;
    }
    return acted;
}

bool Engine::plan_and_execute() {
    ++outcome_.counters.passes;
    unsettled_ = false;
    bound_growth();
    tell_steps();
    tell_preemptors();
    keep_from_reserved();
    const core::Plan& plan = planner_.plan(cluster_, options_.policy, rng_);
    const std::span<const Action> actions = within_limits(plan);
    const JobId barred =
        actions.size() < plan.actions.size() ? plan.actions[actions.size()].job : 0;
    unsettled_ = barred != 0;
    bool acted = false;
    for (const Action& action : actions)
        if (action.kind == ActionKind::shrink && (!barred || action.beneficiary != barred))
            execute(action);
    for (const Action& action : actions) {
        if (action.kind != ActionKind::shrink) execute(action);
        acted = acted || action.kind != ActionKind::reserve;
    }
    hold_limited();
    if (!barred) deny_unanswered();
    return acted;
}

void Engine::execute(const Action& action) {
    Observer::Resize change;
    change.job = action.job - 1;
    change.reason = action.reason;
    switch (action.kind) {
        case ActionKind::start:
            return start(action);
        case ActionKind::shrink:
            change.to = action.size_after;
            change.op = next_op_++;
            change.for_somebody = action.beneficiary != 0;
            outcome_.counters.spared += action.reason == core::Reason::instead_of_preemption;
            if (change.for_somebody) change.beneficiary = action.beneficiary - 1;
            return resize(change, action.nodes);
        case ActionKind::expand: {
            const core::PoolCounts nodes = nodes_of_growth(action);
            const int missing = core::total(action.nodes) - core::total(nodes);
            if (core::total(nodes) == 0 || (missing && is_for_step(action))) return refuse(action);
            change.to = action.size_after - missing;
            if (is_for_step(action)) return grant_step(action);
            change.own_wish = action.op != 0;
            change.op = change.own_wish ? action.op : next_op_++;
            if (change.own_wish) {
                Asked& wish = asked(action.op);
                change.wanted = wish.nodes;
                grant(wish);
            }
            return resize(change, nodes);
        }
        case ActionKind::deny:
            if (is_for_step(action)) return;  // it goes on waiting
            return deny(asked(action.op), action.reason);
        case ActionKind::reserve:
            return promise(action);
        case ActionKind::preempt:
            return preempt(action);
        case ActionKind::withdraw:  // nothing is ever merely offered here
        case ActionKind::trade:     // nor is anything in flight
            return;
    }
}

// For a limit; a step goes on waiting.
void Engine::refuse(const Action& action) {
    if (action.op != 0 && !is_for_step(action)) deny(asked(action.op), core::Reason::no_nodes);
}

void Engine::promise(const Action& action) {
    Time& promised = outcome_.jobs[action.job - 1].promised;
    if (promised >= kNever) promised = action.time;
    if (options_.policy.head_delay < kNever) cluster_.promise(action.job, action.time, action.anew);
}

void Engine::start(const Action& action) {
    const std::uint32_t index = action.job - 1;
    const Job& job = workload_.jobs[index];
    const bool shares = shares_nodes(index);
    // What came before it in the plan may have taken more of a limit than was foreseen.
    if (!limits_.empty() && limit_on_start(index) != kNoLimit) {
        unsettled_ = true;
        return;
    }
    if (shares && !take_parts(action)) return;
    const core::PoolCounts nodes = nodes_of_start(action);
    const int size = size_of_start(action);
    outcome_.jobs[index] = {now_, now_, size, size, 0, outcome_.jobs[index].promised};
    --pending_;
    ++running_;
    count_job(index, size, +1);
    wake_ups_left_ += kWakeUpsPerJob;
    Counters& counters = outcome_.counters;
    counters.in_order += action.reason == core::Reason::fits;
    counters.backfilled += action.reason == core::Reason::backfilled;
    counters.by_shrinking += action.reason == core::Reason::by_shrinking;
    if (options_.observer && shares)
        options_.observer->started_on_parts(now_, index, partly_used_.nodes_of(index));
    else if (options_.observer)
        options_.observer->started(now_, index, nodes);
    const bool elastic = job.elasticity >= 0;
    if (!shares)
        cluster_.start(action.job, nodes,
                       now_ + (elastic ? start_elastic(index, size) : job.estimate));
    if (elastic)
        schedule(index);
    else
        push(now_ + job.run, EventKind::end, index, preempts() ? runs_[index] : 0);
}

Asked& Engine::asked(OpId op) {
    const auto found = std::find_if(asked_.begin(), asked_.end(),
                                    [&](const Asked& asked) { return asked.op == op; });
    assert(found != asked_.end());
    return *found;
}

void Engine::grant(Asked& asked) {
    asked.answered = true;
    ++outcome_.counters.granted;
}

void Engine::deny(Asked& asked, core::Reason reason) {
    asked.answered = true;
    ++outcome_.counters.denied;
    if (options_.observer)
        options_.observer->denied(now_, asked.job, asked.op, asked.nodes, reason);
}

// Nobody waits for what was not to be had.
void Engine::deny_unanswered() {
    if (cluster_.snapshot().requests.empty()) return;
    for (Asked& asked : asked_)
        if (!asked.answered) deny(asked, core::Reason::no_nodes);
    asked_.clear();
    cluster_.forget_requests();
}

Outcome simulate(const Workload& workload, const SimulationOptions& options) {
    return Engine(workload, options).run();
}

}  // namespace elastic::simulator
