// SPDX-License-Identifier: MIT
// Equipartition, [gupta] section VI-E.
#pragma once

#include <utility>
#include <vector>

namespace elastic::core {

class SystemState;

// The size that each malleable job has if they share alike what they and the idle nodes are, more
// only where a minimum and less only where a maximum demands it.  Jobs that may not be resized now
// are left out; pending ones count as far as their minima fit, in order.
int equal_share(const SystemState&, std::vector<std::pair<int, int>>& scratch);

}  // namespace elastic::core
