// SPDX-License-Identifier: MIT
// How findings of [lina] are counted: by comparing policies seed by seed.
#pragma once

#include <array>
#include <vector>

#include "studies/lina/results.hpp"

namespace elastic::studies::lina {

// Three algorithms, of which the second is what is taken for System.
using Guards = std::array<Guard, 3>;

inline Guards guards_with(Guard algorithm7) {
    return {application, algorithm7, by_default};
}

inline Answer is_better(Metric metric, const std::vector<double>& a, const std::vector<double>& b) {
    return metric == utilisation ? is_positive(difference(a, b)) : is_positive(difference(b, a));
}

}  // namespace elastic::studies::lina
