// SPDX-License-Identifier: MIT
// The time limit with which a job starts.
#pragma once

#include <cstdint>
#include <ctime>

namespace elastic::controller {

struct StartingLimit {
    std::uint32_t own = 0;    // minutes: its limit, or that of its partition
    std::uint32_t least = 0;  // minutes with which it is content (--time-min), 0: no fewer
    std::time_t deadline = 0;
    std::time_t hole_ends = 0;  // when others are to have its nodes; 0: nobody is

    // Minutes: its own limit, bounded by its deadline, and where it has a least time by the end of
    // the hole that it is started in. What lies before `now` bounds nothing.
    std::uint32_t minutes(std::time_t now) const;
};

}  // namespace elastic::controller
