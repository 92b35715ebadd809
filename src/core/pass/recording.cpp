// SPDX-License-Identifier: MIT
// Choices are written by their names in elastic.conf, so that a recording can be
// read by people and says the same to another version.
#include "core/pass/recording.hpp"

#include <cstdint>
#include <limits>

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
    if (!json.is_object()) return error("choices must be an object");
    for (const std::string& key : json.keys())
        if (Policy any; !set_choice(any, key, "").known)
            return error("choices: {} is no choice of a policy, see elastic.conf(5)",
                         printable(key));
    Policy policy;
    for (const auto& choice : choices_of(policy)) {
        const Result<std::string> value = json.need_string(choice.key, kMaxValue);
        if (!value) return error("choices: {}", value.error().message);
        const Result<void> done = set_choice(policy, choice.key, *value).result;
        if (!done) return error("choices: {}", done.error().message);
    }
    return policy;
}

Result<std::vector<Json>> actions_from_json(const Json& plan) {
    const Json list = plan.is_object() ? plan.get("actions") : Json();
    if (!list.is_array()) return error("plan: actions must be an array");
    std::vector<Json> actions;
    for (std::size_t i = 0; i < list.size(); ++i) actions.push_back(list.at(i));
    return actions;
}

}  // namespace

const Plan& make_plan(Planner& planner, const PlanInputs& inputs) {
    Rng rng(static_cast<std::uint64_t>(inputs.seed));
    return planner.plan(inputs.snapshot, inputs.policy, rng);
}

Json to_json(const PlanInputs& inputs, const Plan& plan) {
    return Json::object()
        .set("policy", inputs.policy_name)
        .set("choices", choices_to_json(inputs.policy))
        .set("seed", inputs.seed)
        .set("snapshot", to_json(inputs.snapshot))
        .set("plan", to_json(plan));
}

Result<Recording> recording_from_json(const Json& json) {
    if (!json.is_object()) return error("a recorded pass must be an object");
    Recording recording;
    PlanInputs& inputs = recording.inputs;
    auto name = json.need_string("policy", kMaxValue);
    if (!name) return name.error();
    inputs.policy_name = *std::move(name);
    auto policy = policy_from_json(json.get("choices"));
    if (!policy) return policy.error();
    inputs.policy = *policy;
    const auto seed = json.need_int("seed", 0, std::numeric_limits<std::int64_t>::max() - 1);
    if (!seed) return seed.error();
    inputs.seed = *seed;
    auto snapshot = snapshot_from_json(json.get("snapshot"));
    if (!snapshot) return error("snapshot: {}", snapshot.error().message);
    inputs.snapshot = *std::move(snapshot);
    if (!json.has("plan")) return recording;
    auto actions = actions_from_json(json.get("plan"));
    if (!actions) return actions.error();
    recording.actions = *std::move(actions);
    return recording;
}

}  // namespace elastic::core
