// SPDX-License-Identifier: MIT
// Jobs that have an evolution profile: when their steps begin, what those ask for and wait for.
//
// Always holds: while a step waits, its job stands still on both clocks, and has no end.
#include <algorithm>
#include <utility>

#include "simulator/event_engine.hpp"

namespace elastic::simulator {

bool Engine::has_profile(std::uint32_t job) const {
    const int elasticity = workload_.jobs[job].elasticity;
    return !workload_.elasticities[elasticity].annotation.profile.empty();
}

bool Engine::is_for_step(const core::Action& action) const {
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
        const Progress& progress = this->progress(job);
        const Duration standing = evolution.waits() ? now_ - evolution.waiting_since() : 0;
        cluster_.follow_profile(job + 1, evolution.remaining(now_, held, progress.how->annotation),
                                progress.belief.estimated_end() + standing);
        const int lack = evolution.wanted() - held;
        if (evolution.waits()) requests.push_back({stepping.op, job + 1, lack, lack, kNever});
    }
    std::ranges::sort(requests, {}, &core::GrowthRequest::op);
    for (const core::GrowthRequest& request : requests) cluster_.ask(request);
}

// Its time begins now.
void Engine::grant_step(const core::Action& action) {
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

}  // namespace elastic::simulator
