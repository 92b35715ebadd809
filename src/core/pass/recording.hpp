// SPDX-License-Identifier: MIT
// All that a plan follows from, and the plan: what `selastic snapshot` prints, and what it takes to
// make the same decision again at a desk.
//
//   {"policy": NAME, "choices": {KEY: VALUE, ...}, "seed": N, "snapshot": {...},
//    "plan": {"actions": [...]}}
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/json.hpp"
#include "core/pass/planner.hpp"

namespace elastic::core {

struct PlanInputs {
    std::string policy_name;  // for people
    Policy policy;
    std::int64_t seed = 0;  // of the pass's Rng, from 0
    Snapshot snapshot;
};

// The plan is the planner's, which see for how long it stays.
const Plan& make_plan(Planner&, const PlanInputs&);

Json to_json(const PlanInputs&, const Plan&);

struct Recording {
    PlanInputs inputs;
    std::optional<std::vector<Json>> actions;  // of the plan as it was written; absent without one
};

// From any source.  All choices must be there, since the plan depends on each; an error says where
// in the text what is wrong.
Result<Recording> recording_from_json(const Json&);

}  // namespace elastic::core
