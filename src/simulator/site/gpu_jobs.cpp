// SPDX-License-Identifier: MIT
// Where no node of the partition has so many the log knows more than slurm.conf, and the job stays
// where it is.
#include "simulator/site/gpu_jobs.hpp"

#include <cmath>
#include <map>
#include <utility>

namespace elastic::simulator {

void keep_to_gpus(const Log& log, Site& site) {
    std::map<std::pair<std::uint32_t, core::Eligibility>, std::uint32_t> narrowed;
    for (std::size_t job = 0; job < log.jobs.size(); ++job) {
        const double gpus = log.facts_of(job).gpus;
        if (gpus <= 0) continue;
        const double nodes = std::max<double>(1, static_cast<double>(log.jobs[job].nodes));
        const std::uint32_t from = site.partition_of[job];
        Partition with{site.partitions[from].name, {}, 0, site.partitions[from].most};
        for (const core::PoolId pool : site.partitions[from].pools) {
            if (site.pools[pool].each.gpus < std::floor(gpus / nodes)) continue;
            with.pools.push_back(pool);
            with.nodes += site.pools[pool].nodes;
        }
        if (with.pools.empty() || with.pools.size() == site.partitions[from].pools.size()) continue;
        const auto [found, is_new] = narrowed.try_emplace(
            {from, with.pools}, static_cast<std::uint32_t>(site.partitions.size()));
        if (is_new) site.partitions.push_back(std::move(with));
        site.partition_of[job] = found->second;
    }
}

}  // namespace elastic::simulator
