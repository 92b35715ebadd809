// SPDX-License-Identifier: GPL-2.0-or-later
// Starting a pending job.  Needs ControllerLock.
#pragma once

#include "controller/refusal_book.hpp"
#include "core/model/plan.hpp"
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

// When a job with a least time (--time-min) that starts by a plan is to end; 0 if nobody is to have
// its nodes later.
time_t end_of_hole(const core::Plan&, const core::Action& start);

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

// The same in its parts, for jobs that start together: launched once all of them have nodes, or
// taken back where one has none.
Started allocate_job(job_record_t*, const Attempt&, const NodeSet& allowed, int nodes,
                     time_t hole_ends);
void launch(const std::vector<job_record_t*>&);
// A job that has nodes and was not launched waits again.
void take_back(job_record_t*);

// `started` if the job, tried so, could start on these nodes as far as they are free; nothing is
// changed.
Started ask_whether_startable(job_record_t*, const Attempt&, const NodeSet& allowed, int nodes);

// Whether any nodes of the cluster, in use or not, meet the job's request, tried so; in any of the
// sizes that it may start with. Nothing is changed but the reason for which a job waits that is
// barred. Only one that has no other way to start is impossible, for another partition, reservation
// or feature may do.
controller::Verdict ask_whether_runnable(job_record_t*, const Attempt&, SizeRange);

// Holds a job that is impossible, with BadConstraints as Slurm's own schedulers do; Slurm releases
// it when the job, or any node's features, are changed.
void hold_impossible(job_record_t*);

}  // namespace elastic::slurm
