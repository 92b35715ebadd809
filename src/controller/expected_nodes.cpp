// SPDX-License-Identifier: MIT
// In the order of their beginnings each start takes nodes that are free by then, those first that
// became free last: as many as the forecast has counted are always there.
#include "controller/expected_nodes.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <numeric>

namespace elastic::controller {

namespace {

// The nodes of a pool by the time at which each is free.
class Free {
  public:
    explicit Free(const std::vector<PoolNode>& nodes) {
        for (const PoolNode& node : nodes) from_.emplace(node.free_from, node.node);
    }

    void take(int count, const core::ExpectedStart& start, std::vector<int>& nodes) {
        auto end = from_.upper_bound(start.from), begin = end;
        for (; count > 0 && begin != from_.begin(); --count) nodes.push_back((--begin)->second);
        if (!start.is_reserved) return;
        std::vector<int> taken;
        for (auto one = begin; one != end; ++one) taken.push_back(one->second);
        from_.erase(begin, end);
        for (const int node : taken) from_.emplace(start.to, node);
    }

  private:
    std::multimap<Time, int> from_;
};

}  // namespace

std::vector<std::vector<int>> expected_nodes(const std::vector<core::ExpectedStart>& starts,
                                             const std::vector<std::vector<PoolNode>>& pools) {
    std::vector<Free> free(pools.begin(), pools.end());
    std::vector<std::size_t> order(starts.size());
    std::iota(order.begin(), order.end(), 0);
    std::ranges::stable_sort(order, {}, [&](std::size_t index) { return starts[index].from; });
    std::vector<std::vector<int>> result(starts.size());
    for (const std::size_t index : order) {
        const core::ExpectedStart& start = starts[index];
        for (std::size_t pool = 0; pool < pools.size(); ++pool)
            free[pool].take(start.nodes[pool], start, result[index]);
        std::ranges::sort(result[index]);
    }
    return result;
}

}  // namespace elastic::controller
