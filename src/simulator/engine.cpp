// SPDX-License-Identifier: MIT
// A binary heap of ends, requests and wake-ups, merged with the arrivals, which
// are in order as they are.  Whatever changes a running job's future gives it a
// new version; events of an older one are thrown away when they come up.
//
// A rigid job costs one push and one pop.  What an elastic job needs besides
// stands in a slot that it has while it runs.  Nothing is allocated for an event
// once the arrays have grown, and nothing is formatted here.
//
// A job has two clocks: the work that is left in truth, which says when it ends,
// and what the scheduler believes, which may be wrong in its length (the
// estimate) and in its slope (the speed-up model).
//
// Always holds: the number of passes is bounded, whatever the policy does.
// Arrivals, ends, starts and requests are as many as the workload has, and
// between two of them there is a bounded number of wake-ups.
#include "simulator/engine.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <map>
#include <numeric>
#include <utility>

#include "core/availability/cluster.hpp"
#include "core/model/evolution.hpp"
#include "core/model/payback.hpp"
#include "core/model/speedup.hpp"
#include "core/pass/planner.hpp"

namespace elastic::simulator {
namespace {

using core::Action;
using core::ActionKind;

// In the order in which events of one instant are applied.
enum class EventKind : std::uint8_t { end, request, step, wake_up };

struct Event {
    Time at;
    std::uint32_t job;
    std::uint32_t version : 30;
    std::uint32_t kind : 2;

    // For std::push_heap, whose front is the greatest.
    friend bool operator<(const Event& a, const Event& b) {
        if (a.at != b.at) return a.at > b.at;
        if (a.kind != b.kind) return a.kind > b.kind;
        return a.job > b.job;
    }
};
static_assert(sizeof(Event) == 16);

// What an elastic job needs while it runs.
struct Progress {
    const Elasticity* how = nullptr;
    core::WorkLedger truth, belief;
    Time booked = 0;  // node-seconds and segments are complete until then
    // Of the resizes so far, still to be paid from `booked` on.
    Duration negotiation = 0, redistribution = 0;
    std::uint32_t version = 0;
    std::uint32_t next_request = 0;
};

// Where a job that has an evolution profile stands in it.
struct Stepping {
    core::Evolution evolution;
    OpId op = 0;  // by which it asks for the nodes of the step that waits; 0: none waits
};

// A growth that a job has asked for before this pass.
struct Asked {
    OpId op = 0;
    std::uint32_t job = 0;
    int nodes = 0;
    bool answered = false;
};

constexpr std::uint32_t kNoSlot = UINT32_MAX;

// How often a running job is looked at again between two changes in the system:
// enough to react to resizes with resizes, and no end in itself.
constexpr std::int64_t kWakeUpsPerJob = 8;

core::PendingJob pending_of(const Workload& workload, std::size_t index) {
    const Job& job = workload.jobs[index];
    core::PendingJob pending;
    pending.id = static_cast<JobId>(index + 1);
    if (job.elasticity >= 0)
        pending.elastic = workload.elasticities[job.elasticity].annotation;
    else
        pending.elastic.min = pending.elastic.pref = pending.elastic.max = job.nodes;
    pending.duration = job.estimate;
    pending.submit = job.submit;
    return pending;
}

std::vector<std::uint32_t> in_order_of_arrival(const std::vector<Job>& jobs) {
    std::vector<std::uint32_t> order(jobs.size());
    std::iota(order.begin(), order.end(), 0U);
    const auto earlier = [&](std::uint32_t a, std::uint32_t b) {
        return jobs[a].submit < jobs[b].submit;
    };
    if (!std::is_sorted(order.begin(), order.end(), earlier))
        std::stable_sort(order.begin(), order.end(), earlier);
    return order;
}

class Engine {
  public:
    Engine(const Workload& workload, const SimulationOptions& options);
    Outcome run();

  private:
    // Events.
    void push(Time at, EventKind kind, std::uint32_t job, std::uint32_t version);
    void pop();
    bool is_stale(const Event&) const;
    bool next_instant();
    bool apply_events();
    void arrive(std::uint32_t job);
    void end(std::uint32_t job);
    void request(std::uint32_t job);
    void step(std::uint32_t job);
    bool is_wake_up_due() const;
    bool follow_supply();
    void pay(Time until);

    // Passes.
    bool could_act() const;
    void pass();
    bool plan_and_execute();
    void execute(const Action&);
    void promise(const Action&);
    void start(const Action&);
    Asked& asked(OpId);
    void grant(Asked&);
    void deny(Asked&, core::Reason);
    void deny_unanswered();

    // Jobs with an evolution profile.
    bool has_profile(std::uint32_t job) const;
    bool is_for_step(const Action&) const;
    void tell_steps();
    void grant_step(const Action&);
    void schedule_step(std::uint32_t job);

    // Running elastic jobs.
    Progress& progress(std::uint32_t job) { return progress_[slot_[job]]; }
    std::uint32_t new_slot();
    Duration start_elastic(std::uint32_t job, int size);
    void resize(Observer::Resize, const core::PoolCounts& nodes);
    void shrink_by_itself(std::uint32_t job, int nodes);
    void give_back(std::uint32_t job, int to);
    void schedule(std::uint32_t job);
    void schedule_request(std::uint32_t job);
    void schedule_wake_up(std::uint32_t job);
    void book(std::uint32_t job);
    void add_segment(std::uint32_t job, Time from, Time to, Segment::Kind);
    Duration gap(const core::Sizing&) const;

    const Workload& workload_;
    const SimulationOptions& options_;
    core::Cluster cluster_;
    core::Planner planner_{core::Reservations::needed};
    core::Rng rng_;
    Outcome outcome_;

    Time now_ = 0;
    std::vector<Event> events_;  // a heap
    std::vector<std::uint32_t> arrivals_;
    std::size_t next_arrival_ = 0;
    std::int64_t pending_ = 0, running_ = 0, ended_ = 0;
    std::int64_t wake_ups_left_ = 0;

    bool resizes_ = false;             // the policy resizes, and there is something to resize
    bool plans_again_ = false;         // a plan may leave something to be done in the same instant
    std::vector<std::uint32_t> slot_;  // by job; empty without elastic jobs
    std::vector<Progress> progress_;   // by slot
    std::vector<std::uint32_t> free_slots_;
    std::vector<Asked> asked_;                    // few
    std::map<std::uint32_t, Stepping> stepping_;  // by job: those that run
    std::size_t steps_waiting_ = 0;
    OpId next_op_ = 1;
    core::SupplyClock supply_;
};

Engine::Engine(const Workload& workload, const SimulationOptions& options)
    : workload_(workload),
      options_(options),
      cluster_(options.supply ? pool_sizes(*options.supply, workload.nodes)
                              : core::PoolCounts(1, workload.nodes)),
      rng_(options.seed),
      arrivals_(in_order_of_arrival(workload.jobs)) {
    outcome_.jobs.resize(workload.jobs.size());
    if (options.supply) supply_ = core::SupplyClock(options.supply->supply);
    follow_supply();
    if (workload.elasticities.empty()) return;
    slot_.assign(workload.jobs.size(), kNoSlot);
    resizes_ = options.policy.resizes();
    const bool is_without_gap = std::ranges::any_of(workload.elasticities, [&](const auto& e) {
        return e.annotation.malleable && gap(e.annotation) == 0;
    });
    const bool frees_nodes = options.policy.shrink_for == core::ShrinkFor::anybody;
    plans_again_ = resizes_ && (is_without_gap || frees_nodes || options.settle || options.supply);
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
    if (workload_.jobs[event.job].elasticity < 0) return false;
    const std::uint32_t slot = slot_[event.job];
    return slot == kNoSlot || progress_[slot].version != event.version;
}

// Moves the clock to the next instant at which anything happens, if there is one.
bool Engine::next_instant() {
    while (!events_.empty() && is_stale(events_.front())) pop();
    const bool arrivals_left = next_arrival_ < arrivals_.size();
    // Whoever waits may wait for a price or a cap.
    const Time change = pending_ + running_ > 0 || arrivals_left ? supply_.next() : kNever;
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
    bool changed = follow_supply(), woken = false;
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
    cluster_.arrive(pending_of(workload_, job));
    ++pending_;
    if (options_.observer) options_.observer->arrived(now_, job);
}

void Engine::end(std::uint32_t job) {
    JobResult& result = outcome_.jobs[job];
    result.end = now_;
    --running_;
    ++ended_;
    cluster_.end(job + 1);
    if (workload_.jobs[job].elasticity >= 0) {
        book(job);
        if (has_profile(job)) stepping_.erase(job);
        free_slots_.push_back(slot_[job]);
        slot_[job] = kNoSlot;
    } else {
        outcome_.counters.busy += (now_ - result.start) * result.nodes_end;
        add_segment(job, result.start, now_, Segment::Kind::run);
    }
    if (options_.observer) options_.observer->ended(now_, job, result.nodes_end);
}

// [lina] section 4: a wish for fewer nodes is granted at once, since nothing can
// stand against it; one for more is decided in the pass that follows.
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
    return resizes_ || options_.supply ? pending_ + running_ > 0
                                       : pending_ > 0 && cluster_.idle() > 0;
}

void Engine::pass() {
    if (!could_act()) return;
    const bool acted = plan_and_execute();
    // What has just started or changed can be resized in the same instant, and what was freed for
    // nobody can be used.
    if (acted && plans_again_ && is_wake_up_due()) plan_and_execute();
}

bool Engine::plan_and_execute() {
    ++outcome_.counters.passes;
    tell_steps();
    const core::Plan& plan = planner_.plan(cluster_, options_.policy, rng_);
    bool acted = false;
    for (const Action& action : plan.actions)
        if (action.kind == ActionKind::shrink) execute(action);
    for (const Action& action : plan.actions) {
        if (action.kind != ActionKind::shrink) execute(action);
        acted = acted || action.kind != ActionKind::reserve;
    }
    deny_unanswered();
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
            if (change.for_somebody) change.beneficiary = action.beneficiary - 1;
            return resize(change, action.nodes);
        case ActionKind::expand:
            change.to = action.size_after;
            if (is_for_step(action)) return grant_step(action);
            change.own_wish = action.op != 0;
            change.op = change.own_wish ? action.op : next_op_++;
            if (change.own_wish) {
                Asked& wish = asked(action.op);
                change.wanted = wish.nodes;
                grant(wish);
            }
            return resize(change, action.nodes);
        case ActionKind::deny:
            if (is_for_step(action)) return;  // it goes on waiting
            return deny(asked(action.op), action.reason);
        case ActionKind::reserve:
            return promise(action);
        case ActionKind::withdraw:  // nothing is ever merely offered here
            return;
    }
}

void Engine::promise(const Action& action) {
    Time& promised = outcome_.jobs[action.job - 1].promised;
    if (promised >= kNever) promised = action.time;
    if (options_.policy.head_delay < kNever) cluster_.promise(action.job, action.time);
}

void Engine::start(const Action& action) {
    const std::uint32_t index = action.job - 1;
    const Job& job = workload_.jobs[index];
    const int size = action.size_after;
    outcome_.jobs[index] = {now_, now_, size, size, 0, outcome_.jobs[index].promised};
    --pending_;
    ++running_;
    wake_ups_left_ += kWakeUpsPerJob;
    Counters& counters = outcome_.counters;
    counters.in_order += action.reason == core::Reason::fits;
    counters.backfilled += action.reason == core::Reason::backfilled;
    counters.by_shrinking += action.reason == core::Reason::by_shrinking;
    if (options_.observer) options_.observer->started(now_, index, size);
    const bool elastic = job.elasticity >= 0;
    cluster_.start(action.job, action.nodes,
                   now_ + (elastic ? start_elastic(index, size) : job.estimate));
    if (elastic)
        schedule(index);
    else
        push(now_ + job.run, EventKind::end, index, 0);
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

// ---- running elastic jobs ---------------------------------------------------

std::uint32_t Engine::new_slot() {
    if (free_slots_.empty()) {
        progress_.emplace_back();
        return static_cast<std::uint32_t>(progress_.size() - 1);
    }
    const std::uint32_t slot = free_slots_.back();
    free_slots_.pop_back();
    return slot;
}

// How long it runs, as the scheduler believes.
Duration Engine::start_elastic(std::uint32_t index, int size) {
    const Job& job = workload_.jobs[index];
    slot_[index] = new_slot();
    Progress& progress = this->progress(index);
    progress = {};
    progress.how = &workload_.elasticities[job.elasticity];
    // Of a job with a profile that says how long its steps take, whatever its size.
    const core::SpeedupModel fixed{core::SpeedupModel::Kind::power, 1, 0};
    const core::EvolutionProfile& profile = progress.how->annotation.profile;
    const core::SpeedupModel& truth = profile.empty() ? progress.how->true_speedup : fixed;
    const core::SpeedupModel& belief = profile.empty() ? progress.how->annotation.speedup : fixed;
    const Duration run = core::rescale(job.run, job.nodes, size, truth, job.nodes);
    const Duration estimate = core::rescale(job.estimate, job.nodes, size, belief, job.nodes);
    progress.truth = {now_, run, size, truth, job.nodes};
    progress.belief = {now_, estimate, size, belief, job.nodes};
    progress.booked = now_;
    if (!profile.empty()) stepping_[index].evolution.begin(now_, profile);
    return estimate;
}

// `nodes` come or go.
void Engine::resize(Observer::Resize change, const core::PoolCounts& nodes) {
    const auto job = static_cast<std::uint32_t>(change.job);
    JobResult& result = outcome_.jobs[job];
    Progress& progress = this->progress(job);
    change.from = result.nodes_end;
    if (change.to == change.from) return;
    book(job);
    const Duration moving = progress.how->annotation.cost.seconds(change.from, change.to);
    change.cost = moving + progress.how->negotiation;
    progress.redistribution += moving;
    progress.negotiation += progress.how->negotiation;
    progress.truth.resize(now_, change.to, change.cost);
    progress.belief.resize(now_, change.to, change.cost);
    ++progress.version;
    ++(change.to < change.from ? outcome_.counters.shrinks : outcome_.counters.expansions);
    ++result.resizes;
    result.nodes_end = change.to;
    const core::PoolCounts& held = cluster_.running(job + 1).held;
    cluster_.resize(
        job + 1, change.to < change.from ? core::difference(held, nodes) : core::sum(held, nodes),
        progress.belief.estimated_end());
    schedule(job);
    if (options_.observer) options_.observer->resized(now_, change);
}

void Engine::shrink_by_itself(std::uint32_t job, int nodes) {
    const core::Sizing& elastic = progress(job).how->annotation;
    const int size = outcome_.jobs[job].nodes_end;
    const int least = std::max(elastic.min, size - nodes);
    ++outcome_.counters.granted;
    const int to = elastic.sizes.smallest(least, size - 1);
    if (to > 0) give_back(job, to);  // else it is as small as it can be
}

void Engine::give_back(std::uint32_t job, int to) {
    Observer::Resize change;
    change.job = job;
    change.to = to;
    change.op = next_op_++;
    change.own_wish = true;
    change.reason = core::Reason::evolving_request;
    const core::RunningJob& running = cluster_.running(job + 1);
    core::PoolCounts nodes(running.held.size(), 0);
    int left = core::total(running.held) - to;
    for (std::size_t pool = nodes.size(); pool-- > 0;) {
        const int kept = pool == running.batch_host_pool ? 1 : 0;
        nodes[pool] = std::clamp(running.held[pool] - kept, 0, left);
        left -= nodes[pool];
    }
    resize(change, nodes);
}

void Engine::schedule(std::uint32_t job) {
    const Progress& progress = this->progress(job);
    if (has_profile(job)) return schedule_step(job);
    push(progress.truth.estimated_end(), EventKind::end, job, progress.version);
    schedule_request(job);
    schedule_wake_up(job);
}

// The job's next wish, at its present size.
void Engine::schedule_request(std::uint32_t index) {
    const Progress& progress = this->progress(index);
    if (progress.next_request == progress.how->events.size()) return;
    const Job& job = workload_.jobs[index];
    const Duration whole = core::rescale(job.run, job.nodes, outcome_.jobs[index].nodes_end,
                                         progress.how->true_speedup, job.nodes);
    const Duration left = progress.how->events[progress.next_request].work_left * whole;
    push(progress.truth.estimated_end() - left, EventKind::request, index, progress.version);
}

void Engine::schedule_wake_up(std::uint32_t job) {
    const Progress& progress = this->progress(job);
    const core::Sizing& elastic = progress.how->annotation;
    if (!resizes_ || !elastic.malleable) return;
    const Time over = now_ + gap(elastic);
    if (over > now_ && over < progress.truth.estimated_end())
        push(over, EventKind::wake_up, job, progress.version);
    if (options_.policy.feasibility != core::Feasibility::payback) return;
    const Time pays = core::pays_from(elastic, outcome_.jobs[job].nodes_end, elastic.max, now_);
    if (pays > over && pays < progress.truth.estimated_end())
        push(pays, EventKind::wake_up, job, progress.version);
}

// ---- jobs with an evolution profile -----------------------------------------

bool Engine::has_profile(std::uint32_t job) const {
    const int elasticity = workload_.jobs[job].elasticity;
    return !workload_.elasticities[elasticity].annotation.profile.empty();
}

bool Engine::is_for_step(const Action& action) const {
    const auto found = stepping_.find(action.job - 1);
    return action.op != 0 && found != stepping_.end() && found->second.op == action.op;
}

// A step that waits has no end, nor has the job.
void Engine::schedule_step(std::uint32_t job) {
    const core::Evolution& evolution = stepping_[job].evolution;
    if (evolution.waits()) return;
    const Progress& progress = this->progress(job);
    const Time end = progress.truth.estimated_end(), next = evolution.next_at();
    push(end, EventKind::end, job, progress.version);
    if (next < end) push(next, EventKind::step, job, progress.version);
}

void Engine::step(std::uint32_t job) {
    Stepping& stepping = stepping_[job];
    core::Evolution& evolution = stepping.evolution;
    const int held = outcome_.jobs[job].nodes_end;
    evolution.follow(now_, held);
    const int wanted = evolution.wanted();
    if (options_.observer) options_.observer->stepped(now_, job, evolution.number(), wanted, held);
    if (wanted < held) {
        give_back(job, wanted);
        evolution.follow(now_, wanted);
        return;
    }
    ++progress(job).version;
    if (evolution.waits()) {
        ++steps_waiting_;
        stepping.op = next_op_++;
        const int lack = wanted - held;
        if (options_.observer) options_.observer->asked(now_, job, stepping.op, lack, lack);
    }
    schedule(job);
}

// A pass sees profiles from now on, and asks for what steps lack, who waits for longest first.
void Engine::tell_steps() {
    std::vector<core::GrowthRequest> requests;
    for (const auto& [job, stepping] : stepping_) {
        const core::Evolution& evolution = stepping.evolution;
        const int held = outcome_.jobs[job].nodes_end;
        cluster_.set_profile(job + 1,
                             evolution.remaining(now_, held, progress(job).how->annotation));
        const int lack = evolution.wanted() - held;
        if (evolution.waits()) requests.push_back({stepping.op, job + 1, lack, lack, kNever});
    }
    std::ranges::sort(requests, {}, &core::GrowthRequest::op);
    for (const core::GrowthRequest& request : requests) cluster_.ask(request);
}

// Its time begins now.
void Engine::grant_step(const Action& action) {
    const std::uint32_t job = action.job - 1;
    Stepping& stepping = stepping_[job];
    const Time since = stepping.evolution.waiting_since();
    Observer::Resize change;
    change.job = job;
    change.to = action.size_after;
    change.op = std::exchange(stepping.op, 0);
    change.reason = action.reason;
    change.own_wish = true;
    change.wanted = change.to - outcome_.jobs[job].nodes_end;
    outcome_.counters.step_wait += now_ - since;
    outcome_.counters.late_steps += now_ > since;
    --steps_waiting_;
    Progress& progress = this->progress(job);
    for (core::WorkLedger* clock : {&progress.truth, &progress.belief})
        clock->stand_still(since, now_);
    stepping.evolution.follow(now_, change.to);
    resize(change, action.nodes);
}

Duration Engine::gap(const core::Sizing& elastic) const {
    return elastic.gap >= 0 ? elastic.gap : options_.policy.resize_gap;
}

// Accounts for the time since the last resize.
void Engine::book(std::uint32_t job) {
    Progress& progress = this->progress(job);
    Counters& counters = outcome_.counters;
    const int nodes = outcome_.jobs[job].nodes_end;
    const Duration passed = now_ - progress.booked;
    const Duration negotiating = std::min(passed, progress.negotiation);
    const Duration moving = std::min(passed - negotiating, progress.redistribution);
    counters.busy += passed * nodes;
    counters.negotiation += negotiating * nodes;
    counters.redistribution += moving * nodes;
    progress.negotiation -= negotiating;
    progress.redistribution -= moving;
    const Time working = std::min(progress.booked + negotiating + moving, now_);
    add_segment(job, progress.booked, working, Segment::Kind::redistribute);
    add_segment(job, working, now_, Segment::Kind::run);
    progress.booked = now_;
}

void Engine::add_segment(std::uint32_t job, Time from, Time to, Segment::Kind kind) {
    if (options_.segments && from < to)
        outcome_.segments.push_back({from, to, job, outcome_.jobs[job].nodes_end, kind});
}

}  // namespace

Outcome simulate(const Workload& workload, const SimulationOptions& options) {
    return Engine(workload, options).run();
}

}  // namespace elastic::simulator
