// SPDX-License-Identifier: MIT
// Which nodes jobs have, for journals and drawings: the engine only counts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "core/model/types.hpp"
#include "simulator/observer.hpp"

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

    // Nodes that jobs share, by numbers that are theirs until the last of these has given them
    // back.
    NodeRanges share(std::size_t job, const std::vector<Observer::SharedNode>&);
    // Of each pool the first free block that is large enough, else the lowest free nodes.
    NodeRanges take(std::size_t job, const core::PoolCounts& nodes);
    // The highest of each pool, so that it keeps its first, where a batch script would run.
    NodeRanges give_back(std::size_t job, const core::PoolCounts& nodes);
    void give_back_all(std::size_t job);

  private:
    NodeRanges take_of(NodeRanges& free, int count);
    struct Shared {
        NodeRanges node;
        core::PoolId pool = 0;
        int jobs = 0;
    };
    void leave(std::uint32_t shared_node);

    std::vector<NodeRanges> free_;               // by pool
    std::vector<std::vector<NodeRanges>> held_;  // by job, by pool; empty if it has none
    std::map<std::uint32_t, Shared> shared_;     // by the nodes' own numbers
    std::map<std::size_t, std::vector<std::uint32_t>> sharing_;  // by job
};

}  // namespace elastic::simulator
