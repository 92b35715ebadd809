// SPDX-License-Identifier: MIT
// From counts by pool to nodes.
#pragma once

#include <vector>

#include "core/model/types.hpp"

namespace elastic::core {

// Of each pool as many of the free nodes as `counts` says, those that are preferred first; fewer
// where there are no more.  A Set has copies, &=, |=, -=, count() and first(n), its n first nodes.
template <class Set>
Set place(const PoolCounts& counts, const std::vector<Set>& pools, const Set& free,
          const Set& preferred) {
    Set placed;
    for (std::size_t pool = 0; pool < counts.size(); ++pool) {
        if (counts[pool] == 0) continue;
        Set here(free);
        here &= pools[pool];
        Set best(here);
        best &= preferred;
        best = best.first(counts[pool]);
        here -= best;
        placed |= here.first(counts[pool] - best.count());
        placed |= best;
    }
    return placed;
}

}  // namespace elastic::core
