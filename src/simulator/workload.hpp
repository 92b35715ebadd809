// SPDX-License-Identifier: MIT
// The jobs that are made of a log: a Workload has sizes in nodes and says which jobs are elastic,
// how, and what they cost.
//
//   log file -> Log -> Workload -> engine
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "common/time.hpp"
#include "core/model/annotation/annotation.hpp"
#include "simulator/logs/log.hpp"
#include "simulator/site/machine.hpp"

namespace elastic::simulator {

// [lina] section 5.1: what an evolving job asks for in the middle of its run.
struct EvolvingEvent {
    double work_left = 0;  // share of the job's work that is left when it asks, 0 to 1
    int nodes = 0;         // more (> 0) or fewer (< 0)
};

// How a job can change its size; rigid jobs have none.
struct Elasticity {
    core::Annotation annotation;  // what the scheduler knows
    // What is so, where it differs from what the scheduler knows ([mebf] figure 16).
    core::SpeedupModel true_speedup;
    Duration negotiation = 0;           // seconds that each agreement costs ([lina] section 5.2)
    std::vector<EvolvingEvent> events;  // by descending work_left
};

struct Job {
    std::int64_t id = 0;  // the log's
    Time submit = 0;
    Duration run = 0;             // at `nodes` nodes; already cut at the estimate if so wished
    Duration estimate = 0;        // at `nodes` nodes
    int nodes = 0;                // preferred
    int elasticity = -1;          // index into Workload::elasticities; -1: rigid
    int program = -1;             // equal for jobs of one kind, by the log's types; -1: not known
    std::uint32_t partition = 0;  // index into Workload::partitions, if there are any
};

struct Workload {
    int nodes = 0;          // of the machine
    std::vector<Job> jobs;  // in the order of the log; none larger than its partition
    // Empty: one pool of equal nodes that all jobs may use.
    std::vector<NodePool> pools;
    std::vector<Partition> partitions;
    // By job: the lower, the earlier it stands in the queue; no two are equal but for components
    // that start together.  Empty: by submission.
    std::vector<std::uint32_t> ranks;
    std::vector<NodePart> parts;  // by job, of each of its nodes; empty if there are no pools
    // By job: it leaves the rest of its nodes to others that do; it is rigid, and starts by itself.
    // Empty: all have whole nodes.
    std::vector<bool> shares;
    std::vector<Limit> limits;
    std::vector<std::vector<std::uint32_t>> limits_of;  // by job, ascending; empty without limits
    std::vector<Reservation> reservations;
    std::vector<int> reservation_of;  // by job, in `reservations`; -1: none; empty: no job has one
    std::vector<Outage> outages;
    std::vector<Elasticity> elasticities;
    // Heterogeneous jobs: the places in `jobs` of their components, at least two, ascending.  They
    // start in one instant.  Those of one are rigid, of one submit time and one level.
    std::vector<std::vector<std::uint32_t>> heterogeneous;
    // By job: it comes before those of a lower level, and may end them to have their nodes, as
    // Slurm's preemption does.  Empty: all are equal.
    std::vector<int> levels;
    // What they waited in truth, seconds; less than 0 where the log does not say.  Empty if it
    // never does, or if submit times are changed.
    std::vector<Duration> logged_waits;
    std::int64_t skipped = 0;        // as in the log
    std::int64_t malformed = 0;      // as in the log
    std::int64_t rejected = 0;       // larger than the machine
    std::vector<std::string> notes;  // the log's, and what is not simulated
};

// What the job has of each of its nodes: the largest of its shares, since of that nobody else can
// have more than the rest; 1 if it has whole nodes.
double share_of_node(const Workload&, std::size_t job);

}  // namespace elastic::simulator
