// SPDX-License-Identifier: MIT
// The order of the queue is that of Slurm's priorities as far as it is fixed: age grows alike for
// all who wait, so of two jobs the one that is to be first is known when both have arrived.
#include "simulator/site/queue_order.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

namespace elastic::simulator {

namespace {

class Priorities {
  public:
    Priorities(const Log& log, const SiteKnowledge& known, const Site& site)
        : log_(log), known_(known), site_(site) {
        if (known.conf)
            for (const SlurmConf::Partition& partition : known.conf->partitions)
                most_factor_ = std::max<double>(most_factor_, partition.job_factor);
        for (const Qos& qos : known.qos) most_qos_ = std::max(most_qos_, qos.priority);
    }

    int tier(std::size_t job) const {
        const SlurmConf::Partition* conf = conf_of(job);
        return conf ? conf->tier : 1;
    }

    // Slurm's priority/multifactor without fair-share, times of arrival standing for age.
    double priority(std::size_t job) const {
        if (known_.order == QueueOrder::logged)
            return log_.facts.empty() ? 0 : log_.facts[job].priority;
        if (!known_.conf) return 0;
        const SlurmConf::Weights& weights = known_.conf->weights;
        const SlurmConf::Partition* conf = conf_of(job);
        const Qos* qos = known_.qos_of(log_, job);
        const double share = static_cast<double>(log_.jobs[job].nodes) / std::max(1, site_.nodes);
        double sum = weights.size * (weights.favours_small ? 1 - share : share);
        if (conf && most_factor_ > 0) sum += weights.partition * conf->job_factor / most_factor_;
        if (qos && most_qos_ > 0) sum += weights.qos * qos->priority / most_qos_;
        return sum - weights.age * log_.jobs[job].submit / weights.most_age;
    }

  private:
    const SlurmConf::Partition* conf_of(std::size_t job) const {
        return known_.partition(site_.partitions[site_.partition_of[job]].name);
    }

    const Log& log_;
    const SiteKnowledge& known_;
    const Site& site_;
    double most_factor_ = 0, most_qos_ = 0;
};

}  // namespace

void order_queue(const Log& log, const SiteKnowledge& known, Site& site) {
    const Priorities priorities(log, known, site);
    using Key = std::tuple<int, double, Time, std::uint32_t>;
    std::vector<Key> keys;
    for (std::uint32_t job = 0; job < log.jobs.size(); ++job)
        keys.emplace_back(-priorities.tier(job), -priorities.priority(job), log.jobs[job].submit,
                          job);
    const auto by_arrival = [](const Key& a, const Key& b) {
        return std::pair(std::get<2>(a), std::get<3>(a)) <
               std::pair(std::get<2>(b), std::get<3>(b));
    };
    std::ranges::sort(keys);
    if (!std::ranges::is_sorted(keys, by_arrival)) {
        site.ranks.resize(keys.size());
        for (std::uint32_t rank = 0; rank < keys.size(); ++rank)
            site.ranks[std::get<3>(keys[rank])] = rank;
    }
    if (known.conf && known.conf->weights.fair_share > 0)
        site.notes.push_back(
            fmt::format("{}: PriorityWeightFairshare is not modelled: the queue is in the order "
                        "of the other priorities",
                        known.conf->name));
}

}  // namespace elastic::simulator
