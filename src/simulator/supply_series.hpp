// SPDX-License-Identifier: MIT
// Prices and caps over time in a simulation ([gupta] section VII-B): the text that the plugin
// reads, and how many nodes of the machine the sets in it have.
#pragma once

#include <string_view>
#include <vector>

#include "core/model/supply.hpp"
#include "core/model/types.hpp"

namespace elastic::simulator {

// Each set has nodes of its own, or is all of the machine; what no set has costs nothing.  In
// snapshots the latter are pool 0, and the sets with nodes the pools after it, in order.
struct SupplySeries {
    core::Supply supply;     // times are seconds from the log's zero
    std::vector<int> nodes;  // of each of Supply::sets; 0: of all nodes
};

// "spot=16,rack=8": of the sets, the others being all of the machine.  An error names the option.
Result<SupplySeries> make_series(core::Supply, std::string_view sizes, int machine);

// The machine's nodes by pool.
core::PoolCounts pool_sizes(const SupplySeries&, int machine);

// Which pools a set is.
std::vector<core::PoolId> pools_of(const SupplySeries&, std::size_t set);

}  // namespace elastic::simulator
