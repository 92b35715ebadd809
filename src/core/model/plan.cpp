// SPDX-License-Identifier: MIT
// A plan in words and as JSON.
#include "core/model/plan.hpp"

#include "common/record.hpp"

namespace elastic::core {
namespace {

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
        case ActionKind::preempt:
            return fmt::format(" on {} nodes", nodes);
        case ActionKind::deny:
        case ActionKind::withdraw:
        case ActionKind::trade:
            break;
    }
    return fmt::format(" operation {}", action.op);
}

}  // namespace

template <class F>
void fields(F& f, Action& action) {
    f.required("action", action.kind);
    f.required("job", action.job, Whole{1});
    f.required("reason", action.reason);
    f.optional("op", action.op, Whole{0});
    f.when(action.kind != ActionKind::deny, "nodes", action.nodes, List{Whole{0, kMaxNodes}});
    f.optional("size_after", action.size_after, Whole{0, kMaxNodes});
    f.optional("deferred", action.deferred);
    f.optional("beneficiary", action.beneficiary, Whole{0});
    f.when(action.kind == ActionKind::reserve, "time", action.time, Number{-kNever, kNever});
    f.optional("anew", action.anew);
}

template <class F>
void fields(F& f, Plan& plan) {
    f.required("actions", plan.actions, List{});
}

Json to_json(const Action& action) {
    return write_record(action);
}

Json to_json(const Plan& plan) {
    return write_record(plan);
}

std::string describe(const Action& action, Time now) {
    std::string text =
        fmt::format("job {}: {}{}", action.job, to_string(action.kind), amount(action));
    if (action.beneficiary != 0) text += fmt::format(", for job {}", action.beneficiary);
    if (action.deferred) text += ", when those nodes are given up";
    if (action.kind == ActionKind::reserve) text += fmt::format(" in {:.0f} s", action.time - now);
    return text + fmt::format(" ({})", to_string(action.reason));
}

}  // namespace elastic::core
