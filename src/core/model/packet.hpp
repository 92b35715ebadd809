// SPDX-License-Identifier: MIT
// [packet] section 5, the Packet algorithm: jobs that need the same initialisation wait in a queue
// of their own; all jobs of the queue with the greatest weight become a group, which is given
// nodes, initialises them once and runs its jobs one after another on all of them.
//
// The names and letters of the paper: queue T_j, initialisation time s_j, execution time e_i of a
// job on one node, C_j, P_j, W(T_j), m_threshold, m_group, scale ratio k.  Jobs are moldable with
// linear speed-up; an initialisation takes the same time on any number of nodes.
//
// Pure: no clock, nothing drawn.  Times in seconds.
#pragma once

#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "common/time.hpp"

namespace elastic::core {

// Scale ratios that are accepted: the paper's from 0.1 to 1000, and some beyond.
inline constexpr double kLeastScaleRatio = 1e-3, kGreatestScaleRatio = 1e6;

// The jobs of one type that wait.
struct TypeQueue {
    int jobs = 0;                 // n; 0: the queue is empty, and all below but P_j and s_j is void
    Duration work = 0;            // sum of e_i, their run times on one node; > 0
    Duration initialisation = 0;  // s_j; > 0
    double priority = 1;          // P_j; > 0
    Time first_submit = 0;        // of the job that waits for longest
    // T_j^max, "max queue time in queue T_j"; LongestWait says how that can be read.  Not less than
    // 0, and 0 only if the first job does not wait yet.
    Duration longest_wait = 0;
    // Sizes at which each of the jobs can run: the paper's jobs at any.
    int least = 1, most = std::numeric_limits<int>::max();
};

// What T_j^max is.  The paper does not say in which time it is the longest.
enum class LongestWait {
    now,    // of the jobs that wait: the first's own, so that W(T_j) = 2 C_j P_j
    ever,   // of all jobs that were in this queue, those that wait now included
    bound,  // what the administrator sets for a type; T_j^cur may exceed it
};
// Of a queue whose first job was submitted then; `ever` is the longest wait of a job that has left.
Duration longest_wait(LongestWait, Time first_submit, Time now, Duration ever, Duration bound);

// C_j, advisability of grouping: how often the queue's work is its initialisation.
double advisability(const TypeQueue&);

// W(T_j) = C_j P_j (1 + T_j^cur / T_j^max) of a queue that is not empty.
double queue_weight(const TypeQueue&, Time now);

// Step 2: the queue with the greatest weight of those that are not empty.  Among equals that of the
// job that waits for longest, then the first.
std::optional<std::size_t> heaviest_queue(std::span<const TypeQueue>, Time now);

// Step 4: m_group = min(m_threshold, free), where m_threshold = sum of e_i / (k s_j).  Rounded down
// to whole nodes, so that the group runs at least k times as long as it initialises, as the paper
// wants; but no less than `least`.  0 if fewer than `least` are free.
int group_nodes(const TypeQueue&, double scale_ratio, int free);

// A decision: all jobs of this queue become a group, which begins now.
struct GroupStart {
    std::size_t queue = 0;
    int nodes = 0;
    friend bool operator==(const GroupStart&, const GroupStart&) = default;
};

// Steps 1 to 5, repeated while nodes are free and jobs wait, as after each release of nodes and
// each arrival.  Nodes of groups that run are not free.  The heaviest queue that cannot have its
// `least` nodes waits for them, and nothing passes it: so none waits forever.
std::vector<GroupStart> start_groups(std::span<const TypeQueue>, double scale_ratio, int free,
                                     Time now);

}  // namespace elastic::core
