// SPDX-License-Identifier: MIT
// Slurm's numbers are unsigned and as large as anybody writes them; the snapshot's are of nodes.
#include "controller/job_sizes.hpp"

#include <algorithm>

namespace elastic::controller {

int nodes_wanted(const SizeRequest& request, std::uint32_t processors_of_smallest) {
    std::uint32_t nodes = request.least_nodes;
    if (const std::uint32_t each = processors_of_smallest; each > 0)
        nodes = std::max(nodes, (request.processors + each - 1) / each);
    if (request.most_nodes > 0) nodes = std::min(nodes, request.most_nodes);
    return static_cast<int>(std::max(nodes, 1U));
}

int startable_tasks(const ArrayCounts& array) {
    std::int64_t tasks = array.waiting;
    if (array.most_running > 0) tasks = std::min(tasks, array.most_running - array.running);
    return static_cast<int>(std::clamp<std::int64_t>(tasks, 1, INT32_MAX));
}

int copies_of(int tasks, int size, int nodes) {
    return std::min(tasks, nodes / size + 1);
}

void bound_sizes(core::Sizing& sizes, int most, int size) {
    sizes.max = std::min(sizes.max, std::max(most, size));
    sizes.min = std::min(sizes.min, sizes.max);
    sizes.pref = std::clamp(sizes.pref, sizes.min, sizes.max);
}

}  // namespace elastic::controller
