// SPDX-License-Identifier: MIT
// Pearson's correlation of the ranks, and not the shorter formula of their differences, which holds
// without ties only: most jobs of a log have waited for nothing, and are equal in that.
#include "simulator/trust/rank_correlation.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstddef>
#include <numeric>

namespace elastic::simulator {
namespace {

std::vector<double> ranks(const std::vector<double>& values) {
    std::vector<std::size_t> order(values.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::sort(order, {}, [&](std::size_t i) { return values[i]; });
    std::vector<double> ranks(values.size());
    for (std::size_t begin = 0, end = 0; begin < order.size(); begin = end) {
        while (end < order.size() && values[order[end]] == values[order[begin]]) ++end;
        const double shared = static_cast<double>(begin + end - 1) / 2;
        for (std::size_t i = begin; i < end; ++i) ranks[order[i]] = shared;
    }
    return ranks;
}

}  // namespace

std::optional<double> rank_correlation(const std::vector<double>& a, const std::vector<double>& b) {
    assert(a.size() == b.size());
    const std::vector<double> left = ranks(a), right = ranks(b);
    const double middle = (static_cast<double>(a.size()) - 1) / 2;
    double both = 0, of_left = 0, of_right = 0;
    for (std::size_t i = 0; i < a.size(); ++i) {
        const double l = left[i] - middle, r = right[i] - middle;
        both += l * r;
        of_left += l * l;
        of_right += r * r;
    }
    if (of_left == 0 || of_right == 0) return std::nullopt;
    return both / std::sqrt(of_left * of_right);
}

}  // namespace elastic::simulator
