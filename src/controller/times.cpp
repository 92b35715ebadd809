// SPDX-License-Identifier: MIT
// Sums of all times and the last few of them, in constant memory however many there are.
#include "controller/times.hpp"

#include <algorithm>

namespace elastic::controller {

void Times::add(double seconds) {
    last = seconds;
    longest = std::max(longest, seconds);
    sum += seconds;
    all.add(seconds);
    recent[count++ % recent.size()] = seconds;
}

double Times::quantile(double q) const {
    auto size = std::min<std::size_t>(count, recent.size());
    if (size == 0) return 0;
    auto sorted = recent;
    auto at = sorted.begin() + static_cast<std::ptrdiff_t>(q * static_cast<double>(size - 1));
    std::nth_element(sorted.begin(), at, sorted.begin() + static_cast<std::ptrdiff_t>(size));
    return *at;
}

}  // namespace elastic::controller
