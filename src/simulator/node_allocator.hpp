// SPDX-License-Identifier: MIT
// Which nodes jobs have, for journals and drawings: the engine only counts.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace elastic::simulator {

// Nodes [first, last], counted from 1.
struct NodeRange {
    int first = 0, last = 0;
    int count() const { return last - first + 1; }
    friend bool operator==(const NodeRange&, const NodeRange&) = default;
};
using NodeRanges = std::vector<NodeRange>;  // ascending, neither touching nor overlapping

std::string to_string(const NodeRanges&);  // "n[1-4,7]"

// The caller never asks for more than is free or held (asserted).
class NodeAllocator {
  public:
    explicit NodeAllocator(int nodes, std::size_t jobs);

    // The first free block that is large enough, else the lowest free nodes.
    NodeRanges take(std::size_t job, int count);
    // Its highest nodes, so that it keeps its first, where a batch script would run.
    NodeRanges give_back(std::size_t job, int count);
    void give_back_all(std::size_t job);

  private:
    NodeRanges free_;
    std::vector<NodeRanges> held_;  // by job
};

}  // namespace elastic::simulator
