// SPDX-License-Identifier: MIT
// The input is what `selastic snapshot` prints and replay-snapshot reads.  A snapshot that passes
// validate() is one that the planner can work on, whatever it says.
#include "core/pass/recording.hpp"
#include "fuzz.hpp"

using namespace elastic;
using namespace elastic::core;

namespace {

// Shrinking for a job of a long queue looks at each running job, so more than this tells nothing
// new and only takes long.
constexpr std::size_t kMostPlanned = 200;

int nodes_in(const PoolCounts& counts) {
    int nodes = 0;
    for (int n : counts) nodes += n;
    return nodes;
}

void plan_it(const PlanInputs& inputs) {
    Planner planner;
    const Plan& plan = make_plan(planner, inputs);
    int taken = 0;
    for (const Action& action : plan.actions) {
        fuzz::require(!describe(action, inputs.snapshot.now).empty(), "an action can be told");
        if (action.kind == ActionKind::start && !action.deferred) taken += nodes_in(action.nodes);
    }
    int left = inputs.snapshot.idle();
    for (const Promise& promise : inputs.snapshot.promises)
        if (promise.released) left += nodes_in(promise.nodes);
    fuzz::require(taken <= left, "what starts now fits on idle nodes and those that were left");
    Result<Recording> again = recording_from_json(to_json(inputs, plan));
    fuzz::require(again && again->actions, "what was planned can be read again");
    Planner another;
    const Plan& same = make_plan(another, again->inputs);
    fuzz::require(to_json(same).dump() == to_json(make_plan(planner, inputs)).dump(),
                  "the same inputs give the same plan");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    Result<Json> json = Json::parse(fuzz::text(data, size));
    if (!json) return 0;
    Result<Recording> recording = recording_from_json(*json);
    if (!recording) {
        fuzz::require_clean(recording.error().message);
        return 0;
    }
    const Snapshot& snapshot = recording->inputs.snapshot;
    if (snapshot.running.size() + snapshot.pending.size() <= kMostPlanned)
        plan_it(recording->inputs);
    return 0;
}
