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
#include "core/model/config.hpp"
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

// Makes plans, and keeps all that the last one followed from: what it was read from may have been
// read anew before anybody asks.
class RecordedPlanner {
  public:
    // Each plan has a seed of its own, so that it can be made again; the first one is above 0.
    explicit RecordedPlanner(std::int64_t first_seed) : next_seed_(first_seed) {}

    // The plan stays valid until the next call.
    const Plan& plan(const Config&, const Snapshot&);
    // The last plan with its inputs as JSON text; "" before the first.
    std::string recorded() const;

  private:
    Planner planner_;
    std::int64_t next_seed_;
    PlanInputs inputs_;  // their seed is 0 before the first plan
    Plan plan_;          // made of these
};

struct Recording {
    PlanInputs inputs;
    std::optional<std::vector<Json>> actions;  // of the plan as it was written; absent without one
};

// From any source.  All choices must be there, since the plan depends on each; an error says where
// in the text what is wrong.
Result<Recording> recording_from_json(const Json&);

}  // namespace elastic::core
