// SPDX-License-Identifier: MIT
// Simulates the Packet algorithm of [packet] (core/model/packet.hpp) on moldable jobs of several
// types, and measures as its section 3 does.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/model/packet.hpp"

namespace elastic::simulator {

struct PacketJob {
    Time submit = 0;
    Duration work = 0;  // e_i: its run time on one node; > 0
    int type = 0;       // index into PacketWorkload::types
};

struct PacketType {
    std::string name;
    Duration initialisation = 0;  // s_j; > 0
    double priority = 1;          // P_j; > 0
};

struct PacketWorkload {
    int nodes = 0;                // of the machine, > 0
    std::vector<PacketJob> jobs;  // by submit time, the first at 0
    std::vector<PacketType> types;
};

// The initialisation time, the same for all types, with which initialisations are `share` (the S of
// [packet] section 6; above 0, below 1) of all that jobs take, had each its own, where the jobs
// take `total` seconds together without them.
Duration initialisation_for(double share, Duration total, std::size_t jobs);

struct PacketOptions {
    double scale_ratio = 1;  // k
    core::LongestWait longest_wait = core::LongestWait::ever;
    Duration bound = 0;  // T_max with LongestWait::bound
    // Every job a group of its own: one initialisation a job, else the same algorithm.
    bool alone = false;
};

struct PacketGroup {
    int type = 0, nodes = 0, jobs = 0;
    Time start = 0;  // of the initialisation
    Duration initialisation = 0;
    Time end = 0;
};

struct PacketJobResult {
    int group = -1;           // index into PacketOutcome::groups
    Time start = 0, end = 0;  // of its own run, behind the initialisation and those before it
};

struct PacketOutcome {
    std::vector<PacketGroup> groups;    // by start
    std::vector<PacketJobResult> jobs;  // as in the workload
};

// Pure: the same input gives the same outcome.
PacketOutcome simulate_packets(const PacketWorkload&, const PacketOptions&);

// [packet] section 3; all but the counts until the last submission.
struct PacketSummary {
    double full_utilisation = 0;    // 0 to 1
    double useful_utilisation = 0;  // the same with nodes that are initialised counted as idle
    // From the submission of a job to the start of its group, of all jobs, seconds: the medians of
    // 0 that the paper prints exclude the initialisation from it.
    Duration mean_queue_time = 0, median_queue_time = 0;
    Duration mean_turnaround = 0;  // from the submission of a job to its own end, of all jobs
    double queue_length = 0;       // jobs that wait, mean over the time
    std::int64_t groups = 0;
    double group_nodes = 0;  // mean
};
PacketSummary summarise(const PacketWorkload&, const PacketOutcome&);

}  // namespace elastic::simulator
