// SPDX-License-Identifier: MIT
// Which nodes jobs would start on: a forecast counts nodes by pool, and users are told names.
#pragma once

#include <vector>

#include "core/model/expected_start.hpp"

namespace elastic::controller {

struct PoolNode {
    int node = 0;
    Time free_from = 0;  // by the estimate of who has it
};

// For each start its nodes, ascending; by pool the nodes that it has.  A node has one job at a
// time, by the estimates; a start that is not reserved keeps nobody from its nodes.  Fewer than a
// start has are named where it shares nodes, or where they are to come by a resize.
std::vector<std::vector<int>> expected_nodes(const std::vector<core::ExpectedStart>&,
                                             const std::vector<std::vector<PoolNode>>& pools);

}  // namespace elastic::controller
