// SPDX-License-Identifier: MIT
// Even use, [wagomu] AVERAGE: the use of a job is how much it has of the range between its minimum,
// 0, and its maximum, 1.
#pragma once

#include <cstdint>
#include <vector>

#include "core/model/snapshot.hpp"

namespace elastic::core {

class SystemState;

// In whole nodes, rounded down.
int size_at_use(const RunningJob&, double use);

// The use to which victims above it shrink, so that they give `needed` nodes together; 0 if they
// cannot.
double even_use_of_victims(const std::vector<RunningJob>&,
                           const std::vector<std::uint32_t>& victims, int needed);

// The use up to which jobs below it grow if they share the idle nodes, none of which is left over
// as long as a job can take it.
double even_use_of_growing(const SystemState&);

}  // namespace elastic::core
