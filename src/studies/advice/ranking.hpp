// SPDX-License-Identifier: MIT
// How presets are judged by what they did.
#pragma once

#include <string>
#include <vector>

#include "studies/advice/advice.hpp"

namespace elastic::studies {

// The best first: those that are worse than easy anywhere come last.
std::vector<Ranking> rank(const std::vector<Standing>&);

struct Recommendation {
    std::string policy, why;
};

// `longest_wait` is that of the jobs as they are under easy, in seconds.
Recommendation recommend(const std::vector<Ranking>&, Duration longest_wait);

}  // namespace elastic::studies
