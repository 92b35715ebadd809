// SPDX-License-Identifier: MIT
// Which of its nodes a job gives back is decided when it is shrunk, by who needs them.  To count on
// these nodes before that takes one answer, always the same; where all are of one pool any answer
// does.
#include "core/availability/holding.hpp"

#include <algorithm>

namespace elastic::core {

int returnable(const RunningJob& job, const PoolCounts& held, PoolCounts& nodes) {
    nodes.assign(held.size(), 0);
    const int size = total(held);
    const int smallest = job.elastic.sizes.smallest(job.elastic.min, size);
    int left = smallest == 0 ? 0 : size - smallest;
    const auto give_back = [&](PoolId pool, int most) {
        nodes[pool] = std::clamp(most, 0, left);
        left -= nodes[pool];
    };
    for (PoolId pool = 0; pool < held.size(); ++pool)
        if (pool != job.batch_host_pool) give_back(pool, held[pool]);
    give_back(job.batch_host_pool, held[job.batch_host_pool] - 1);
    return total(nodes);
}

}  // namespace elastic::core
