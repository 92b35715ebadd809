// SPDX-License-Identifier: MIT
// What answers need that only Slurm's side knows: of the cluster, of its users, and how long things
// take.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "common/resize.hpp"
#include "common/result.hpp"
#include "controller/times.hpp"
#include "journal/event.hpp"

namespace elastic::controller {

struct Timings {
    Times passes;          // whole passes, locked or not
    Times lock;            // holds of slurmctld's lock
    Times lock_processor;  // processor time of these holds
    Times saves;           // of Slurm's job state before a resize is told
    Times states;          // of our own state file
};

// A job on nodes that are to be empty.
struct Occupant {
    enum class State { running, suspended, completing };

    JobId job = 0;
    std::string label;  // as users know it: "12", "12_3"
    std::string nodes;  // of those to be empty, in Slurm's notation
    State state = State::running;
};

struct Emptying {
    std::string drained;  // which of the nodes were not drained before
    std::vector<Occupant> occupants;
};

// Which nodes there are and which cannot be used, in Slurm's notation.
struct NodeNames {
    std::string all, down, unavailable;  // unavailable: drained, failing, not answering
};

// How many nodes are what; each is counted once.
struct NodeCounts {
    int down = 0, unavailable = 0, completing = 0, idle = 0, in_use = 0;
};

struct Site {
    // PrivateData has "jobs": users see their own only.  Kept here because slurm_conf, read without
    // the lock, is all zeros while slurmctld reads slurm.conf.
    bool private_jobs = true;
    bool private_nodes = true;  // the same of "nodes": operators alone see them
    int nodes = 0;              // that exist, in whatever state
    int idle = 0;               // as of the last pass
    NodeNames node_names;
    NodeCounts node_counts;
    std::string journal_path;
    std::uint64_t lost_events = 0;  // that the journal could not be told
    // Jobs whose batch script keeps them on a node that they would leave, and that node.
    std::map<JobId, std::string> bound;
    std::map<JobId, Time> reserved;          // when jobs that wait start by the last plan
    std::vector<journal::Supply> supply;     // what nodes cost, and how many may be used
    std::vector<std::string> supply_errors;  // what is not in force, and why
    std::string supply_complaint;            // why its source cannot be read, "" if it can
    std::function<bool(uid_t)> is_operator;
    std::function<std::string(uid_t)> user_name;
    // Drains nodes for a user and says who is there; the nodes that are drained already are left
    // so.
    std::function<Result<Emptying>(const std::string& nodes, uid_t)> drain;
    std::function<std::string()> recorded_pass;  // the last one as JSON text, "" before the first
    Timings timings;
};

}  // namespace elastic::controller
