// SPDX-License-Identifier: MIT
// The last partition has all nodes: that of jobs of which nobody knows theirs.
#include "simulator/site/node_table.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "common/hostlist.hpp"
#include "common/text.hpp"

namespace elastic::simulator {

Result<NodeTable> NodeTable::make(const Log& log, const SiteKnowledge& known) {
    NodeTable table(known.conf ? &*known.conf : nullptr);
    if (table.conf_) table.take_conf();
    if (auto ok = table.take_node_lists(log); !ok) return ok.error();
    table.take_partitions_of_log(log);
    table.alike_ = core::PoolMap(table.kinds_.size());
    for (const auto& [name, nodes] : table.nodes_of_) table.alike_.split(nodes.words());
    for (const NodeKind& kind : table.kinds()) table.alike_.split(table.places_of(kind).words());
    return table;
}

void NodeTable::take_conf() {
    for (const SlurmConf::Node& node : conf_->nodes) {
        places_.emplace(node.name, kinds_.size());
        // Slurm counts memory where it is told to; else it does not keep jobs apart.
        kinds_.push_back({node.weight, static_cast<double>(node.processors),
                          conf_->counts_memory ? node.memory : 0, static_cast<double>(node.gpus)});
    }
    for (const SlurmConf::Partition& partition : conf_->partitions) {
        NodePlaces& nodes = nodes_of_[partition.name];
        for (const int node : partition.nodes) nodes.add(static_cast<std::size_t>(node));
    }
}

Result<void> NodeTable::take_node_lists(const Log& log) {
    lists_.resize(log.names.node_lists.size());
    for (std::size_t list = 0; list < lists_.size(); ++list) {
        const auto names = expand_hostlist(log.names.node_lists[list]);
        if (!names)
            return error("{}: NodeList '{}': {}", log.name, printable(log.names.node_lists[list]),
                         names.error().message);
        for (const std::string& name : *names) take_node(name, lists_[list]);
        if (kinds_.size() > kMaxHosts)
            return error("{}: NodeList: more than {} nodes", log.name, kMaxHosts);
    }
    return {};
}

void NodeTable::take_node(const std::string& name, std::vector<std::uint32_t>& list) {
    const auto found = places_.find(name);
    if (found != places_.end())
        list.push_back(static_cast<std::uint32_t>(found->second));
    else if (conf_)
        ++unknown_nodes_;
    else {
        list.push_back(static_cast<std::uint32_t>(kinds_.size()));
        places_.emplace(name, kinds_.size());
        kinds_.emplace_back();
    }
}

const std::vector<std::uint32_t>* NodeTable::nodes_of(const Log& log, std::size_t job) const {
    const int number = log.facts_of(job).node_list;
    return number < 0 || list(number).empty() ? nullptr : &list(number);
}

std::vector<std::vector<Span>> NodeTable::uses(const Log& log) const {
    std::vector<std::vector<Span>> uses(size());
    for (std::size_t job = 0; job < log.jobs.size(); ++job) {
        const std::vector<std::uint32_t>* ran_on = nodes_of(log, job);
        const LogJob& of = log.jobs[job];
        if (!ran_on || of.wait < 0) continue;
        const Time start = of.submit + of.wait;
        for (const std::uint32_t node : *ran_on) uses[node].push_back({start, start + of.run});
    }
    return uses;
}

std::optional<std::size_t> NodeTable::place(const std::string& name) const {
    const auto found = places_.find(name);
    return found == places_.end() ? std::nullopt : std::optional(found->second);
}

double NodeTable::processors(const std::vector<std::string>& names) const {
    double sum = 0;
    for (const std::string& name : names)
        if (const auto node = place(name)) sum += kinds_[*node].processors;
    return sum;
}

NodePlaces NodeTable::places(const std::vector<std::string>& names) const {
    NodePlaces found;
    found.widen(kinds_.size());
    for (const std::string& name : names)
        if (const auto node = place(name)) found.add(*node);
    return found;
}

// The nodes that jobs of partitions have had which slurm.conf does not know.
void NodeTable::take_partitions_of_log(const Log& log) {
    const std::vector<std::string>& names = log.names.partitions;
    std::vector<bool> is_known(names.size());
    for (std::size_t p = 0; p < names.size(); ++p) is_known[p] = nodes_of_.contains(names[p]);
    for (std::size_t job = 0; job < log.jobs.size(); ++job) {
        const int partition = log.facts_of(job).partition;
        const std::vector<std::uint32_t>* ran_on = nodes_of(log, job);
        if (partition < 0 || !ran_on || is_known[static_cast<std::size_t>(partition)]) continue;
        NodePlaces& nodes = nodes_of_[names[static_cast<std::size_t>(partition)]];
        for (const std::uint32_t node : *ran_on) nodes.add(node);
    }
    for (std::size_t p = 0; p < names.size(); ++p)
        if (conf_ && !is_known[p] && nodes_of_.contains(names[p]))
            old_partitions_.push_back(printable(names[p]));
    for (auto& [name, nodes] : nodes_of_) nodes.widen(kinds_.size());
}

int NodeTable::most_nodes(const std::string& partition) const {
    const SlurmConf::Partition* conf = conf_ ? conf_->partition(partition) : nullptr;
    return conf ? conf->most_nodes : kMaxNodes;
}

void NodeTable::divide(const Log& log, const std::vector<NodePlaces>& sets, Site& site) {
    make_partitions(log, site);
    map_ = alike_;
    for (const NodePlaces& set : sets) map_.split(set.words());
    make_pools(site);
    if (!conf_) infer_processors(log, site);
    give_pools(site);
    tell(log, site);
}

void NodeTable::make_partitions(const Log& log, Site& site) {
    std::map<std::string, std::uint32_t> numbers;
    for (const auto& [name, nodes] : nodes_of_) {
        numbers.emplace(name, static_cast<std::uint32_t>(site.partitions.size()));
        site.partitions.push_back({name, {}, 0, most_nodes(name)});
    }
    const auto all = static_cast<std::uint32_t>(site.partitions.size());
    site.partitions.push_back({"", {}, static_cast<int>(kinds_.size()), kMaxNodes});
    site.partition_of.assign(log.jobs.size(), all);
    for (std::size_t job = 0; job < log.jobs.size(); ++job) {
        const int partition = log.facts_of(job).partition;
        if (partition < 0) continue;
        const auto found = numbers.find(log.names.partitions[static_cast<std::size_t>(partition)]);
        if (found != numbers.end()) site.partition_of[job] = found->second;
    }
}

void NodeTable::make_pools(Site& site) const {
    site.pools.resize(map_.pools());
    for (std::size_t node = 0; node < kinds_.size(); ++node) {
        NodePool& pool = site.pools[map_.pool_of(node)];
        const NodeKind& kind = kinds_[node];
        pool = {pool.nodes + 1, {kind.processors, kind.memory, kind.gpus}, kind.weight};
    }
    site.nodes = static_cast<int>(kinds_.size());
}

// A node has as many processors as the job that had most of one of its pool.
void NodeTable::infer_processors(const Log& log, Site& site) const {
    for (std::size_t job = 0; job < log.jobs.size(); ++job) {
        const std::vector<std::uint32_t>* nodes = nodes_of(log, job);
        if (!nodes) continue;
        const double share =
            static_cast<double>(log.jobs[job].processors) / static_cast<double>(nodes->size());
        for (const std::uint32_t node : *nodes) {
            NodePool& pool = site.pools[map_.pool_of(node)];
            pool.each.processors = std::max(pool.each.processors, std::ceil(share));
        }
    }
}

std::vector<NodeTable::NodeKind> NodeTable::kinds() const {
    std::vector<NodeKind> kinds = kinds_;
    std::ranges::sort(kinds);
    kinds.erase(std::ranges::unique(kinds).begin(), kinds.end());
    return kinds;
}

NodePlaces NodeTable::places_of(const NodeKind& kind) const {
    NodePlaces nodes;
    nodes.widen(kinds_.size());
    for (std::size_t node = 0; node < kinds_.size(); ++node)
        if (kinds_[node] == kind) nodes.add(node);
    return nodes;
}

core::Eligibility NodeTable::pools_in(const NodePlaces& nodes) const {
    std::vector<bool> has(map_.pools());
    for (std::size_t node = 0; node < kinds_.size(); ++node)
        if (nodes.has(node)) has[map_.pool_of(node)] = true;
    core::Eligibility pools;
    for (core::PoolId pool = 0; pool < has.size(); ++pool)
        if (has[pool]) pools.push_back(pool);
    return pools;
}

void NodeTable::give_pools(Site& site) const {
    std::size_t number = 0;
    for (const auto& [name, nodes] : nodes_of_) {
        Partition& partition = site.partitions[number++];
        partition.pools = pools_in(nodes);
        for (const core::PoolId pool : partition.pools) partition.nodes += site.pools[pool].nodes;
    }
    core::Eligibility& all = site.partitions.back().pools;
    all.resize(map_.pools());
    std::iota(all.begin(), all.end(), 0);
}

void NodeTable::tell(const Log& log, Site& site) const {
    std::vector<std::string> parts;
    for (const Partition& partition : site.partitions)
        if (!partition.name.empty())
            parts.push_back(fmt::format("{} {}", printable(partition.name), partition.nodes));
    constexpr std::size_t kShown = 12;
    const std::size_t more = parts.size() - std::min(parts.size(), kShown);
    parts.resize(parts.size() - more);
    site.notes.push_back(
        fmt::format("{}: {} nodes in {} partition(s) by {}: {}{}", log.name, site.nodes,
                    parts.size() + more, conf_ ? conf_->name : "the nodes on which jobs ran",
                    fmt::join(parts, ", "), more ? fmt::format(" and {} more", more) : ""));
    if (unknown_nodes_ > 0)
        site.notes.push_back(
            fmt::format("{}: {} node(s) of its NodeList are not in {}, where they are not had",
                        log.name, unknown_nodes_, conf_->name));
    if (!old_partitions_.empty())
        site.notes.push_back(
            fmt::format("{}: not in {}, so with the nodes on which their jobs ran: partition(s) {}",
                        log.name, conf_->name, fmt::join(old_partitions_, ", ")));
}

}  // namespace elastic::simulator
