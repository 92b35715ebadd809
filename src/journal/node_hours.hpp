// SPDX-License-Identifier: MIT
// Instance hours ([gupta] section VII-B): for how long each job held nodes, and what these cost.
#pragma once

#include <string>
#include <vector>

#include "journal/journal.hpp"

namespace elastic::journal {

struct NodeHours {
    std::string label, user, name;  // of the job
    double hours = 0;               // of nodes
    double priced = 0;              // of those, on nodes that had a price
    double cost = 0;                // in the site's unit
};

// Jobs in the order of their first start.  Prices change at the times of the journal's `supply`
// events, and what is paid is paid for as long as a node is held, not for hours that have begun.
std::vector<NodeHours> node_hours(const std::vector<Line>&);

}  // namespace elastic::journal
