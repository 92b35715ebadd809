// SPDX-License-Identifier: MIT
// A plan in words and as JSON.
#include "core/model/plan.hpp"

namespace elastic::core {
namespace {

Json counts_to_json(const PoolCounts& counts) {
    Json array = Json::array();
    for (int nodes : counts) array.push(nodes);
    return array;
}

std::string amount(const Action& action) {
    const int nodes = total(action.nodes);
    switch (action.kind) {
        case ActionKind::start:
            return fmt::format(" on {} nodes", action.size_after);
        case ActionKind::shrink:
            return fmt::format(" to {} nodes, {} fewer", action.size_after, nodes);
        case ActionKind::expand:
            return fmt::format(" to {} nodes, {} more", action.size_after, nodes);
        case ActionKind::reserve:
            return fmt::format(" {} nodes", nodes);
        case ActionKind::deny:
        case ActionKind::withdraw:
            break;
    }
    return fmt::format(" operation {}", action.op);
}

}  // namespace

Json to_json(const Action& action) {
    Json json = Json::object();
    json.set("action", to_string(action.kind));
    json.set("job", action.job);
    json.set("reason", to_string(action.reason));
    if (action.op != 0) json.set("op", static_cast<std::int64_t>(action.op));
    if (action.kind != ActionKind::deny) json.set("nodes", counts_to_json(action.nodes));
    if (action.size_after != 0) json.set("size_after", action.size_after);
    if (action.deferred) json.set("deferred", true);
    if (action.beneficiary != 0) json.set("beneficiary", action.beneficiary);
    if (action.kind == ActionKind::reserve) json.set("time", action.time);
    return json;
}

std::string describe(const Action& action, Time now) {
    std::string text =
        fmt::format("job {}: {}{}", action.job, to_string(action.kind), amount(action));
    if (action.beneficiary != 0) text += fmt::format(", for job {}", action.beneficiary);
    if (action.deferred) text += ", when those nodes are given up";
    if (action.kind == ActionKind::reserve) text += fmt::format(" in {:.0f} s", action.time - now);
    return text + fmt::format(" ({})", to_string(action.reason));
}

std::string_view to_string(ActionKind kind) {
    switch (kind) {
        case ActionKind::start:
            return "start";
        case ActionKind::shrink:
            return "shrink";
        case ActionKind::expand:
            return "expand";
        case ActionKind::reserve:
            return "reserve";
        case ActionKind::deny:
            return "deny";
        case ActionKind::withdraw:
            return "withdraw";
    }
    return "unknown";
}

std::string_view to_string(Reason reason) {
    switch (reason) {
        case Reason::fits:
            return "fits on idle nodes";
        case Reason::backfilled:
            return "delays no reservation";
        case Reason::by_shrinking:
            return "nodes come from shrunk jobs";
        case Reason::nodes_came_free:
            return "idle nodes came free";
        case Reason::for_pending_job:
            return "a pending job needs the nodes";
        case Reason::for_evolving_job:
            return "an evolving job needs the nodes";
        case Reason::nobody_can_use:
            return "no pending job can use the nodes";
        case Reason::lent:
            return "lent until a reserved job can start";
        case Reason::evolving_request:
            return "the job asked for the nodes";
        case Reason::head_of_queue:
            return "head of the queue";
        case Reason::beyond_maximum:
            return "beyond the job's maximum";
        case Reason::no_nodes:
            return "not enough nodes until the deadline";
        case Reason::not_allowed_size:
            return "no size that the job allows";
        case Reason::queue_needs_nodes:
            return "the queue needs the nodes";
    }
    return "unknown";
}

Json to_json(const Plan& plan) {
    Json actions = Json::array();
    for (const Action& action : plan.actions) actions.push(to_json(action));
    return Json::object().set("actions", actions);
}

}  // namespace elastic::core
