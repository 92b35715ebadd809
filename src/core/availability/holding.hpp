// SPDX-License-Identifier: MIT
// The nodes of a running job as others see them: when can they be had?
#pragma once

#include "common/time.hpp"
#include "core/model/snapshot.hpp"
#include "core/model/types.hpp"

namespace elastic::core {

// When a job's nodes come free: all at its end, some before if it gives them back for a reservation
// (ReservedNodes=lent, policy.hpp); those count as free from `back` on.
struct Holding {
    Time end = 0, back = 0;  // back <= end
    PoolCounts nodes, returnable;

    int free_at(PoolId pool, Time time) const {
        return time >= end ? nodes[pool] : time >= back ? returnable[pool] : 0;
    }
};

// What the job can give back of `held`, by pool: the nodes above its smallest size, first those in
// other pools than the one of its batch script's node, which it must keep.  Returns how many.
int returnable(const RunningJob&, const PoolCounts& held, PoolCounts& nodes);

}  // namespace elastic::core
