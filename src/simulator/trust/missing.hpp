// SPDX-License-Identifier: MIT
// Where the waits come from that a simulation does not show.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "simulator/trust/trust.hpp"

namespace elastic::simulator {

// What a job waited, seconds; 0 for up to kNoWait.
struct Waits {
    std::uint32_t job = 0;  // index into Workload::jobs
    double logged = 0, simulated = 0;

    double unexplained() const { return std::max(0.0, logged - simulated); }
};

// Sets what Trust has of that; the rest of it is there.
void find_missing(const Workload&, std::span<const Waits>, const std::vector<Grouping>&, Trust&);

}  // namespace elastic::simulator
