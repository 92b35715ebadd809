// SPDX-License-Identifier: GPL-2.0-or-later
// All components are asked about before any of them has nodes, each on those that it is to have and
// within what the limits of accounting leave to it beside the others.  Then each is given its
// nodes, those first of which it is least sure that Slurm finds them (partly used ones), and when
// all have theirs they are launched.  As with Slurm's backfill, no node is of two of them.
//
// Where Slurm refuses one all the same, those that have nodes are taken back, as Slurm's backfill
// does, and wait until the credentials of that start are void.
#include "slurm/act/component_starter.hpp"

#include <algorithm>

#include "common/log.hpp"
#include "slurm/read/eligibility.hpp"
#include "slurm/records.hpp"

namespace elastic::slurm {

const core::PendingJob& ComponentStarter::pending(const core::Action& action) const {
    return reading_.view.snapshot.pending[action.place];
}

const Attempt& ComponentStarter::attempt(const core::Action& action) const {
    return reading_.queue.attempts()[reading_.view.places[action.place].attempt];
}

int ComponentStarter::size(const Component& component) const {
    const bool is_counted =
        !pending(*component.action).shares_nodes && component.job->details->max_nodes > 0;
    return is_counted ? component.action->size_after : kAsRequested;
}

Started ComponentStarter::ask_limits(const Component& component, LimitsTogether& limits) const {
    const auto found = find(attempt(*component.action));
    if (!found) return {StartOutcome::refused, nullptr, "its partition or reservation is gone"};
    auto limit = limits.on_start(component.job, *found, component.action->size_after);
    if (limit) return {StartOutcome::limited, nullptr, *std::move(limit)};
    return {StartOutcome::started, component.job, ""};
}

Started ComponentStarter::ask(const Component& component) {
    return ask_whether_startable(
        component.job, attempt(*component.action),
        placement_.for_start(component.job, *component.action, size(component)), size(component));
}

// Whether all of them could start, as far as is known.
bool ComponentStarter::ask(const std::vector<Component>& components, Result& result) {
    const auto all = [&](auto ask_one) {
        return std::ranges::all_of(components, [&](const Component& component) {
            result.refused = component.action;
            result.started = ask_one(component);
            return result.started.outcome == StartOutcome::started;
        });
    };
    {
        LimitsTogether limits;
        if (!all([&](const Component& one) { return ask_limits(one, limits); })) return false;
    }
    return all([&](const Component& one) { return ask(one); });
}

Started ComponentStarter::allocate(const Component& component, const NodeSet& of_others,
                                   const core::Plan& plan) {
    const NodeSet idle = idle_nodes();
    NodeSet allowed = placement_.for_start(component.job, *component.action, size(component));
    allowed -= of_others;
    Started started = allocate_job(component.job, attempt(*component.action), allowed,
                                   size(component), end_of_hole(plan, *component.action));
    if (started.outcome == StartOutcome::started)
        placement_.started(component.job, *component.action, idle);
    return started;
}

ComponentStarter::Result ComponentStarter::start(const std::vector<const core::Action*>& starts,
                                                 const core::Plan& plan) {
    std::vector<Component> components;
    for (const core::Action* action : starts)
        components.push_back({action, pending_job(action->job)});
    if (std::ranges::any_of(components, [](const Component& one) { return !one.job; }))
        return {{StartOutcome::refused, nullptr, "a component waits no more"}, nullptr, {}};
    Result result;
    for (const Component& component : components) result.jobs.push_back(component.job);
    if (!ask(components, result)) return result;
    std::ranges::stable_partition(components, [](const Component& one) {
        return core::total(one.action->nodes) < one.action->size_after;
    });
    NodeSet taken;
    for (auto next = components.begin(); next != components.end(); ++next) {
        result.started = allocate(*next, taken, plan);
        result.refused = next->action;
        if (result.started.outcome == StartOutcome::started) {
            taken |= NodeSet(next->job->node_bitmap);
            continue;
        }
        for (auto one = components.begin(); one != next; ++one) {
            log_info("job {}: gives its nodes back: {} has none: {}", one->job->job_id,
                     next->job->job_id, result.started.why);
            take_back(one->job);
        }
        return result;
    }
    launch(result.jobs);
    return result;
}

}  // namespace elastic::slurm
