// SPDX-License-Identifier: MIT
// Evolution profiles ([evolving] section 3.1): how the size of a job changes while it runs.
//
// A profile is also a stack of layers, each of which is a number of nodes for one stretch of time:
// 5 nodes for 500 s and then 10 for 3600 s are 5 nodes from 0 to 4100 s and, on top of them, 5 from
// 500 s on.  What came last goes first, and a layer keeps its nodes while it lasts, so to plan with
// a profile is to plan with a few rectangles.
#pragma once

#include <vector>

#include "common/time.hpp"

namespace elastic::core {

// The paper's (d_i, n_i).
struct EvolutionStep {
    int nodes = 0;
    Duration duration = 0;  // seconds
    friend bool operator==(const EvolutionStep&, const EvolutionStep&) = default;
};

using EvolutionProfile = std::vector<EvolutionStep>;

// Nodes in [from, to), in seconds from the start of the profile.
struct Layer {
    int nodes = 0;
    Duration from = 0, to = 0;
    friend bool operator==(const Layer&, const Layer&) = default;
};

// Of all steps, the sum of their durations.
Duration length(const EvolutionProfile&);
// The profile's layers by their beginnings, of those that begin together the lowest first.  Its
// last step lasts until `end`, at which all layers end at the latest; a layer has some length.
std::vector<Layer> layers(const EvolutionProfile&, Duration end);

// What a job that holds `held` nodes will have to get and to give back.
struct StepsAhead {
    std::vector<Layer> gains;  // those from 0 on it lacks now
    std::vector<Layer> given;  // of what it holds; kept from 0 until `to`
};
// It runs for `left` seconds.  Nodes beyond its present step are taken to be its own until then.
StepsAhead steps_ahead(const EvolutionProfile&, int held, Duration left);

}  // namespace elastic::core
