// SPDX-License-Identifier: MIT
// Made in each reading of the cluster, with slurmctld's locks held: a set costs a few instructions
// a node, and there are as many sets as different constraints, not as jobs.
#include "core/model/pools.hpp"

#include <algorithm>
#include <limits>
#include <tuple>

namespace elastic::core {

void PoolMap::split(NodeWords set) {
    constexpr PoolId kNone = std::numeric_limits<PoolId>::max();
    renamed_.assign(2 * pools_, kNone);
    PoolId next = 0;
    for (std::size_t node = 0; node < pool_of_.size(); ++node) {
        const std::uint64_t is_inside = set[node / 64] >> (node % 64) & 1;
        PoolId& name = renamed_[2 * pool_of_[node] + is_inside];
        if (name == kNone) name = next++;
        pool_of_[node] = name;
    }
    pools_ = next;
}

std::vector<int> demand(std::span<const Eligibility> eligibilities, std::size_t pools) {
    std::vector<int> result(pools, 0);
    for (const Eligibility& eligible : eligibilities)
        for (const PoolId pool : eligible) ++result[pool];
    return result;
}

void order_pools(Eligibility& eligible, std::span<const Pool> pools,
                 const std::vector<bool>& is_named, std::span<const std::uint32_t> weights,
                 std::span<const int> demand) {
    const auto rank = [&](PoolId pool) {
        return std::tuple(!is_named[pool], pools[pool].asleep, weights[pool], demand[pool]);
    };
    std::ranges::stable_sort(eligible, {}, rank);
}

}  // namespace elastic::core
