// SPDX-License-Identifier: MIT
// Spearman's rank correlation: whether those that are high on one side are so on the other.
#pragma once

#include <optional>
#include <vector>

namespace elastic::simulator {

// -1 to 1, of as many values on both sides; equal values share the mean of their ranks.  Nothing if
// all values of a side are equal: then there is no order to agree with.
std::optional<double> rank_correlation(const std::vector<double>& a, const std::vector<double>& b);

}  // namespace elastic::simulator
