// SPDX-License-Identifier: MIT
// Limits of QOS: a job that has no room in one of them beside the jobs that run is not in the
// queue, so that nobody waits behind it, as for Slurm it is pending for a limit and not for nodes.
// Who waits for nodes takes no room from others, but for jobs that have a reservation: nothing that
// starts behind them may delay them, by nodes or by limits.
//
// So a plan may start more jobs than limits allow together.  It is carried out up to the first
// start that is too much, and made anew without those that have no room by then.
//
// Always holds: when a plan is made each job in the queue has room in its limits, and a job that
// waits for a limit is in the list of one of which others run or are in the queue before it; so
// somebody ends some time who lets it in, and a job that is larger than its limit has it alone.
#include <algorithm>
#include <set>
#include <utility>

#include "common/limits.hpp"
#include "simulator/event_engine.hpp"

namespace elastic::simulator {

namespace {

core::PoolCounts without_last(core::PoolCounts nodes, int too_many) {
    for (auto pool = nodes.rbegin(); pool != nodes.rend(); ++pool) {
        const int left = std::max(0, *pool - too_many);
        too_many -= *pool - left;
        *pool = left;
    }
    return nodes;
}

// Nodes of which each takes that part, in what is left of a limit.
int room(const Limit& most, const Limit& used, const NodePart& part) {
    const auto nodes = [](double limit, double now, double each) {
        constexpr double kRounding = 1e-9;
        if (limit <= 0 || each <= 0) return double{kMaxNodes};
        return std::clamp((limit - now) / each + kRounding, 0.0, double{kMaxNodes});
    };
    return static_cast<int>(std::min(
        {nodes(most.nodes, used.nodes, 1), nodes(most.processors, used.processors, part.processors),
         nodes(most.gpus, used.gpus, part.gpus), nodes(most.memory, used.memory, part.memory)}));
}

}  // namespace

// ---- what running jobs have -------------------------------------------------

// The job starts, ends or is to begin anew.
void Engine::count_job(std::uint32_t job, int nodes, int sign) {
    if (limits_.empty()) return;
    for (const std::uint32_t limit : workload_.limits_of[job]) limits_[limit].used.jobs += sign;
    count_limits(job, sign * nodes);
}

// Of `nodes` of the job's nodes.
void Engine::count_limits(std::uint32_t job, int nodes) {
    if (limits_.empty()) return;
    const NodePart& part = workload_.parts[job];
    for (const std::uint32_t limit : workload_.limits_of[job]) {
        Limit& used = limits_[limit].used;
        used.nodes += nodes;
        used.processors += nodes * part.processors;
        used.gpus += nodes * part.gpus;
        used.memory += nodes * part.memory;
        has_less_room_ = has_less_room_ || nodes > 0;
    }
}

// ---- who may start ----------------------------------------------------------

// The limit that keeps the job from starting; kNoLimit: none does.  Components come in one by one;
// who stopped one of them would stop all.
std::uint32_t Engine::limit_on_start(std::uint32_t job) const {
    if (is_component(job)) return kNoLimit;
    for (const std::uint32_t limit : workload_.limits_of[job]) {
        const Limit &most = workload_.limits[limit], &used = limits_[limit].used;
        if (used.jobs == 0) continue;
        if (most.jobs > 0 && used.jobs >= most.jobs) return limit;
        if (workload_.jobs[job].nodes > room(most, used, workload_.parts[job])) return limit;
    }
    return kNoLimit;
}

// Whether the job may join the queue; else it waits for a limit.
bool Engine::admit(std::uint32_t job) {
    const std::uint32_t limit = limits_.empty() ? kNoLimit : limit_on_start(job);
    if (limit != kNoLimit) hold(job, limit);
    return limit == kNoLimit;
}

void Engine::hold(std::uint32_t job, std::uint32_t limit) {
    std::vector<std::uint32_t>& held = limits_[limit].held;
    held.insert(std::ranges::upper_bound(held, job, by_queue()), job);
}

// How many of these, which have room, are to be looked at: those that have room together, and some
// that may start in place of these.
std::size_t Engine::first_with_room(const std::vector<std::uint32_t>& jobs) {
    constexpr std::size_t kBehind = 32;
    std::size_t looked_at = 0;
    std::vector<std::uint32_t> counted;
    for (; looked_at < jobs.size() && looked_at < counted.size() + kBehind; ++looked_at)
        if (limit_on_start(jobs[looked_at]) == kNoLimit) {
            counted.push_back(jobs[looked_at]);
            count_job(counted.back(), workload_.jobs[counted.back()].nodes, +1);
        }
    for (const std::uint32_t job : counted) count_job(job, workload_.jobs[job].nodes, -1);
    return looked_at;
}

// Running jobs have less of the job's limits than before.
void Engine::let_in(std::uint32_t job) {
    if (limits_.empty()) return;
    std::vector<std::uint32_t> admitted;
    for (const std::uint32_t limit : workload_.limits_of[job]) {
        std::vector<std::uint32_t> with_room;
        for (const std::uint32_t held : std::exchange(limits_[limit].held, {}))
            if (admit(held)) with_room.push_back(held);
        const std::size_t looked_at = first_with_room(with_room);
        std::vector<std::uint32_t>& held = limits_[limit].held;
        const auto others = with_room.begin() + static_cast<std::ptrdiff_t>(looked_at);
        const std::size_t before = held.size();
        held.insert(held.end(), others, with_room.end());
        std::ranges::inplace_merge(held, held.begin() + static_cast<std::ptrdiff_t>(before),
                                   by_queue());
        admitted.insert(admitted.end(), with_room.begin(), others);
    }
    if (admitted.empty()) return;
    std::ranges::sort(admitted, by_queue());
    join_queue(admitted);
    unsettled_ = true;
}

// The jobs that the plan has reservations for, in the order of the queue.
void Engine::note_reserved(const core::Plan& plan) {
    reserved_.clear();
    for (const core::Action& action : plan.actions)
        if (action.kind == core::ActionKind::reserve)
            reserved_.emplace_back(action.place, static_cast<std::uint32_t>(action.job - 1));
    std::ranges::sort(reserved_);
}

// The same for a job at this place of the queue: those with reservations before it keep the room
// that they have.
std::uint32_t Engine::limit_on_start(std::uint32_t job, std::uint32_t place) {
    std::uint32_t limit = limit_on_start(job);
    if (limit != kNoLimit || workload_.limits_of[job].empty()) return limit;
    std::size_t counted = 0;
    std::vector<std::uint32_t> kept;
    for (; counted < reserved_.size() && reserved_[counted].first < place; ++counted)
        if (const std::uint32_t before = reserved_[counted].second;
            limit_on_start(before) == kNoLimit) {
            count_job(before, workload_.jobs[before].nodes, +1);
            kept.push_back(before);
        }
    limit = limit_on_start(job);
    for (const std::uint32_t before : kept) count_job(before, workload_.jobs[before].nodes, -1);
    return limit;
}

// The part of a plan that is carried out.
std::span<const core::Action> Engine::within_limits(const core::Plan& plan) {
    std::span<const core::Action> actions = plan.actions;
    if (limits_.empty()) return actions;
    note_reserved(plan);
    std::vector<std::pair<std::uint32_t, int>> counted;
    for (std::size_t i = 0; i < actions.size(); ++i) {
        if (actions[i].kind != core::ActionKind::start) continue;
        const std::uint32_t job = actions[i].job - 1;
        if (limit_on_start(job, actions[i].place) != kNoLimit) {
            actions = actions.first(i);
            has_less_room_ = true;
            break;
        }
        counted.emplace_back(job, size_of_start(actions[i]));
        count_job(job, counted.back().second, +1);
    }
    for (const auto& [job, nodes] : counted) count_job(job, nodes, -1);
    return actions;
}

// Those who have no room any more leave the queue, and what they were promised is void.
void Engine::hold_limited() {
    if (!std::exchange(has_less_room_, false)) return;
    std::vector<std::pair<std::uint32_t, std::uint32_t>> limited;
    std::vector<std::uint32_t> kept;
    std::set<std::uint32_t> reserved;
    for (const auto& [place, job] : reserved_) reserved.insert(job);
    const core::QueueIndex& queue = cluster_.index().queue;
    for (std::uint32_t place = queue.next(0); place < queue.end(); place = queue.next(place + 1)) {
        const auto job = static_cast<std::uint32_t>(cluster_.snapshot().pending[place].id - 1);
        const std::uint32_t limit = limit_on_start(job);
        if (limit != kNoLimit) limited.emplace_back(job, limit);
        if (limit != kNoLimit || !reserved.contains(job)) continue;
        count_job(job, workload_.jobs[job].nodes, +1);
        kept.push_back(job);
    }
    for (const std::uint32_t job : kept) count_job(job, workload_.jobs[job].nodes, -1);
    has_less_room_ = false;
    for (const auto& [job, limit] : limited) {
        cluster_.withdraw(job + 1);
        std::erase(deferred_, job + 1);
        outcome_.jobs[job].promised = kNever;
        --pending_;
        hold(job, limit);
    }
}

// ---- sizes ------------------------------------------------------------------

// Nodes by which a running job may grow.
int Engine::room_to_grow(std::uint32_t job) const {
    int least = kMaxNodes;
    for (const std::uint32_t limit : workload_.limits_of[job])
        least = std::min(least,
                         room(workload_.limits[limit], limits_[limit].used, workload_.parts[job]));
    return least;
}

// Tells the planner how large running jobs may become by now.
void Engine::bound_growth() {
    if (limits_.empty() || !resizes_) return;
    for (const core::RunningJob& running : cluster_.snapshot().running) {
        const auto job = static_cast<std::uint32_t>(running.id - 1);
        if (workload_.jobs[job].elasticity < 0 || workload_.limits_of[job].empty()) continue;
        const core::Annotation& annotation = progress(job).how->annotation;
        const int size = core::total(running.held);
        cluster_.bound(running.id,
                       std::clamp(size + room_to_grow(job), size, std::max(size, annotation.max)),
                       annotation.pref);
    }
}

// The nodes with which a job starts: those of the plan, or if a limit has no room for all of them
// as many as the job asks for.
core::PoolCounts Engine::nodes_of_start(const core::Action& start) const {
    const std::uint32_t job = start.job - 1;
    const int too_many = start.size_after - workload_.jobs[job].nodes;
    if (limits_.empty() || too_many <= 0 || start.size_after <= room_to_grow(job))
        return start.nodes;
    return without_last(start.nodes, too_many);
}

int Engine::size_of_start(const core::Action& start) const {
    const std::uint32_t job = start.job - 1;
    if (shares_nodes(job)) return workload_.jobs[job].nodes;
    return start.size_after - (core::total(start.nodes) - core::total(nodes_of_start(start)));
}

// Of the nodes of a growth those for which there is room, up to an allowed size.
core::PoolCounts Engine::nodes_of_growth(const core::Action& growth) const {
    const std::uint32_t job = growth.job - 1;
    const int wanted = core::total(growth.nodes);
    if (limits_.empty() || wanted <= room_to_grow(job)) return growth.nodes;
    const int size = growth.size_after - wanted, most = size + room_to_grow(job);
    const core::SizeRule& sizes =
        workload_.elasticities[workload_.jobs[job].elasticity].annotation.sizes;
    return without_last(growth.nodes,
                        growth.size_after - std::max(size, sizes.largest(size, most)));
}

}  // namespace elastic::simulator
