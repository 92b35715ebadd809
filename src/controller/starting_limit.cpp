// SPDX-License-Identifier: MIT
// As Slurm's own loops bound it, so that a job runs as long under either scheduler.
#include "controller/starting_limit.hpp"

#include <algorithm>

namespace elastic::controller {

namespace {

std::uint32_t minutes_between(std::time_t begin, std::time_t end) {
    return static_cast<std::uint32_t>((end - begin) / 60);
}

}  // namespace

std::uint32_t StartingLimit::minutes(std::time_t now) const {
    std::uint32_t limit = own;
    if (least > 0 && hole_ends > now)
        limit = std::clamp(minutes_between(now, hole_ends), std::min(least, own), own);
    if (deadline > now) limit = std::min(limit, minutes_between(now, deadline));
    return limit;
}

}  // namespace elastic::controller
