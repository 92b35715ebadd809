// SPDX-License-Identifier: MIT
// A closer look at one preset: who wins and who loses by it, jobs by class, size and user; what
// becomes of the queue; and how far a sample stands for its log.
#pragma once

#include <string_view>
#include <vector>

#include "studies/advice/trials.hpp"

namespace elastic::studies {

struct Closer {
    // By name, by size, and those first that lose most.
    std::vector<Group> by_class, by_size, by_user;
    OverTime over_time;
    double error = 0;  // as of Basis
};

// Under the headline's condition, as means over the seeds; over time of the first seed.
Closer look_closer(const Trials&, const Site&, std::string_view policy);

}  // namespace elastic::studies
