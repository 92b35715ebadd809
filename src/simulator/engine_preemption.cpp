// SPDX-License-Identifier: MIT
// Jobs that end others to have their nodes.  The queue is ordered by their levels, then as ever;
// who is ended joins it again where it was, and begins its work anew.  Components of a
// heterogeneous job end nobody, as with the plugin; they are ended and start again together.
//
// Always holds: of a run that was ended no event is left that counts.
#include <algorithm>
#include <tuple>

#include "simulator/event_engine.hpp"

namespace elastic::simulator {

namespace {

// Those that wait first; the others get their turn in later passes.
constexpr std::size_t kMostPreemptors = 16;

}  // namespace

bool Engine::comes_before(std::uint32_t job, std::uint32_t other) const {
    const auto rank = [&](std::uint32_t of) {
        return std::tuple(preempts() ? -workload_.levels[of] : 0,
                          workload_.ranks.empty() ? 0 : workload_.ranks[of],
                          workload_.jobs[of].submit, first_component(of), of);
    };
    return rank(job) < rank(other);
}

// In Slurm's order: the lowest level first, of a level the smallest.
std::vector<JobId> Engine::victims_of(int level) const {
    std::vector<std::tuple<int, int, JobId>> found;
    for (const core::RunningJob& job : cluster_.snapshot().running)
        if (const int its = workload_.levels[job.id - 1]; its < level)
            found.emplace_back(its, core::total(job.held), job.id);
    std::ranges::sort(found);
    std::vector<JobId> victims;
    for (const auto& [its, nodes, id] : found) victims.push_back(id);
    return victims;
}

void Engine::tell_preemptors() {
    if (!preempts()) return;
    std::vector<core::Preemptor> preemptors;
    const core::QueueIndex& queue = cluster_.index().queue;
    for (std::uint32_t place = queue.next(0);
         place < queue.end() && preemptors.size() < kMostPreemptors;
         place = queue.next(place + 1)) {
        const JobId job = cluster_.snapshot().pending[place].id;
        if (is_component(job - 1)) continue;
        std::vector<JobId> victims = victims_of(workload_.levels[job - 1]);
        // Behind it in the queue nobody has a higher level.
        if (victims.empty()) break;
        preemptors.push_back({place, std::move(victims), !options_.shrinks_first, true});
    }
    cluster_.set_preemptors(std::move(preemptors));
}

// What it has asked for is of no use to it.
void Engine::drop_requests(std::uint32_t job) {
    for (Asked& asked : asked_)
        if (asked.job == job && !asked.answered) deny(asked, core::Reason::no_nodes);
}

void Engine::leave_step(std::uint32_t job) {
    steps_waiting_ -= stepping_[job].op != 0;
    stepping_.erase(job);
}

// The job leaves its nodes; what it has held is returned, in node-seconds.
double Engine::give_up(std::uint32_t job) {
    --running_;
    cluster_.end(job + 1);
    if (workload_.jobs[job].elasticity < 0) {
        ++runs_[job];
        const JobResult& result = outcome_.jobs[job];
        const double held = (now_ - result.start) * result.nodes_end;
        outcome_.counters.busy += held;
        add_segment(job, result.start, now_, Segment::Kind::run);
        return held;
    }
    book(job);
    runs_[job] = progress(job).version + 1;
    if (has_profile(job)) leave_step(job);
    free_slots_.push_back(slot_[job]);
    const double held = progress(job).held;
    slot_[job] = kNoSlot;
    return held;
}

void Engine::preempt(const core::Action& action) {
    const std::uint32_t job = action.job - 1;
    is_component(job) ? preempt_whole(job) : preempt(job);
}

// A plan names each component that is to go, and the first takes all others that run with it.
void Engine::preempt_whole(std::uint32_t component) {
    for (const std::uint32_t job : workload_.heterogeneous[whole_[component]])
        if (is_running(job)) preempt(job);
}

bool Engine::is_running(std::uint32_t job) const {
    return std::ranges::any_of(cluster_.snapshot().running, [&](const core::RunningJob& running) {
        return running.id == job + 1;
    });
}

void Engine::preempt(std::uint32_t job) {
    const int nodes = outcome_.jobs[job].nodes_end;
    drop_requests(job);
    outcome_.counters.lost += give_up(job);
    count_job(job, nodes, -1);
    let_in(job);
    ++outcome_.counters.preempted;
    if (options_.observer) options_.observer->preempted(now_, job, nodes);
    join_queue(job);
}

}  // namespace elastic::simulator
