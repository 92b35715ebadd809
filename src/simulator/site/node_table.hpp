// SPDX-License-Identifier: MIT
// The nodes of a site by their places: what each has, and which are those of a partition, of a
// reservation, or those on which a job ran.
//
// Nodes come from slurm.conf if there is one, else they are those on which the log's jobs ran: a
// partition then has the nodes that its jobs have had.  What slurm.conf does not have any more (a
// partition of last year) is known from the log, too.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/model/pools.hpp"
#include "simulator/logs/log.hpp"
#include "simulator/site/site.hpp"

namespace elastic::simulator {

// Places of nodes, as the bits of core::NodeWords.
class NodePlaces {
  public:
    void add(std::size_t node) {
        if (words_.size() <= node / 64) words_.resize(node / 64 + 1);
        words_[node / 64] |= std::uint64_t{1} << node % 64;
    }
    void widen(std::size_t nodes) { words_.resize((nodes + 63) / 64); }
    bool has(std::size_t node) const {
        return node / 64 < words_.size() && (words_[node / 64] >> node % 64 & 1);
    }
    core::NodeWords words() const { return words_; }

  private:
    std::vector<std::uint64_t> words_;
};

// When a job ran, or a node was not to be had.
struct Span {
    Time from = 0, to = 0;
    auto operator<=>(const Span&) const = default;
};

class NodeTable {
  public:
    static Result<NodeTable> make(const Log&, const SiteKnowledge&);

    std::size_t size() const { return kinds_.size(); }
    // Places of the nodes of LogNames::node_lists; those that are not known are left out.
    const std::vector<std::uint32_t>& list(int number) const {
        return lists_[static_cast<std::size_t>(number)];
    }
    // Where the job ran, if the log says it.
    const std::vector<std::uint32_t>* nodes_of(const Log&, std::size_t job) const;
    // By place of a node, when jobs ran there by the log's start and end times, in its order.
    std::vector<std::vector<Span>> uses(const Log&) const;
    std::optional<std::size_t> place(const std::string& name) const;
    // Names that are not known are left out.
    NodePlaces places(const std::vector<std::string>& names) const;
    double processors(const std::vector<std::string>& names) const;  // in all; 0: not known
    // Pools of nodes of which the same partitions have all or none, and that have the same.
    const core::PoolMap& alike() const { return alike_; }

    // Fills partitions, pools and nodes of the site.  Each set is of whole pools.
    void divide(const Log&, const std::vector<NodePlaces>& sets, Site&);
    // After divide().
    core::PoolId pool_of(std::size_t node) const { return map_.pool_of(node); }
    // Those with all of their nodes in the set.
    core::Eligibility pools_in(const NodePlaces&) const;

  private:
    struct NodeKind {
        std::uint32_t weight = 1;
        double processors = 0, memory = 0, gpus = 0;
        auto operator<=>(const NodeKind&) const = default;
    };

    explicit NodeTable(const SlurmConf* conf) : conf_(conf) {}
    void take_conf();
    Result<void> take_node_lists(const Log&);
    void take_node(const std::string& name, std::vector<std::uint32_t>& list);
    void take_partitions_of_log(const Log&);
    int most_nodes(const std::string& partition) const;
    void make_partitions(const Log&, Site&);
    void make_pools(Site&) const;
    void infer_processors(const Log&, Site&) const;
    void give_pools(Site&) const;
    void tell(const Log&, Site&) const;
    std::vector<NodeKind> kinds() const;
    NodePlaces places_of(const NodeKind&) const;

    const SlurmConf* conf_;                                // null: none
    std::vector<NodeKind> kinds_;                          // by place
    std::unordered_map<std::string, std::size_t> places_;  // by name
    std::map<std::string, NodePlaces> nodes_of_;           // by partition
    std::vector<std::vector<std::uint32_t>> lists_;        // by number of LogNames::node_lists
    core::PoolMap alike_{0}, map_{0};
    std::int64_t unknown_nodes_ = 0;
    std::vector<std::string> old_partitions_;
};

}  // namespace elastic::simulator
