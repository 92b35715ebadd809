// SPDX-License-Identifier: MIT
// The fit function of [evolving] section 4.2: its algorithm 2, with a limit to the expansion of
// steps, and the compacting pass.
#pragma once

#include <limits>
#include <optional>

#include "core/availability/availability_profile.hpp"
#include "core/model/evolution_profile.hpp"

namespace elastic::core {

// A requested evolution profile, delayed to `start` and perhaps expanded: the step after an
// expanded one has to wait for nodes, while the job holds what it has and computes nothing.
struct ScheduledEvolution {
    Time start = 0;
    EvolutionProfile steps;

    Time end() const { return start + length(steps); }
    friend bool operator==(const ScheduledEvolution&, const ScheduledEvolution&) = default;
};

// How far steps may be expanded, times their duration, from 1: the paper's noX is 1, 2X is 2, infX
// is without a limit.  Compacting (+c) keeps the end and starts as late as it can.
struct Expansion {
    double limit = 1;
    bool compacting = false;
};
inline constexpr double kNoLimit = std::numeric_limits<double>::infinity();

// Where the steps end first on nodes of pool 0 that are free from the `now` of the resources on.
// Steps have a duration and at least one node.  None if one wants more than ever come free.
std::optional<ScheduledEvolution> fit(const EvolutionProfile&, AvailabilityProfile& resources,
                                      Expansion);

}  // namespace elastic::core
