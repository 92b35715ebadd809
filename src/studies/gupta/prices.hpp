// SPDX-License-Identifier: MIT
// [gupta] section VII-B, figures 9 and 10: a job on a static set of nodes grows over spot nodes
// while they are cheap.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "studies/report/report.hpp"

namespace elastic::studies {

// A year under one threshold; prices are those of a node and hour.
struct PricedYear {
    double threshold = 0;   // of the job; < 0: it pays any price
    double effective = 0;   // what a priced node cost an hour, on average; 0: none was used
    double usable = 0;      // share of the year for which the spot nodes were used
    double affordable = 0;  // share of its hours that cost no more than the threshold
    double mean_price = 0;  // of these hours
    std::int64_t shrinks = 0, expansions = 0;
};

// What the price is in each hour of a year.
std::vector<double> year_of_prices(std::uint64_t seed);

// Simulates a year for each threshold, puts both figures on the page, and adds what comes out of
// it.
void reproduce_prices(Report&, std::uint64_t seed, std::vector<Finding>&);

std::vector<std::string> price_assumptions();

}  // namespace elastic::studies
