// SPDX-License-Identifier: MIT
// What the jobs that run need for the later steps of their evolution profiles is taken before
// anything else is decided: each step at its time, as it was promised when the job started.
//
// Where not all can be on time (a job has outrun its limit, nodes have failed), those that can are;
// of a job that is late nobody knows when its nodes come free before it is planned when it goes on.
// So the late ones are planned in the order in which they started, each once it can end on nodes
// that are there or come free from jobs planned before: the order of the banker's algorithm.
//
// Always holds: jobs that each hold a part and need more do not wait for each other.
#include <algorithm>
#include <utility>
#include <vector>

#include "core/pass/stages/stages.hpp"

namespace elastic::core {
namespace {

// What agreements in flight bring the job, or take from it.
PoolCounts coming(const Snapshot& snapshot, JobId job) {
    PoolCounts nodes(snapshot.pools.size(), 0);
    for (const Promise& promise : snapshot.promises) {
        if (promise.job == job && promise.kind == ResizeKind::shrink)
            nodes = difference(nodes, promise.nodes);
        else if (promise.job == job || promise.beneficiary == job)
            nodes = sum(nodes, promise.nodes);
    }
    return nodes;
}

using Jobs = std::vector<Schedule::StepsLeft>;

// Plans the jobs whose steps can all be on time, and returns the others.
Jobs plan_on_time(Schedule& schedule, Jobs jobs) {
    Jobs late;
    for (;;) {
        const std::vector<std::uint32_t> missed = schedule.plan_steps_on_time(jobs);
        if (missed.empty()) return late;
        const auto is_missed = [&](const Schedule::StepsLeft& left) {
            return std::ranges::find(missed, left.running) != missed.end();
        };
        // The others may have counted on what these hold.
        for (Schedule::StepsLeft& left : jobs) {
            if (!is_missed(left)) continue;
            schedule.keep_nodes(left);
            late.push_back(left);
        }
        std::erase_if(jobs, is_missed);
    }
}

// Plans the jobs that can end on what is there; returns the others.
Jobs plan_late(Schedule& schedule, Jobs jobs) {
    Jobs left_over;
    for (Schedule::StepsLeft& left : jobs) {
        schedule.lift_later_steps(schedule.snapshot().running[left.running].id);
        if (schedule.plan_steps_late(left)) continue;
        schedule.keep_nodes(left);
        left_over.push_back(std::move(left));
    }
    return left_over;
}

}  // namespace

void plan_later_steps(Pass& pass) {
    Schedule& schedule = pass.schedule;
    if (schedule.index().profiles_running == 0) return;
    const Snapshot& snapshot = schedule.snapshot();
    const auto by_start = [&](const Schedule::StepsLeft& left) {
        const RunningJob& job = snapshot.running[left.running];
        return std::pair(job.start, job.id);
    };
    Jobs jobs;
    for (std::uint32_t i = 0; i < snapshot.running.size(); ++i)
        if (!snapshot.running[i].elastic.profile.empty())
            jobs.push_back(schedule.steps_left(i, coming(snapshot, snapshot.running[i].id)));
    std::ranges::sort(jobs, {}, by_start);
    Jobs late = plan_on_time(schedule, std::move(jobs));
    std::ranges::sort(late, {}, by_start);
    for (std::size_t before = late.size() + 1; late.size() < before;) {
        before = late.size();
        late = plan_late(schedule, std::move(late));
    }
    // Planning does not help those that are left: somebody has to end or to be ended.
    for (const Schedule::StepsLeft& left : late)
        schedule.lift_later_steps(snapshot.running[left.running].id);
    for (Schedule::StepsLeft& left : late) schedule.plan_steps_in_turn(std::move(left));
}

}  // namespace elastic::core
