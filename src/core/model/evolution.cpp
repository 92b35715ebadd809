// SPDX-License-Identifier: MIT
// A list of steps of which the first is the present one; what is over is forgotten, since a
// requeued job begins with its annotation again.
#include "core/model/evolution.hpp"

#include <algorithm>

namespace elastic::core {

namespace {

constexpr Duration kOpen = 300.0 * 86400;  // of a step of whose end nothing is known

}  // namespace

void Evolution::begin(Time now, const EvolutionProfile& profile) {
    end();
    steps_ = profile;
    number_ = steps_.empty() ? 0 : 1;
    since_ = now;
}

void Evolution::suspend(Time now) {
    if (!exists()) return;
    steps_ = left(now);
    if (waits()) waited_ += now - waiting_since_;
}

void Evolution::resume(Time now) {
    if (!exists()) return;
    since_ = now;
    if (waits()) waiting_since_ = now;
}

bool Evolution::follow(Time now, int nodes) {
    if (!exists()) return false;
    const int before = number_;
    const bool waited = waits();
    if (waits() && nodes >= wanted()) {
        waited_ += std::max(0.0, now - waiting_since_);
        waiting_since_ = 0;
        since_ = now;
    }
    while (!waits() && next_at() <= now) {
        since_ = next_at();
        steps_.erase(steps_.begin());
        ++number_;
        if (wanted() > nodes) waiting_since_ = since_;
        gives_back_ = wanted() < nodes;
    }
    if (nodes <= wanted()) gives_back_ = false;
    return number_ != before || waited != waits();
}

Result<void> Evolution::correct(Time now, Duration in, int nodes, int held, std::int64_t id,
                                const Sizing& sizing) {
    if (id == heard_) return {};
    if (nodes > 0 && !sizing.allows(nodes))
        return error("a step of {} nodes is not possible ({})", nodes, size_names(sizing));
    if (waits()) {
        if (nodes == 0)
            return error("the step before has not begun: {} nodes are waited for", wanted());
        steps_.front().nodes = nodes;
        heard_ = id;
        return {};
    }
    if (nodes == 0 && steps_.size() < 2)
        return error("the profile has no step after this one; say with how many nodes it begins");
    if (!exists()) begin(now, {{held, kOpen}});
    if (steps_.size() < 2) steps_.push_back({nodes, kOpen});
    if (nodes > 0) steps_[1].nodes = nodes;
    steps_[0].duration = std::max(0.0, now + in - since_);
    heard_ = id;
    return {};
}

void Evolution::settle_for(int nodes) {
    if (waits()) steps_.front().nodes = nodes;
}

Duration Evolution::waited(Time now) const {
    return waited_ + (waits() ? std::max(0.0, now - waiting_since_) : 0);
}

Time Evolution::next_at() const {
    return waits() || steps_.size() < 2 ? kNever : since_ + steps_.front().duration;
}

EvolutionProfile Evolution::left(Time now) const {
    EvolutionProfile left = steps_;
    if (!left.empty() && !waits())
        left[0].duration = std::max(1e-3, left[0].duration - (now - since_));
    return left;
}

EvolutionProfile Evolution::remaining(Time now, int nodes, const Sizing& sizing) const {
    EvolutionProfile steps = left(now);
    if (steps.empty()) return steps;
    // Who has given back nodes by itself, or lost some, does not lack them.
    if (!waits() && sizing.allows(nodes)) steps[0].nodes = nodes;
    for (EvolutionStep& step : steps)
        if (!sizing.allows(step.nodes))
            step.nodes =
                std::max(sizing.sizes.largest(sizing.min, std::min(step.nodes, sizing.max)),
                         sizing.sizes.smallest(sizing.min, sizing.max));
    return steps;
}

}  // namespace elastic::core
