// SPDX-License-Identifier: MIT
// Nodes come from slurm.conf if there is one, else they are those on which the log's jobs ran: a
// partition then has the nodes that its jobs have had.  What slurm.conf does not have any more (a
// partition of last year) is known from the log, too.
//
// The order of the queue is that of Slurm's priorities as far as it is fixed: age grows alike for
// all who wait, so of two jobs the one that is to be first is known when both have arrived.
#include "simulator/site/site.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <tuple>
#include <unordered_map>

#include "common/atomic_file.hpp"
#include "common/hostlist.hpp"
#include "common/text.hpp"
#include "core/model/pools.hpp"

namespace elastic::simulator {

namespace {

constexpr std::size_t kMostText = 64 << 20;

// Places of nodes, as the bits of core::NodeWords.
class Nodes {
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

struct NodeKind {
    std::uint32_t weight = 1;
    double processors = 0, memory = 0, gpus = 0;
    auto operator<=>(const NodeKind&) const = default;
};

class SiteMaker {
  public:
    SiteMaker(const Log& log, const SiteKnowledge& known) : log_(log), known_(known) {}

    Result<std::optional<Site>> make() {
        if (known_.conf) take_conf();
        if (auto ok = take_node_lists(); !ok) return ok.error();
        if (kinds_.empty()) return std::optional<Site>();
        make_partitions();
        make_pools();
        order_queue();
        apply_limits();
        tell();
        return std::optional(std::move(site_));
    }

  private:
    bool has_facts() const { return log_.facts.size() == log_.jobs.size(); }

    // ---- nodes

    void take_conf() {
        for (const SlurmConf::Node& node : known_.conf->nodes) {
            places_.emplace(node.name, kinds_.size());
            kinds_.push_back({node.weight, static_cast<double>(node.processors), node.memory,
                              static_cast<double>(node.gpus)});
        }
        for (const SlurmConf::Partition& partition : known_.conf->partitions) {
            Nodes& nodes = nodes_of_[partition.name];
            for (const int node : partition.nodes) nodes.add(static_cast<std::size_t>(node));
        }
    }

    Result<void> take_node_lists() {
        lists_.resize(log_.names.node_lists.size());
        for (std::size_t list = 0; list < lists_.size(); ++list) {
            const auto names = expand_hostlist(log_.names.node_lists[list]);
            if (!names)
                return error("{}: NodeList '{}': {}", log_.name,
                             printable(log_.names.node_lists[list]), names.error().message);
            for (const std::string& name : *names) take_node(name, lists_[list]);
            if (kinds_.size() > kMaxHosts)
                return error("{}: NodeList: more than {} nodes", log_.name, kMaxHosts);
        }
        return {};
    }

    void take_node(const std::string& name, std::vector<std::uint32_t>& list) {
        const auto found = places_.find(name);
        if (found != places_.end())
            list.push_back(static_cast<std::uint32_t>(found->second));
        else if (known_.conf)
            ++unknown_nodes_;
        else {
            list.push_back(static_cast<std::uint32_t>(kinds_.size()));
            places_.emplace(name, kinds_.size());
            kinds_.emplace_back();
        }
    }

    // ---- partitions

    // The nodes that jobs of partitions have had which slurm.conf does not know.
    void make_partitions() {
        site_.partition_of.assign(log_.jobs.size(), 0);
        std::vector<bool> is_known(log_.names.partitions.size());
        for (std::size_t p = 0; p < is_known.size(); ++p)
            is_known[p] = nodes_of_.contains(log_.names.partitions[p]);
        for (std::size_t i = 0; has_facts() && i < log_.jobs.size(); ++i) {
            const auto [partition, list] =
                std::pair(log_.facts[i].partition, log_.facts[i].node_list);
            if (partition < 0 || list < 0 || is_known[partition]) continue;
            Nodes& nodes = nodes_of_[log_.names.partitions[partition]];
            for (const std::uint32_t node : lists_[list]) nodes.add(node);
        }
        for (std::size_t p = 0; p < is_known.size(); ++p)
            if (known_.conf && !is_known[p] && nodes_of_.contains(log_.names.partitions[p]))
                old_partitions_.push_back(printable(log_.names.partitions[p]));
        std::map<std::string, std::uint32_t> numbers;
        for (auto& [name, nodes] : nodes_of_) {
            nodes.widen(kinds_.size());
            numbers.emplace(name, static_cast<std::uint32_t>(site_.partitions.size()));
            site_.partitions.push_back({name, {}, 0, most_nodes(name)});
        }
        const auto all = static_cast<std::uint32_t>(site_.partitions.size());
        site_.partitions.push_back({"", {}, static_cast<int>(kinds_.size()), kMaxNodes});
        for (std::size_t i = 0; i < log_.jobs.size(); ++i) {
            const int partition = has_facts() ? log_.facts[i].partition : -1;
            const auto found =
                partition < 0 ? numbers.end() : numbers.find(log_.names.partitions[partition]);
            site_.partition_of[i] = found == numbers.end() ? all : found->second;
        }
    }

    const SlurmConf::Partition* conf_of(const std::string& name) const {
        if (!known_.conf) return nullptr;
        const auto found =
            std::ranges::find(known_.conf->partitions, name, &SlurmConf::Partition::name);
        return found == known_.conf->partitions.end() ? nullptr : &*found;
    }

    int most_nodes(const std::string& name) const {
        const SlurmConf::Partition* conf = conf_of(name);
        return conf ? conf->most_nodes : kMaxNodes;
    }

    // ---- pools

    void make_pools() {
        core::PoolMap map(kinds_.size());
        for (const auto& [name, nodes] : nodes_of_) map.split(nodes.words());
        for (const NodeKind& kind : kinds_of_nodes()) map.split(nodes_of(kind).words());
        site_.pools.resize(map.pools());
        for (std::size_t node = 0; node < kinds_.size(); ++node) {
            NodePool& pool = site_.pools[map.pool_of(node)];
            const NodeKind& kind = kinds_[node];
            pool = {pool.nodes + 1, {kind.processors, kind.memory, kind.gpus}, kind.weight};
        }
        site_.nodes = static_cast<int>(kinds_.size());
        if (!known_.conf) infer_processors(map);
        give_pools(map);
    }

    // A node has as many processors as the job that had most of one of its pool.
    void infer_processors(const core::PoolMap& map) {
        for (std::size_t i = 0; has_facts() && i < log_.jobs.size(); ++i) {
            const int list = log_.facts[i].node_list;
            if (list < 0 || lists_[list].empty()) continue;
            const double share = static_cast<double>(log_.jobs[i].processors) /
                                 static_cast<double>(lists_[list].size());
            for (const std::uint32_t node : lists_[list]) {
                NodePool& pool = site_.pools[map.pool_of(node)];
                pool.each.processors = std::max(pool.each.processors, std::ceil(share));
            }
        }
    }

    std::vector<NodeKind> kinds_of_nodes() const {
        std::vector<NodeKind> kinds = kinds_;
        std::ranges::sort(kinds);
        kinds.erase(std::ranges::unique(kinds).begin(), kinds.end());
        return kinds;
    }

    Nodes nodes_of(const NodeKind& kind) const {
        Nodes nodes;
        nodes.widen(kinds_.size());
        for (std::size_t node = 0; node < kinds_.size(); ++node)
            if (kinds_[node] == kind) nodes.add(node);
        return nodes;
    }

    void give_pools(const core::PoolMap& map) {
        std::size_t number = 0;
        for (const auto& [name, nodes] : nodes_of_) {
            std::vector<bool> has(map.pools());
            for (std::size_t node = 0; node < kinds_.size(); ++node)
                if (nodes.has(node)) has[map.pool_of(node)] = true;
            Partition& partition = site_.partitions[number++];
            for (core::PoolId pool = 0; pool < has.size(); ++pool)
                if (has[pool]) {
                    partition.pools.push_back(pool);
                    partition.nodes += site_.pools[pool].nodes;
                }
        }
        core::Eligibility& all = site_.partitions.back().pools;
        all.resize(map.pools());
        std::iota(all.begin(), all.end(), 0);
    }

    // ---- the queue

    const Qos* qos_named(const std::string& name) const {
        const auto found = std::ranges::find(known_.qos, name, &Qos::name);
        return found == known_.qos.end() ? nullptr : &*found;
    }

    const Qos* qos_of(std::size_t job) const {
        const int qos = has_facts() ? log_.facts[job].qos : -1;
        return qos < 0 ? nullptr : qos_named(log_.names.qos[qos]);
    }

    // Slurm's priority/multifactor without fair-share, times of arrival standing for age.
    double priority(std::size_t job) const {
        if (known_.order == QueueOrder::logged) return has_facts() ? log_.facts[job].priority : 0;
        if (!known_.conf) return 0;
        const SlurmConf::Weights& weights = known_.conf->weights;
        const Partition& partition = site_.partitions[site_.partition_of[job]];
        const SlurmConf::Partition* conf = conf_of(partition.name);
        const Qos* qos = qos_of(job);
        const double share = static_cast<double>(log_.jobs[job].nodes) / std::max(1, site_.nodes);
        double sum = weights.size * (weights.favours_small ? 1 - share : share);
        if (conf && most_factor_ > 0) sum += weights.partition * conf->job_factor / most_factor_;
        if (qos && most_qos_ > 0) sum += weights.qos * qos->priority / most_qos_;
        return sum - weights.age * log_.jobs[job].submit / weights.most_age;
    }

    int tier(std::size_t job) const {
        const SlurmConf::Partition* conf = conf_of(site_.partitions[site_.partition_of[job]].name);
        return conf ? conf->tier : 1;
    }

    void order_queue() {
        if (known_.conf)
            for (const auto& partition : known_.conf->partitions)
                most_factor_ = std::max<double>(most_factor_, partition.job_factor);
        for (const Qos& qos : known_.qos) most_qos_ = std::max(most_qos_, qos.priority);
        using Key = std::tuple<int, double, Time, std::uint32_t>;
        std::vector<Key> keys;
        for (std::uint32_t job = 0; job < log_.jobs.size(); ++job)
            keys.emplace_back(-tier(job), -priority(job), log_.jobs[job].submit, job);
        const auto by_arrival = [](const Key& a, const Key& b) {
            return std::pair(std::get<2>(a), std::get<3>(a)) <
                   std::pair(std::get<2>(b), std::get<3>(b));
        };
        std::ranges::sort(keys);
        if (std::ranges::is_sorted(keys, by_arrival)) return;
        site_.ranks.resize(keys.size());
        for (std::uint32_t rank = 0; rank < keys.size(); ++rank)
            site_.ranks[std::get<3>(keys[rank])] = rank;
    }

    // ---- limits

    void apply_limits() {
        if (known_.qos.empty()) return;
        if (known_.conf && !known_.conf->enforces_limits) {
            site_.notes.push_back(fmt::format(
                "{}: AccountingStorageEnforce has no limits, so those of QOS keep no job waiting",
                known_.conf->name));
            return;
        }
        site_.limits_of.resize(log_.jobs.size());
        for (std::size_t job = 0; job < log_.jobs.size(); ++job) {
            if (const Qos* qos = qos_of(job)) apply(*qos, job);
            const SlurmConf::Partition* conf =
                conf_of(site_.partitions[site_.partition_of[job]].name);
            if (conf && !conf->qos.empty())
                if (const Qos* qos = qos_named(conf->qos)) apply(*qos, job);
            std::vector<std::uint32_t>& limits = site_.limits_of[job];
            std::ranges::sort(limits);
            limits.erase(std::ranges::unique(limits).begin(), limits.end());
        }
    }

    void apply(const Qos& qos, std::size_t job) {
        for (const Cap& cap : qos.caps) {
            const JobFacts& facts = log_.facts[job];
            const int whose = cap.of == Cap::Of::all    ? 0
                              : cap.of == Cap::Of::user ? facts.user
                                                        : facts.account;
            if (whose < 0) continue;
            const auto [found, is_new] = limit_of_.try_emplace(
                std::tuple(&cap, whose), static_cast<std::uint32_t>(site_.limits.size()));
            if (is_new)
                site_.limits.push_back({name_of(qos, cap, facts), cap.nodes, cap.processors,
                                        cap.gpus, cap.memory, cap.jobs});
            site_.limits_of[job].push_back(found->second);
        }
    }

    std::string name_of(const Qos& qos, const Cap& cap, const JobFacts& facts) const {
        const std::string of =
            cap.of == Cap::Of::user ? fmt::format(" of user {}", log_.names.users[facts.user])
            : cap.of == Cap::Of::account
                ? fmt::format(" of account {}", log_.names.accounts[facts.account])
                : "";
        return printable(fmt::format("limits of QOS {}{}", qos.name, of), 200);
    }

    // ---- what is said of it

    void tell() {
        std::vector<std::string> parts;
        for (const Partition& partition : site_.partitions)
            if (!partition.name.empty())
                parts.push_back(fmt::format("{} {}", printable(partition.name), partition.nodes));
        constexpr std::size_t kShown = 12;
        const std::size_t more = parts.size() - std::min(parts.size(), kShown);
        parts.resize(parts.size() - more);
        site_.notes.insert(
            site_.notes.begin(),
            fmt::format("{}: {} nodes in {} partition(s) by {}: {}{}", log_.name, site_.nodes,
                        parts.size() + more,
                        known_.conf ? known_.conf->name : "the nodes on which jobs ran",
                        fmt::join(parts, ", "), more ? fmt::format(" and {} more", more) : ""));
        if (unknown_nodes_ > 0)
            site_.notes.push_back(
                fmt::format("{}: {} node(s) of its NodeList are not in {}, where they are not had",
                            log_.name, unknown_nodes_, known_.conf->name));
        if (!old_partitions_.empty())
            site_.notes.push_back(fmt::format(
                "{}: not in {}, so with the nodes on which their jobs ran: partition(s) {}",
                log_.name, known_.conf->name, fmt::join(old_partitions_, ", ")));
        if (known_.conf && known_.conf->weights.fair_share > 0)
            site_.notes.push_back(fmt::format(
                "{}: PriorityWeightFairshare is not modelled: the queue is in the order "
                "of the other priorities",
                known_.conf->name));
    }

    const Log& log_;
    const SiteKnowledge& known_;
    Site site_;
    std::vector<NodeKind> kinds_;                          // by place of the node
    std::unordered_map<std::string, std::size_t> places_;  // by name
    std::map<std::string, Nodes> nodes_of_;                // by partition
    std::vector<std::vector<std::uint32_t>> lists_;        // by number of LogNames::node_lists
    std::map<std::tuple<const Cap*, int>, std::uint32_t> limit_of_;
    std::int64_t unknown_nodes_ = 0;
    std::vector<std::string> old_partitions_;
    double most_factor_ = 0, most_qos_ = 0;
};

}  // namespace

Result<SiteKnowledge> read_site_files(const SiteFiles& files) {
    SiteKnowledge known;
    known.order = files.order;
    if (!files.slurm_conf.empty()) {
        Result<SlurmConf> conf = read_slurm_conf(files.slurm_conf);
        if (!conf) return error("--slurm-conf: {}", conf.error().message);
        known.conf = *std::move(conf);
    }
    if (!files.qos.empty()) {
        const Result<std::string> text = read_file(files.qos, kMostText);
        if (!text) return error("--qos: {}", text.error().message);
        Result<std::vector<Qos>> qos = parse_qos(*text, files.qos);
        if (!qos) return error("--qos: {}", qos.error().message);
        known.qos = *std::move(qos);
    }
    return known;
}

Result<std::optional<Site>> make_site(const Log& log, const SiteKnowledge& known) {
    return SiteMaker(log, known).make();
}

}  // namespace elastic::simulator
