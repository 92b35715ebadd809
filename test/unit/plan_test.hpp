// SPDX-License-Identifier: MIT
// A plan as text, one action a line, so that a test says exactly what it expects:
//
//     shrink 1 [2] ->6 for 9
//     start 9 [4] ->4 deferred
#pragma once

#include <string>

#include "core/model/snapshot.hpp"
#include "core/pass/planner.hpp"
#include "snapshot_builder.hpp"
#include "testing.hpp"

namespace elastic::testing {

inline std::string show(const core::Action& action, Time now) {
    std::string text = fmt::format("{} {}", core::to_string(action.kind), action.job);
    if (action.op != 0) text += fmt::format(" op{}", action.op);
    if (action.kind == core::ActionKind::deny)
        return text + fmt::format(": {}\n", core::to_string(action.reason));
    text += fmt::format(" [{}]", fmt::join(action.nodes, ","));
    if (action.size_after != 0) text += fmt::format(" ->{}", action.size_after);
    if (action.deferred) text += " deferred";
    if (action.beneficiary != 0) text += fmt::format(" for {}", action.beneficiary);
    if (action.kind == core::ActionKind::reserve) text += fmt::format(" at +{}", action.time - now);
    if (action.anew) text += " anew";
    if (action.reason == core::Reason::lent) text += " lent";
    if (action.reason == core::Reason::backfilled) text += " backfilled";
    if (action.reason == core::Reason::nodes_came_free) text += " nodes came free";
    if (action.reason == core::Reason::by_trading) text += " by trading";
    return text + "\n";
}

inline std::string plan_text(const core::Snapshot& snapshot, const core::Policy& policy) {
    const Result<void> valid = core::validate(snapshot);
    ck_assert_msg(static_cast<bool>(valid), "%s", valid ? "" : valid.error().message.c_str());
    core::Planner planner;
    core::Rng rng(1);
    std::string text;
    for (const core::Action& action : planner.plan(snapshot, policy, rng).actions)
        text += show(action, snapshot.now);
    return text;
}

inline std::string plan_text(const core::Snapshot& snapshot,
                             std::string_view policy = "lina-default") {
    return plan_text(snapshot, *core::preset(policy));
}

}  // namespace elastic::testing
