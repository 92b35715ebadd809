// SPDX-License-Identifier: MIT
// What answers need that only Slurm's side knows: of the cluster, of its users, and how long things
// take.
#pragma once

#include <sys/types.h>

#include <functional>
#include <string>

#include "controller/times.hpp"

namespace elastic::controller {

struct Timings {
    Times passes;          // whole passes, locked or not
    Times lock;            // holds of slurmctld's lock
    Times lock_processor;  // processor time of these holds
    Times saves;           // of Slurm's job state before a resize is told
    Times states;          // of our own state file
};

struct Site {
    // PrivateData has "jobs": users see their own only.  Kept here because slurm_conf, read without
    // the lock, is all zeros while slurmctld reads slurm.conf.
    bool private_jobs = true;
    int nodes = 0;  // that exist, in whatever state
    int idle = 0;   // as of the last pass
    std::string journal_path;
    std::function<bool(uid_t)> is_operator;
    std::function<std::string(uid_t)> user_name;
    std::function<std::string()> recorded_pass;  // the last one as JSON text, "" before the first
    Timings timings;
};

}  // namespace elastic::controller
