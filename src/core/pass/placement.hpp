// SPDX-License-Identifier: MIT
// From counts by pool to nodes.
#pragma once

#include <vector>

#include "core/model/types.hpp"

namespace elastic::core {

// Of each pool as many of the free nodes as `counts` says; fewer where there are no more.  A Set
// has copies, &= and |=, and order.first(set, n) is so many of its nodes.
template <class Set, class Order>
Set place(const PoolCounts& counts, const std::vector<Set>& pools, const Set& free,
          const Order& order) {
    Set placed;
    for (std::size_t pool = 0; pool < counts.size(); ++pool) {
        if (counts[pool] == 0) continue;
        Set here(free);
        here &= pools[pool];
        placed |= order.first(here, counts[pool]);
    }
    return placed;
}

}  // namespace elastic::core
