// SPDX-License-Identifier: MIT
// What a site's slurm.conf says of its nodes, its partitions and the order of its queue: what a
// simulation of the site's own log needs of it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "common/limits.hpp"
#include "common/result.hpp"
#include "common/time.hpp"

namespace elastic::simulator {

struct SlurmConf {
    struct Node {
        std::string name;
        int processors = 1;
        double memory = 1;  // MiB
        int gpus = 0;
        std::uint32_t weight = 1;
        std::vector<std::string> features;
    };
    struct Partition {
        std::string name;
        std::vector<int> nodes;  // places in SlurmConf::nodes, ascending
        int most_nodes = kMaxNodes;
        int tier = 1;        // PriorityTier
        int job_factor = 1;  // PriorityJobFactor
        std::string qos;     // whose limits hold besides those of the job's own
        bool exclusive = false;
    };
    // PriorityWeight*, with PriorityType=priority/multifactor; else all are 0.
    struct Weights {
        double age = 0, partition = 0, qos = 0, size = 0, fair_share = 0;
        Duration most_age = 7 * 86400;  // PriorityMaxAge
        bool favours_small = false;     // PriorityFavorSmall
    };

    std::string name;  // of the file, for messages
    std::vector<Node> nodes;
    std::vector<Partition> partitions;
    Weights weights;
    bool whole_nodes = false;      // select/linear
    bool counts_memory = false;    // SelectTypeParameters names memory
    bool enforces_limits = false;  // AccountingStorageEnforce

    // Null if there is none of that name.
    const Partition* partition(std::string_view name) const;
};

// Reads the file and those that it includes.  Keys that say nothing of the above are passed over,
// since slurmctld checks them.  An error is "FILE:LINE: KEY: what is wrong".
Result<SlurmConf> read_slurm_conf(const std::string& path);

// The same of text at hand, which includes nothing; `name` is for errors.
Result<SlurmConf> parse_slurm_conf(std::string_view text, std::string_view name);

}  // namespace elastic::simulator
