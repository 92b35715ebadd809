// SPDX-License-Identifier: MIT
// What would have been different without Observe=yes, by a journal that was written with it.
//
// Each number is of one job for itself: what would have followed from the first resize is not
// known, and no two of them can be added to say how a whole day would have gone.
#pragma once

#include <string>
#include <vector>

#include "journal/journal.hpp"

namespace elastic::journal {

struct ObservedJob {
    std::string label, user, name;
    bool would_start = false;  // by shrinks of others, before it did
    Duration earlier = 0;      // by how much, seconds
    double taken = 0;          // idle node hours that it would have had
    double given = 0;          // node hours that it would have given up
};

// Jobs of which anything would have been different, in the order in which that was first so.
std::vector<ObservedJob> observed(const std::vector<Line>&);

}  // namespace elastic::journal
