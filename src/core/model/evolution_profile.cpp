// SPDX-License-Identifier: MIT
// The layers are found with a stack, as brackets are matched: a step with more nodes opens one, a
// step with fewer closes those on top, the last of them in part.
#include "core/model/evolution_profile.hpp"

#include <algorithm>

namespace elastic::core {
namespace {

// Closes `nodes` of what is open; what has no length was never there.
void close(std::vector<Layer>& open, int nodes, Duration at, std::vector<Layer>& closed) {
    while (nodes > 0) {
        Layer& top = open.back();
        const int part = std::min(nodes, top.nodes);
        if (at > top.from) closed.push_back({part, top.from, at});
        nodes -= part;
        top.nodes -= part;
        if (top.nodes == 0) open.pop_back();
    }
}

}  // namespace

Duration length(const EvolutionProfile& profile) {
    Duration sum = 0;
    for (const EvolutionStep& step : profile) sum += step.duration;
    return sum;
}

std::vector<Layer> layers(const EvolutionProfile& profile, Duration end) {
    std::vector<Layer> open, closed;
    int size = 0;
    Duration at = 0;
    for (const EvolutionStep& step : profile) {
        if (at >= end) break;
        if (step.nodes > size) open.push_back({step.nodes - size, at, 0});
        if (step.nodes < size) close(open, size - step.nodes, at, closed);
        size = step.nodes;
        at += step.duration;
    }
    close(open, size, end, closed);
    std::ranges::sort(closed, [](const Layer& a, const Layer& b) {
        return a.from != b.from ? a.from < b.from : a.to > b.to;
    });
    return closed;
}

StepsAhead steps_ahead(const EvolutionProfile& profile, int held, Duration left) {
    StepsAhead ahead;
    for (const Layer& layer : layers(profile, left)) {
        const int there = layer.from > 0 ? 0 : std::min(layer.nodes, held);
        held -= there;
        if (there > 0 && layer.to < left) ahead.given.push_back({there, 0, layer.to});
        if (layer.nodes > there) ahead.gains.push_back({layer.nodes - there, layer.from, layer.to});
    }
    return ahead;
}

}  // namespace elastic::core
