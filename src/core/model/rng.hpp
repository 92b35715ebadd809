// SPDX-License-Identifier: MIT
// Chance in a planning pass: the same seed draws the same, so a plan can be made again.
#pragma once

#include <random>

namespace elastic::core {

// What all that is drawn in a pass is drawn from.
using Rng = std::mt19937_64;

}  // namespace elastic::core
