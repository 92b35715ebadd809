// SPDX-License-Identifier: MIT
// The offline scheduling of fully predictable evolving applications, [evolving] algorithm 1.
#pragma once

#include <vector>

#include "core/availability/evolving_fit.hpp"

namespace elastic::core {

// All wait at time 0 for a machine of so many nodes; each is placed in its turn and stays.  Steps
// want no more nodes than the machine has.
std::vector<ScheduledEvolution> list_schedule(const std::vector<EvolutionProfile>&, int nodes,
                                              Expansion);

// What a scheduler sees that does not know of evolution: one step of the most nodes and the whole
// duration ([evolving] section 5.1; with list_schedule, conservative backfilling).
EvolutionProfile rigid(const EvolutionProfile&);

}  // namespace elastic::core
