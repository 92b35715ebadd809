// SPDX-License-Identifier: MIT
// How large a job is in the snapshot, and how often it is there, by what Slurm's record says.
#pragma once

#include <cstdint>

#include "core/model/annotation/annotation.hpp"

namespace elastic::controller {

// What a pending job asks for; 0: nothing.
struct SizeRequest {
    std::uint32_t least_nodes = 0;  // that its partition allows, too
    std::uint32_t most_nodes = 0;
    std::uint32_t processors = 0;  // in all
};

// The nodes that the job needs, 1 at least.  Without a number of nodes of its own it may need as
// many as of the smallest, which has so many processors; 0: there is none.
int nodes_wanted(const SizeRequest&, std::uint32_t processors_of_smallest);

// Of a job array, in tasks.
struct ArrayCounts {
    std::int64_t waiting = 0;
    std::int64_t running = 0;
    std::int64_t most_running = 0;  // 0: without a limit
};

// How many of its tasks may start now, 1 at least: whether the array may start any, Slurm says.
int startable_tasks(const ArrayCounts&);

// As how many copies so many tasks of `size` nodes are in the snapshot: no more of them can start
// in one pass than the nodes of the cluster hold, and one more keeps its reservation.
int copies_of(int tasks, int size, int nodes);

// Bounds the sizes of a running job by the most nodes that it may have.  Never below what it has:
// an administrator may have lowered the limit since.
void bound_sizes(core::Sizing&, int most, int size);

}  // namespace elastic::controller
