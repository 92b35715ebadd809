// SPDX-License-Identifier: MIT
// Of a partition with nodes of several kinds the share is that of the smallest.
#include "simulator/workload.hpp"

#include <algorithm>

namespace elastic::simulator {

double share_of_node(const Workload& workload, std::size_t job) {
    if (workload.shares.empty() || !workload.shares[job]) return 1;
    const NodePart& part = workload.parts[job];
    double share = 0;
    for (const core::PoolId pool : workload.partitions[workload.jobs[job].partition].pools) {
        const NodePart& each = workload.pools[pool].each;
        const auto add = [&](double of, double all) {
            if (all > 0) share = std::max(share, of / all);
        };
        add(part.processors, each.processors);
        add(part.memory, each.memory);
        add(part.gpus, each.gpus);
    }
    return std::min(share, 1.0);
}

}  // namespace elastic::simulator
