// SPDX-License-Identifier: MIT
// Elastic jobs while they run.
//
// A job has two clocks: the work that is left in truth, which says when it ends, and what the
// scheduler believes, which may be wrong in its length (the estimate) and in its slope (the
// speed-up model).
//
// Always holds: what a job has used and what its resizes have cost is booked before its size
// changes.
#include <algorithm>

#include "core/model/payback.hpp"
#include "core/model/speedup.hpp"
#include "simulator/event_engine.hpp"

namespace elastic::simulator {

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
    const core::SpeedupModel& belief =
        profile.empty() ? cluster_.pending(index + 1).elastic.speedup : fixed;
    const Duration run = core::rescale(job.run, job.nodes, size, truth, job.nodes);
    const Duration estimate = core::rescale(job.estimate, job.nodes, size, belief, job.nodes);
    progress.truth = {now_, run, size, truth, job.nodes};
    progress.belief = {now_, estimate, size, belief, job.nodes};
    progress.booked = now_;
    if (learns_) progress.seen.add(0, size, progress.how->annotation);
    if (preempts()) progress.version = runs_[index];
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
    count_limits(job, change.to - change.from);
    if (change.to < change.from) let_in(job);
    result.nodes_end = change.to;
    const core::PoolCounts& held = cluster_.running(job + 1).held;
    cluster_.resize(
        job + 1, change.to < change.from ? core::difference(held, nodes) : core::sum(held, nodes),
        progress.belief.estimated_end());
    schedule(job);
    if (!options_.observer) return;
    change.nodes = nodes;
    options_.observer->resized(now_, change);
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
    progress.held += passed * nodes;
    counters.negotiation += negotiating * nodes;
    counters.redistribution += moving * nodes;
    if (learns_) progress.seen.add(passed - negotiating - moving, nodes, progress.how->annotation);
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

}  // namespace elastic::simulator
