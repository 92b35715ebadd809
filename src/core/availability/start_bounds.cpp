// SPDX-License-Identifier: MIT
// A binary indexed tree (Fenwick, "A new data structure for cumulative frequency tables") of two
// dimensions, of maxima instead of sums: place (i, j) stands for the classes above i less its
// lowest bit up to i, and likewise j.  So both to remember and to ask take a few steps, and a long
// queue does both for each of its jobs.
//
// Always holds: a job is remembered in a class of jobs that all want as much or more, and asked for
// in a class of jobs that all want as much or less.
#include "core/availability/start_bounds.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

namespace elastic::core {
namespace {

// The upper bits of a number's representation, which ascends with the number.
int class_of(double number) {
    constexpr int kCutOff = std::numeric_limits<double>::digits - 1 - StartBounds::kBitsOfClass;
    const auto bits_of = [](double of) {
        return static_cast<int>(std::bit_cast<std::uint64_t>(of) >> kCutOff);
    };
    return number < 1 ? 1 : bits_of(number) - bits_of(1) + 2;
}
// The first class of which nobody is less.
int class_beyond(double number) {
    return number <= 0 ? 1 : class_of(std::nextafter(number, 0.0)) + 1;
}

constexpr int lowest_bit(int number) {
    return number & -number;
}

}  // namespace

void StartBounds::reset(Time now) {
    for (auto& row : latest_) row.fill(now);
}

void StartBounds::remember(int nodes, Duration duration, Time start) {
    const int longer = class_beyond(duration);
    for (int i = class_beyond(nodes); i <= kNodeClasses; i += lowest_bit(i))
        for (int j = longer; j <= kDurationClasses; j += lowest_bit(j))
            latest_[i][j] = std::max(latest_[i][j], start);
}

Time StartBounds::before(int nodes, Duration duration) const {
    Time latest = latest_[0][0];
    const int within = std::min(class_of(duration), kDurationClasses);
    for (int i = class_of(nodes); i > 0; i -= lowest_bit(i))
        for (int j = within; j > 0; j -= lowest_bit(j)) latest = std::max(latest, latest_[i][j]);
    return latest;
}

}  // namespace elastic::core
