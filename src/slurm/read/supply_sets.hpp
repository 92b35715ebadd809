// SPDX-License-Identifier: GPL-2.0-or-later
// The nodes that prices and caps are said of.  Needs ControllerLock.
#pragma once

#include <string>
#include <vector>

#include "core/model/supply.hpp"
#include "slurm/nodes.hpp"

namespace elastic::slurm {

// What a site says of a set of nodes, and which these are.
struct SupplySet {
    core::Terms terms;
    NodeSet nodes;
};

struct SupplySets {
    std::vector<SupplySet> sets;      // as far as Slurm knows the nodes
    std::vector<std::string> errors;  // what of the terms cannot be in force, and why
};

SupplySets find_supply(const std::vector<core::Terms>&);

}  // namespace elastic::slurm
