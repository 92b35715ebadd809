// SPDX-License-Identifier: MIT
// Recorded passes: written, read, and hostile.
#include "core/pass/recording.hpp"

#include "snapshot_builder.hpp"
#include "testing.hpp"

using namespace elastic;
using namespace elastic::core;
using namespace elastic::testing;

namespace {

// One needs a node, each of three can give one: who does is drawn.
PlanInputs example() {
    SnapshotBuilder b({0});
    for (JobId id : {1, 2, 3}) b.run(id, malleable(1, 4, 4), {4}, 1000);
    b.queue(9, rigid(1), 100);
    return {"lina-default/random", *preset("lina-default/random"), 7, b.snapshot};
}

std::string plan_of(const PlanInputs& inputs) {
    Planner planner;
    return to_json(make_plan(planner, inputs)).dump();
}

Json recorded(const PlanInputs& inputs) {
    Planner planner;
    return to_json(inputs, make_plan(planner, inputs));
}

Result<Recording> read(const std::string& text) {
    const Result<Json> json = Json::parse(text);
    check_ok(json);
    return recording_from_json(*json);
}

}  // namespace

TEST(a_recording_survives_json) {
    const std::string text = recorded(example()).dump();
    const Result<Recording> again = read(text);
    check_ok(again);
    check_eq(recorded(again->inputs).dump(), text);
    check_eq(again->actions->size(), 2u);
    check_eq(plan_of(again->inputs), plan_of(example()));
}

TEST(what_is_drawn_follows_from_the_seed) {
    PlanInputs inputs = example();
    const std::string plan = plan_of(inputs);
    check_eq(plan_of(inputs), plan);
    bool differs = false;
    for (inputs.seed = 0; inputs.seed < 20; ++inputs.seed) differs |= plan_of(inputs) != plan;
    check_that(differs);
}

TEST(a_recording_need_not_have_a_plan) {
    const Json whole = recorded(example());
    Json without = Json::object();
    for (const std::string& key : whole.keys())
        if (key != "plan") without.set(key, whole.get(key));
    const Result<Recording> read = recording_from_json(without);
    check_ok(read);
    check_that(!read->actions);
}

TEST(everything_else_must_be_there) {
    const Json whole = recorded(example());
    for (const std::string& missing : whole.keys()) {
        if (missing == "plan") continue;
        Json json = Json::object();
        for (const std::string& key : whole.keys())
            if (key != missing) json.set(key, whole.get(key));
        check_that(!recording_from_json(json));
        for (const Json& wrong : {Json(), Json("x"), Json(-1), Json::array()}) {
            if (missing == "policy" && wrong.text() == "x") continue;
            json.set(missing, wrong);
            check_that(!recording_from_json(json));
        }
    }
}

TEST(each_choice_must_be_there_and_known) {
    Json json = recorded(example());
    const Json choices = json.get("choices");
    for (const std::string& missing : choices.keys()) {
        Json fewer = Json::object();
        for (const std::string& key : choices.keys())
            if (key != missing) fewer.set(key, choices.get(key));
        json.set("choices", fewer);
        const Result<Recording> read = recording_from_json(json);
        check_that(!read && read.error().message.find(missing) != std::string::npos);
    }
    json.set("choices", choices);
    Json more = choices;
    more.set("Colour", "red");
    check_error(recording_from_json(json),
                "choices: Colour is no choice of a policy, see elastic.conf(5)");
}

TEST(a_wrong_part_is_named) {
    Json json = recorded(example());
    json.set("plan", Json::object());
    check_error(recording_from_json(json), "plan: actions must be an array");
    json.set("snapshot", Json::object());
    check_error(recording_from_json(json), "snapshot: now is missing");
    json.get("choices").set("VictimOrder", "tallest");
    check_error(recording_from_json(json),
                "choices: VictimOrder=tallest: one of random, gain, shrinkable, expansions, "
                "adaptation-cost, remaining-time, scalability, above-preferred, use, slowdown");
    check_error(recording_from_json(Json::array()), "a recorded pass must be an object");
}

TEST(actions_are_described_for_people) {
    Action action;
    action.kind = ActionKind::shrink;
    action.job = 7;
    action.nodes = {1, 1};
    action.size_after = 4;
    action.beneficiary = 9;
    action.reason = Reason::for_pending_job;
    check_eq(describe(action, 0),
             "job 7: shrink to 4 nodes, 2 fewer, for job 9 (a pending job needs the nodes)");
    action.kind = ActionKind::reserve;
    action.beneficiary = 0;
    action.time = 130;
    action.reason = Reason::head_of_queue;
    check_eq(describe(action, 100), "job 7: reserve 2 nodes in 30 s (head of the queue)");
}

TEST(a_recorded_planner_keeps_what_its_last_plan_followed_from) {
    PlanInputs inputs = example();
    Config config;
    config.policy_name = inputs.policy_name;
    config.policy = inputs.policy;
    RecordedPlanner planner(7);
    check_eq(planner.recorded(), "");
    check_eq(to_json(planner.plan(config, inputs.snapshot)).dump(), plan_of(inputs));
    check_eq(planner.recorded(), recorded(inputs).dump());
    inputs.seed = 8;  // each plan has its own
    (void)planner.plan(config, inputs.snapshot);
    check_eq(planner.recorded(), recorded(inputs).dump());
}
