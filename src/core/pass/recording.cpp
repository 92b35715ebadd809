// SPDX-License-Identifier: MIT
// Choices are written by their names in elastic.conf, so that a recording can be read by people and
// says the same to another version.
#include "core/pass/recording.hpp"

#include <cstdint>
#include <limits>

#include "common/record.hpp"
#include "common/text.hpp"

namespace elastic::core {
namespace {

constexpr std::size_t kMaxValue = 64;  // characters of a name or a choice

Json choices_to_json(const Policy& policy) {
    Json json = Json::object();
    for (const auto& [key, value] : choices_of(policy)) json.set(key, value);
    return json;
}

Result<Policy> policy_from_json(const Json& json) {
    if (!json.is_object()) return error("must be an object, not {}", json.describe());
    for (const std::string& key : json.keys())
        if (Policy any; !set_choice(any, key, "").known)
            return error("{} is no choice of a policy, see elastic.conf(5)", printable(key));
    Policy policy;
    FieldReader reader(json);
    for (const auto& choice : choices_of(policy)) {
        std::string value;
        reader.required(choice.key, value, Text{kMaxValue});
        if (const Result<void> read = reader.result(); !read) return read.error();
        const Result<void> done = set_choice(policy, choice.key, value).result;
        if (!done) return done.error();
    }
    return policy;
}

struct Choices {
    Json write(const Policy& policy) const { return choices_to_json(policy); }
    Result<void> read(const Json& json, Policy& policy) const {
        Result<Policy> found = policy_from_json(json);
        if (!found) return error(": {}", found.error().message);
        policy = *found;
        return {};
    }
};

struct Valid {
    Json write(const Snapshot& snapshot) const { return to_json(snapshot); }
    Result<void> read(const Json& json, Snapshot& snapshot) const {
        Result<Snapshot> found = snapshot_from_json(json);
        if (!found) return error(": {}", found.error().message);
        snapshot = *std::move(found);
        return {};
    }
};

Result<std::vector<Json>> actions_from_json(const Json& plan) {
    const Json list = plan.is_object() ? plan.get("actions") : Json();
    if (!list.is_array()) return error("plan: actions must be an array");
    std::vector<Json> actions;
    for (std::size_t i = 0; i < list.size(); ++i) actions.push_back(list.at(i));
    return actions;
}

}  // namespace

template <class F>
void fields(F& f, PlanInputs& inputs) {
    f.required("policy", inputs.policy_name, Text{kMaxValue});
    f.required("choices", inputs.policy, Choices{});
    f.required("seed", inputs.seed, Whole{0, std::numeric_limits<std::int64_t>::max() - 1});
    f.required("snapshot", inputs.snapshot, Valid{});
}

const Plan& make_plan(Planner& planner, const PlanInputs& inputs) {
    Rng rng(static_cast<std::uint64_t>(inputs.seed));
    return planner.plan(inputs.snapshot, inputs.policy, rng);
}

Json to_json(const PlanInputs& inputs, const Plan& plan) {
    return write_record(inputs).set("plan", to_json(plan));
}

const Plan& RecordedPlanner::plan(const Config& config, const Snapshot& snapshot) {
    inputs_ = {config.policy_name, config.policy, next_seed_++, snapshot};
    plan_ = make_plan(planner_, inputs_);
    return plan_;
}

std::string RecordedPlanner::recorded() const {
    return inputs_.seed == 0 ? "" : to_json(inputs_, plan_).dump();
}

Result<Recording> recording_from_json(const Json& json) {
    if (!json.is_object()) return error("a recorded pass must be an object");
    Recording recording;
    if (Result<void> done = read_record(json, recording.inputs); !done) return done.error();
    if (!json.has("plan")) return recording;
    auto actions = actions_from_json(json.get("plan"));
    if (!actions) return actions.error();
    recording.actions = *std::move(actions);
    return recording;
}

}  // namespace elastic::core
