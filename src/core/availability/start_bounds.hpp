// SPDX-License-Identifier: MIT
// Before when a search for a start need not look, since a smaller or shorter job has found none
// there: while nodes are only taken, no start comes to be earlier.
#pragma once

#include <array>
#include <bit>

#include "common/limits.hpp"
#include "common/time.hpp"

namespace elastic::core {

class StartBounds {
  public:
    // Nobody starts before `now`; all else is forgotten.
    void reset(Time now);
    // A job of so many nodes for so long cannot start before `start`.
    void remember(int nodes, Duration, Time start);
    // The latest of the remembered starts before which no job of this size and duration can start.
    Time before(int nodes, Duration) const;

    // Sizes and durations of a class differ by less than a factor of 1 + 2^-bits.
    static constexpr int kBitsOfClass = 1;

  private:
    static constexpr int kNodeOctaves = std::bit_width(static_cast<unsigned>(kMaxNodes));
    static constexpr int kDurationOctaves = 31;  // 68 years
    static constexpr int kNodeClasses = (kNodeOctaves << kBitsOfClass) + 2;
    static constexpr int kDurationClasses = (kDurationOctaves << kBitsOfClass) + 2;

    // By classes, each counted from 1: the latest start of those that the place stands for.
    std::array<std::array<Time, kDurationClasses + 1>, kNodeClasses + 1> latest_{};
};

}  // namespace elastic::core
