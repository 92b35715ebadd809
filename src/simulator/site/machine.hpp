// SPDX-License-Identifier: MIT
// A machine that is more than a number of nodes: partitions over pools of nodes that are alike, and
// limits of those who use it.
#pragma once

#include <cstdint>
#include <string>

#include "common/limits.hpp"
#include "common/time.hpp"
#include "core/model/snapshot.hpp"

namespace elastic::simulator {

// Of one node: what it has, or what a job takes of it; 0: not known, or nothing.
struct NodePart {
    double processors = 0, memory = 0, gpus = 0;  // memory in MiB
};

// Whether there is room for a part of a node of which others have parts.  What is not known of the
// node keeps nobody from it.
bool fits(const NodePart&, const NodePart& used, const NodePart& each);

// Nodes that are alike, and that the same partitions have.
struct NodePool {
    int nodes = 0;
    NodePart each;
    std::uint32_t weight = 1;  // as in slurm.conf: the lightest are taken first
};

// Jobs of a partition run on nodes of its pools.
struct Partition {
    std::string name;
    core::Eligibility pools;
    int nodes = 0;
    int most = kMaxNodes;  // that one of its jobs may have
};

// What some of the jobs may have at a time, in the order in which they would start; 0: as much as
// they like.
struct Limit {
    std::string name;  // for people: "qos long: MaxTRESPU of user 17"
    double nodes = 0, processors = 0, gpus = 0, memory = 0;
    int jobs = 0;
};

// Pools that until `to` are for the reservation's own jobs alone, and before `from` for jobs that
// by their estimates have ended by then.
struct Reservation {
    std::string name;
    Time from = 0, to = 0;
    core::Eligibility pools;  // ascending
};

// So many nodes of a pool go down, when they come free, and come back; nobody knows it before.
struct Outage {
    core::PoolId pool = 0;
    int nodes = 0;
    Time from = 0, to = 0;
};

}  // namespace elastic::simulator
