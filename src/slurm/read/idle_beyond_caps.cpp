// SPDX-License-Identifier: GPL-2.0-or-later
// A plan keeps idle nodes beyond a cap back by itself (keep_within_budgets); Slurm's own loops,
// where these start jobs, have to be kept from them.  As there, it is those that the queue wants
// last.
#include "slurm/read/idle_beyond_caps.hpp"

#include <algorithm>

#include "slurm/read/eligibility.hpp"
#include "slurm/read/view.hpp"

namespace elastic::slurm {

namespace {

int in_use(const NodeSet& nodes) {
    int count = 0;
    nodes.for_each([&](int node) {
        const node_record_t* record = node_record_table_ptr[node];
        count += record && (IS_NODE_ALLOCATED(record) || IS_NODE_COMPLETING(record));
    });
    return count;
}

NodeSet common(NodeSet one, const NodeSet& other) {
    return one &= other;
}

// Pools that jobs of the queue may use, in its order.
std::vector<core::PoolId> wanted(const core::Snapshot& snapshot) {
    std::vector<core::PoolId> order;
    std::vector<bool> has_pool(snapshot.pools.size()), is_seen(snapshot.eligibilities.size());
    for (const core::PendingJob& job : snapshot.pending) {
        if (is_seen[job.eligible]) continue;
        is_seen[job.eligible] = true;
        for (core::PoolId pool : snapshot.eligibilities[job.eligible]) {
            if (!has_pool[pool]) order.push_back(pool);
            has_pool[pool] = true;
        }
    }
    return order;
}

// As many of the nodes as there is room for are taken from them.
void spare(NodeSet& nodes, int room, const View& view) {
    const auto take = [&](const NodeSet& some) {
        common(some, nodes).for_each([&](int node) {
            if (room-- > 0) nodes.remove(node);
        });
    };
    for (core::PoolId pool : wanted(view.snapshot))
        if (room > 0) take(view.pools[pool]);
    if (room > 0) take(nodes);
}

}  // namespace

NodeSet idle_beyond_caps(const View& view, const NodeSet& kept) {
    NodeSet beyond;
    if (view.is_stale()) return beyond;
    for (const SupplySet& set : view.supply) {
        if (!set.terms.most) continue;
        NodeSet idle = common(set.nodes, idle_nodes());
        const int promised = common(idle, kept).count();
        const int room = std::max(0, *set.terms.most - in_use(set.nodes) - promised);
        idle -= kept;
        idle -= beyond;
        if (idle.count() <= room) continue;
        spare(idle, room, view);
        beyond |= idle;
    }
    return beyond;
}

}  // namespace elastic::slurm
