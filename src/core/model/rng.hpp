// SPDX-License-Identifier: MIT
#pragma once

#include <random>

namespace elastic::core {

// What all that is drawn in a pass is drawn from.
using Rng = std::mt19937_64;

}  // namespace elastic::core
