// SPDX-License-Identifier: GPL-2.0-or-later
// A choice is a set, so nodes are only parted into those before and behind its end, which takes
// time linear in the nodes to choose from.  Nothing is kept between choices: weights change by
// `scontrol update` without a mark.
#include "slurm/node_order.hpp"

#include <algorithm>

#include "slurm/batch.hpp"

namespace elastic::slurm {

NodeOrder::Rank NodeOrder::rank(int node) const {
    unsigned place = 0;
    for (const NodeSet& set : preferred_) place = 2 * place + (set.has(node) ? 0 : 1);
    const node_record_t* record = node_record_table_ptr[node];
    return {place, record && record->config_ptr ? record->config_ptr->weight : 0};
}

std::vector<std::pair<NodeOrder::Rank, int>> NodeOrder::ranked(const NodeSet& nodes) const {
    std::vector<std::pair<Rank, int>> result;
    nodes.for_each([&](int node) { result.emplace_back(rank(node), node); });
    return result;
}

std::vector<int> NodeOrder::sorted(const NodeSet& nodes) const {
    std::vector<std::pair<Rank, int>> all = ranked(nodes);
    std::sort(all.begin(), all.end());
    std::vector<int> result;
    for (const auto& [rank, node] : all) result.push_back(node);
    return result;
}

NodeSet NodeOrder::first(const NodeSet& nodes, int count) const {
    if (count >= nodes.count()) return nodes;
    NodeSet result;
    if (count <= 0) return result;
    std::vector<std::pair<Rank, int>> all = ranked(nodes);
    const auto end = all.begin() + count;
    std::nth_element(all.begin(), end, all.end());
    for (auto node = all.begin(); node != end; ++node) result.add(node->second);
    return result;
}

NodeSet NodeOrder::last(const NodeSet& nodes, int count) const {
    NodeSet result(nodes);
    return result -= first(nodes, nodes.count() - count);
}

NodeSet NodeOrder::better(const NodeSet& others, const NodeSet& nodes) const {
    Rank worst{};
    nodes.for_each([&](int node) { worst = std::max(worst, rank(node)); });
    NodeSet result;
    others.for_each([&](int node) {
        if (rank(node) < worst) result.add(node);
    });
    return result;
}

NodeSet with_neighbours(NodeSet nodes, const job_record_t* job) {
    compat::add_nodes_of_switches(job, nodes.get());
    return nodes;
}

// What is on the switches of the batch script, which cannot leave, stays together.
NodeOrder order_of_keeping(const job_record_t* job) {
    NodeSet kept;
    if (const int host = batch_host(job); host >= 0) kept.add(host);
    return NodeOrder({with_neighbours(std::move(kept), job)});
}

std::uint32_t lightest(const NodeSet& nodes) {
    std::uint32_t least = 0;
    bool found = false;
    for_each_hardware([&](const config_record_t* config) {
        if (!bit_overlap_any(nodes.get(), config->node_bitmap)) return;
        least = found ? std::min(least, config->weight) : config->weight;
        found = true;
    });
    return least;
}

}  // namespace elastic::slurm
