// SPDX-License-Identifier: MIT
// selastic-sim replay-snapshot: the plan the controller made, made again.
//
// The plan in the file is compared as text: to be the same it has to say the same, and what it says
// need not be anything this program knows.
#include <fmt/format.h>

#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/atomic_file.hpp"
#include "common/text.hpp"
#include "core/pass/recording.hpp"
#include "program.hpp"
#include "selastic-sim/commands.hpp"

namespace elastic::tools {
namespace {

struct ReplayOptions {
    std::string file;  // "-" for standard input
    bool json = false;
};

constexpr std::size_t kMaxRecording = 512 << 20;  // bytes
constexpr std::size_t kMaxShown = 400;            // characters of a foreign action
constexpr int kExitDiffers = 1;                   // another plan than the recorded one

Result<std::string> read_standard_input() {
    std::string text;
    char buffer[1 << 16];
    while (const std::size_t got = std::fread(buffer, 1, sizeof buffer, stdin)) {
        if (text.size() + got > kMaxRecording)
            return error("standard input: larger than {} bytes", kMaxRecording);
        text.append(buffer, got);
    }
    return text;
}

Result<core::Recording> read_recording(const std::string& file) {
    const bool is_standard_input = file == "-";
    const std::string name = is_standard_input ? "standard input" : file;
    const Result<std::string> text =
        is_standard_input ? read_standard_input() : read_file(file, kMaxRecording);
    if (!text) return text.error();
    const Result<Json> json = Json::parse(*text);
    if (!json) return error("{}: {}", name, json.error().message);
    Result<core::Recording> recording = core::recording_from_json(*json);
    if (!recording)
        return error("{}: {} (selastic snapshot writes such files)", name,
                     recording.error().message);
    return recording;
}

// An action of one plan that stands at the same place in the other as another one, or not at all.
struct Difference {
    std::size_t place;
    std::optional<std::string> recorded, made;
};

std::optional<std::string> text_at(const std::vector<Json>& actions, std::size_t place) {
    if (place >= actions.size()) return std::nullopt;
    return actions[place].dump();
}

std::vector<Difference> differences(const std::vector<Json>& recorded,
                                    const std::vector<Json>& made) {
    std::vector<Difference> list;
    for (std::size_t i = 0; i < std::max(recorded.size(), made.size()); ++i) {
        auto then = text_at(recorded, i), now = text_at(made, i);
        if (then != now) list.push_back({i, std::move(then), std::move(now)});
    }
    return list;
}

void print_text(const core::Recording& recording, const core::Plan& plan,
                const std::vector<Difference>& different) {
    const core::Snapshot& snapshot = recording.inputs.snapshot;
    fmt::print("{} running, {} pending, {} nodes idle; policy {}\n", snapshot.running.size(),
               snapshot.pending.size(), snapshot.idle(), printable(recording.inputs.policy_name));
    for (const core::Action& action : plan.actions)
        fmt::print("{}\n", core::describe(action, snapshot.now));
    if (plan.actions.empty()) fmt::print("nothing to do\n");
    if (!recording.actions) return;
    if (different.empty()) fmt::print("same plan\n");
    for (const Difference& d : different) {
        fmt::print("action {} differs\n", d.place + 1);
        fmt::print("  recorded: {}\n", d.recorded ? printable(*d.recorded, kMaxShown) : "none");
        fmt::print("  made now: {}\n", d.made ? printable(*d.made, kMaxShown) : "none");
    }
}

Json as_json(const core::Recording& recording, const core::Plan& plan,
             const std::vector<Difference>& different) {
    Json json =
        Json::object().set("policy", recording.inputs.policy_name).set("plan", to_json(plan));
    if (!recording.actions) return json;
    json.set("same", different.empty());
    Json list = Json::array();
    for (const Difference& d : different) {
        Json item = Json::object().set("action", d.place + 1);
        if (d.recorded) item.set("recorded", recording.actions->at(d.place));
        if (d.made) item.set("made", to_json(plan.actions[d.place]));
        list.push(item);
    }
    return json.set("differences", list);
}

std::vector<Json> actions_of(const core::Plan& plan) {
    std::vector<Json> actions;
    for (const core::Action& action : plan.actions) actions.push_back(to_json(action));
    return actions;
}

int replay_snapshot(const ReplayOptions& o) {
    const Result<core::Recording> recording = read_recording(o.file);
    if (!recording) return fail(recording.error());
    core::Planner planner;
    const core::Plan& plan = core::make_plan(planner, recording->inputs);
    std::vector<Difference> different;
    if (recording->actions) different = differences(*recording->actions, actions_of(plan));
    if (o.json)
        fmt::print("{}\n", as_json(*recording, plan, different).dump());
    else
        print_text(*recording, plan, different);
    return different.empty() ? kExitOk : kExitDiffers;
}

}  // namespace

void add_replay_snapshot(CommandParser app) {
    auto o = std::make_shared<ReplayOptions>();
    CommandParser sub =
        app.add_command("replay-snapshot", "Make a plan of the controller again, and compare");
    sub.add_option("SNAPSHOT", o->file, "What `selastic snapshot` printed; - for standard input")
        .required();
    sub.add_json(o->json, "The plan, and what is different, as JSON");
    sub.runs([o] { return replay_snapshot(*o); });
}

}  // namespace elastic::tools
