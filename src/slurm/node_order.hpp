// SPDX-License-Identifier: GPL-2.0-or-later
// In which order jobs are given nodes where all would do.
//
// Always holds: where a choice prefers no node, its order is Slurm's: by `Weight` and then as they
// stand in slurm.conf.
#pragma once

#include <utility>
#include <vector>

#include "slurm/nodes.hpp"

namespace elastic::slurm {

class NodeOrder {
  public:
    // Nodes of these sets come first; a set counts for more than those behind it.
    explicit NodeOrder(std::vector<NodeSet> preferred = {}) : preferred_(std::move(preferred)) {}

    // So many of the nodes, all if there are fewer: those that a job is given first,
    NodeSet first(const NodeSet&, int count) const;
    // and those that it gives back first.
    NodeSet last(const NodeSet&, int count) const;

    // All of them, in this order.
    std::vector<int> sorted(const NodeSet&) const;
    // Those of `others` that come before any of the nodes by more than how they stand in
    // slurm.conf.
    NodeSet better(const NodeSet& others, const NodeSet& nodes) const;

  private:
    using Rank = std::pair<unsigned, std::uint32_t>;
    Rank rank(int node) const;
    std::vector<std::pair<Rank, int>> ranked(const NodeSet&) const;

    std::vector<NodeSet> preferred_;
};

// These nodes of a job and all others on their switches, or in their blocks, as far as Slurm knows
// the topology.
NodeSet with_neighbours(NodeSet, const job_record_t*);

// The order in which a running job keeps its nodes.
NodeOrder order_of_keeping(const job_record_t*);

// The weight of the lightest of the nodes; 0 if there is none.
std::uint32_t lightest(const NodeSet&);

}  // namespace elastic::slurm
