// SPDX-License-Identifier: MIT
// Which nodes jobs have, for journals and drawings: the engine only counts.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "core/model/types.hpp"

namespace elastic::simulator {

// Nodes [first, last], counted from 1.
struct NodeRange {
    int first = 0, last = 0;
    int count() const { return last - first + 1; }
    friend bool operator==(const NodeRange&, const NodeRange&) = default;
};
using NodeRanges = std::vector<NodeRange>;  // ascending, neither touching nor overlapping

std::string to_string(const NodeRanges&);  // "n[1-4,7]"

// The caller never asks for more than is free or held (asserted).  Nodes are numbered pool by pool.
class NodeAllocator {
  public:
    NodeAllocator(const core::PoolCounts& nodes, std::size_t jobs);

    // Of each pool the first free block that is large enough, else the lowest free nodes.
    NodeRanges take(std::size_t job, const core::PoolCounts& nodes);
    // The highest of each pool, so that it keeps its first, where a batch script would run.
    NodeRanges give_back(std::size_t job, const core::PoolCounts& nodes);
    void give_back_all(std::size_t job);

  private:
    NodeRanges take_of(NodeRanges& free, int count);

    std::vector<NodeRanges> free_;               // by pool
    std::vector<std::vector<NodeRanges>> held_;  // by job, by pool; empty if it has none
};

}  // namespace elastic::simulator
