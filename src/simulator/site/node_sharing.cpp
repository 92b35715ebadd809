// SPDX-License-Identifier: MIT
// Whether nodes are shared at all slurm.conf says (SelectType, OverSubscribe=EXCLUSIVE), else the
// log, where jobs ran on one node at the same time.  A job that had all processors of its nodes
// shared them with nobody.
#include "simulator/site/node_sharing.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

namespace elastic::simulator {

namespace {

constexpr double kRounding = 1e-6;
// Of all node-seconds of jobs those that overlap with another job's: an end may be noted late.
constexpr double kMostOverlap = 0.01;

bool log_shares_nodes(const Log& log, const NodeTable& nodes) {
    std::vector<std::vector<Span>> uses = nodes.uses(log);
    double all = 0, twice = 0;
    for (std::vector<Span>& of_node : uses) {
        std::ranges::sort(of_node);
        Time used_until = 0;
        for (const Span& use : of_node) {
            all += use.to - use.from;
            twice += std::max(0.0, std::min(used_until, use.to) - use.from);
            used_until = std::max(used_until, use.to);
        }
    }
    return twice > kMostOverlap * all;
}

// Of the node on which the job ran, else of the smallest of its partition.
double processors_of_node(const Log& log, std::size_t job, const NodeTable& nodes,
                          const Site& site) {
    if (const std::vector<std::uint32_t>* ran_on = nodes.nodes_of(log, job))
        return site.pools[nodes.pool_of(ran_on->front())].each.processors;
    double least = std::numeric_limits<double>::infinity();
    for (const core::PoolId pool : site.partitions[site.partition_of[job]].pools)
        least = std::min(least, site.pools[pool].each.processors);
    return least;
}

bool has_part_of_nodes(const Log& log, std::size_t job, const NodeTable& nodes, const Site& site) {
    const LogJob& of = log.jobs[job];
    if (of.processors == 0 || of.nodes == 0) return false;
    const double each = static_cast<double>(of.processors) / static_cast<double>(of.nodes);
    return each < processors_of_node(log, job, nodes, site) - kRounding;
}

}  // namespace

void share_nodes(const Log& log, const SiteKnowledge& known, const NodeTable& nodes, Site& site) {
    if (known.conf ? known.conf->whole_nodes : !log_shares_nodes(log, nodes)) return;
    std::int64_t sharing = 0;
    std::vector<bool> shares(log.jobs.size());
    for (std::size_t job = 0; job < log.jobs.size(); ++job) {
        const SlurmConf::Partition* conf =
            known.partition(site.partitions[site.partition_of[job]].name);
        if ((conf && conf->exclusive) || !has_part_of_nodes(log, job, nodes, site)) continue;
        shares[job] = true;
        ++sharing;
    }
    if (sharing == 0) return;
    site.shares = std::move(shares);
    site.notes.push_back(fmt::format(
        "{}: {:.0f} % of the jobs have a part of their nodes, whose rest is for others like them",
        log.name, 100.0 * static_cast<double>(sharing) / static_cast<double>(log.jobs.size())));
}

}  // namespace elastic::simulator
