// SPDX-License-Identifier: GPL-2.0-or-later
// Nodes that differ in price or condition are other pools as well, so that each pool has one of
// either.
#include "slurm/read/view_pools.hpp"

#include "slurm/node_order.hpp"

namespace elastic::slurm {

namespace {

core::NodeWords words_of(const NodeSet& nodes) {
    const auto [first, last] = compat::words_of(nodes.get());
    return {first, last};
}

core::PoolMap tell_apart(const Eligibilities& eligibilities, const NodeConditions& conditions,
                         const std::vector<SupplySet>& supply) {
    core::PoolMap pools(static_cast<std::size_t>(node_record_count));
    const auto split = [&](const NodeSet& nodes) { pools.split(words_of(nodes)); };
    for (const Eligibilities::Set& set : eligibilities.sets()) {
        split(set.nodes);
        if (!set.required.empty()) split(set.required);
    }
    for (const SupplySet& set : supply) split(set.nodes);
    for (const NodeSet* set : {&conditions.failing, &conditions.maintained, &conditions.asleep})
        if (!set->empty()) split(*set);
    return pools;
}

void fill_pools(const core::PoolMap& map, View& view) {
    view.snapshot.pools.resize(map.pools());
    view.pools.assign(map.pools(), NodeSet());
    for (int node = 0; node < node_record_count; ++node) {
        const core::PoolId pool = map.pool_of(static_cast<std::size_t>(node));
        view.pools[pool].add(node);
        ++view.snapshot.pools[pool].nodes;
    }
}

// Of several prices the first one counts.
void describe_pools(const NodeConditions& conditions, View& view) {
    for (core::PoolId id = 0; id < view.pools.size(); ++id) {
        core::Pool& pool = view.snapshot.pools[id];
        pool.failing = view.pools[id].overlaps(conditions.failing);
        pool.maintained = view.pools[id].overlaps(conditions.maintained);
        pool.asleep = view.pools[id].overlaps(conditions.asleep);
        for (const SupplySet& set : view.supply)
            if (pool.price == 0 && view.pools[id].overlaps(set.nodes)) pool.price = set.terms.price;
    }
}

// Ascending.
std::vector<core::PoolId> pools_in(const NodeSet& nodes, const View& view) {
    std::vector<core::PoolId> result;
    for (core::PoolId id = 0; id < view.pools.size(); ++id)
        if (view.pools[id].overlaps(nodes)) result.push_back(id);
    return result;
}

// Of the lightest node that could be taken now, or ever where none can.
std::uint32_t weight_of(const NodeSet& pool, const NodeSet& idle) {
    NodeSet nodes(pool);
    nodes &= idle;
    return lightest(nodes.empty() ? pool : nodes);
}

std::vector<std::uint32_t> weights_of(const std::vector<NodeSet>& pools) {
    const NodeSet idle = idle_nodes();
    std::vector<std::uint32_t> weights;
    for (const NodeSet& pool : pools) weights.push_back(weight_of(pool, idle));
    return weights;
}

void make_budgets(View& view) {
    for (const SupplySet& set : view.supply)
        if (set.terms.most)
            view.snapshot.budgets.push_back({*set.terms.most, pools_in(set.nodes, view)});
}

void make_eligibilities(const Eligibilities& all, View& view) {
    auto& eligibilities = view.snapshot.eligibilities;
    for (const Eligibilities::Set& set : all.sets())
        eligibilities.push_back(pools_in(set.nodes, view));
    const std::vector<int> demand = core::demand(eligibilities, view.pools.size());
    const std::vector<std::uint32_t> weights = weights_of(view.pools);
    std::vector<bool> is_named(view.pools.size());
    for (std::size_t id = 0; id < eligibilities.size(); ++id) {
        const NodeSet& required = all.sets()[id].required;
        for (core::PoolId pool = 0; pool < view.pools.size(); ++pool)
            is_named[pool] = view.pools[pool].overlaps(required);
        core::order_pools(eligibilities[id], view.snapshot.pools, is_named, weights, demand);
    }
}

}  // namespace

core::PoolMap make_pools(const Eligibilities& eligibilities, const NodeConditions& conditions,
                         View& view) {
    core::PoolMap pools = tell_apart(eligibilities, conditions, view.supply);
    fill_pools(pools, view);
    describe_pools(conditions, view);
    make_budgets(view);
    make_eligibilities(eligibilities, view);
    return pools;
}

}  // namespace elastic::slurm
