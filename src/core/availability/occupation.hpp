// SPDX-License-Identifier: MIT
// How an evolution profile fits into the availability profile: the fit function of [evolving]
// section 4.2, algorithm 2, on layers (core/model/evolution_profile.hpp) instead of steps.
#pragma once

#include <optional>
#include <vector>

#include "core/availability/availability_profile.hpp"
#include "core/model/evolution_profile.hpp"

namespace elastic::core {

// Nodes in use in [from, to).
struct Occupation {
    Time from = 0, to = 0;
    PoolCounts nodes;
};
using Occupations = std::vector<Occupation>;

void take(AvailabilityProfile&, const Occupations&);
void give_back(AvailabilityProfile&, const Occupations&);

// The paper's expand limit 1 (noX): the earliest time from `from` on at which all layers fit, none
// of them later than it is to be.  None if there is no such time.  What is free stays so.
std::optional<Occupations> fit(AvailabilityProfile&, const Eligibility&, const std::vector<Layer>&,
                               Time from);
// Only if that is `start` itself.
std::optional<Occupations> fit_at(AvailabilityProfile&, const Eligibility&,
                                  const std::vector<Layer>&, Time start);

// Takes the layers of a job that has begun, whose start cannot be put off: each at its time or, if
// there are not enough nodes, as soon afterwards as there are, and those after it so much later (an
// infinite expand limit).  One that never fits is left out.
Occupations take_in_turn(AvailabilityProfile&, const Eligibility&, const std::vector<Layer>&,
                         Time start);

}  // namespace elastic::core
