// SPDX-License-Identifier: MIT
// Pools out of sets of nodes: two nodes are in one pool if each set has either both or neither.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/model/snapshot.hpp"

namespace elastic::core {

// A set of nodes by their places in Slurm's table: node n is bit n % 64 of word n / 64.
using NodeWords = std::span<const std::uint64_t>;

// The pool of each node.
class PoolMap {
  public:
    // One pool of all nodes.
    explicit PoolMap(std::size_t nodes) : pool_of_(nodes, 0) {}

    // Splits each pool into its nodes inside and outside the set, which has all words of the nodes.
    // Pools are numbered anew, in the order of their first nodes.
    void split(NodeWords);

    std::size_t pools() const { return pools_; }
    PoolId pool_of(std::size_t node) const { return pool_of_[node]; }

  private:
    std::vector<PoolId> pool_of_;
    std::vector<PoolId> renamed_;  // in split(); here to keep its room
    std::size_t pools_ = 1;
};

// How many of the eligibilities have each of so many pools.
std::vector<int> demand(std::span<const Eligibility>, std::size_t pools);

// Puts the pools that a job may use into the order in which they are to be taken: those first of
// which its user names nodes, those last that are asleep, the others by weight as Slurm takes
// nodes, and otherwise by demand, since what few want keeps nobody waiting. Pools that are equal in
// all of this stay as they stand.
void order_pools(Eligibility&, std::span<const Pool>, const std::vector<bool>& is_named,
                 std::span<const std::uint32_t> weights, std::span<const int> demand);

}  // namespace elastic::core
