// SPDX-License-Identifier: GPL-2.0-or-later
// Starting a pending job.  Needs ControllerLock.
#pragma once

#include "controller/refusal_book.hpp"
#include "slurm/nodes.hpp"
#include "slurm/read/attempt.hpp"

namespace elastic::slurm {

enum class StartOutcome {
    started,
    no_room,  // not on these nodes, now
    limited,  // by a limit of accounting, which may hold for other jobs of that user
    refused,  // for another reason that more nodes would not change (a licence, an array's limit)
};

struct Started {
    StartOutcome outcome = StartOutcome::refused;
    job_record_t* job = nullptr;  // started: its record (of a job array: the task's own)
    std::string why;              // otherwise
};

inline constexpr int kAsRequested = 0;

// Of a job, in nodes.
struct SizeRange {
    int least = kAsRequested, most = kAsRequested;
};

// Starts the job, tried so, on exactly `nodes` of the `allowed` ones, which Slurm chooses with all
// its own rules (weights, topology), and launches it.  The record's request is as before
// afterwards, so that a requeued job asks for the same. kAsRequested leaves the number of nodes to
// the job's own request. `hole_ends` is when others are to have the nodes, by which a job with a
// least time (--time-min) is bounded, 0 if nobody is.
Started start_job(job_record_t*, const Attempt&, const NodeSet& allowed, int nodes,
                  time_t hole_ends = 0);

// Whether any nodes of the cluster, in use or not, meet the job's request, tried so; in any of the
// sizes that it may start with. Nothing is changed but the reason for which a job waits that is
// barred. Only one that has no other way to start is impossible, for another partition, reservation
// or feature may do.
controller::Verdict ask_whether_runnable(job_record_t*, const Attempt&, SizeRange);

// Holds a job that is impossible, with BadConstraints as Slurm's own schedulers do; Slurm releases
// it when the job, or any node's features, are changed.
void hold_impossible(job_record_t*);

}  // namespace elastic::slurm
