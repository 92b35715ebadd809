// SPDX-License-Identifier: MIT
// What makes a simulation of a log say less than it seems to.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "simulator/make_workload.hpp"
#include "simulator/workload.hpp"

namespace elastic::simulator {

// How full the machine was by the log's own start and end times.
struct Occupancy {
    std::int64_t peak = 0;  // nodes in use at one time
    double excess = 0;      // share of all node-seconds beyond the machine's nodes, 0 to 1
};
// Jobs of which the log has no start are left out.
Occupancy occupancy(const Log&, std::int64_t nodes, std::int64_t procs_per_node);

// The nodes that a machine must have at least for the log's own times to be true but for the
// inaccuracy that any log has; 0 if it has no start times.
std::int64_t nodes_in_use(const Log&, std::int64_t procs_per_node);

// A sentence each, with the name of the log and what to do: jobs that share nodes; jobs without a
// time limit.
std::vector<std::string> doubts(const Log&, const WorkloadOptions&);

}  // namespace elastic::simulator
