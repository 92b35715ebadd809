// SPDX-License-Identifier: MIT
// The median of values that nobody needs in their order.
#pragma once

#include <algorithm>
#include <vector>

namespace elastic::simulator {

// Of an even number of values the middle of the two in the middle, of none 0.  Reorders `values`.
inline double median(std::vector<double>& values) {
    if (values.empty()) return 0;
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    if (values.size() % 2 == 1) return *middle;
    return (*middle + *std::max_element(values.begin(), middle)) / 2;
}

}  // namespace elastic::simulator
