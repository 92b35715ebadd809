// SPDX-License-Identifier: GPL-2.0-or-later
// Changing the size of a running job inside slurmctld.
//
// All functions need ControllerLock.  After the lock is given up,
// save_state() must be called once.
#pragma once

#include "common/result.hpp"
#include "slurm/nodes.hpp"

namespace elastic::slurm {

// Takes `leaving` from the job; Slurm kills what still runs there.  The nodes
// are idle at once.  `leaving` must be a proper subset of the job's nodes that
// does not contain its batch host.
Result<void> shrink(job_record_t*, const NodeSet& leaving);

// Whether Slurm would let the job have the idle nodes besides its own.
bool has_room(job_record_t*, const NodeSet& joining);

// Adds the idle nodes `joining` to the job.  On failure nothing has changed.
Result<void> grow(job_record_t*, const NodeSet& joining);

// The node that a batch script runs on, -1 if there is none that must be kept.
// In the front-end mode that is the first node of the allocation: the script
// itself runs elsewhere, but Slurm needs a kept node and applications expect it.
int batch_host(const job_record_t*);

bool front_end_mode();

// 22.05 with a front end: a batch step has no node bitmap, and slurmctld
// crashes when it looks at it (at a shrink, and without slurmdbd at the end of
// any batch job).  Gives every such step one.
//
// Without a front end: a reconfiguration or restart takes the first node of a
// job for its batch host, which is another one when a lower one has joined, and
// slurmctld would ignore the end of the script.  The batch step knows better.
void repair_batch(job_record_t*);

// Extends or shortens the time limit so that the job ends at `end`.
void set_end(job_record_t*, time_t end);

// Asks Slurm to write its job and node records soon.  It packs all of them for
// that, under its locks.
void save_state();

// Writes them now, the job records at least: by itself Slurm does so up to five
// seconds later, but an application must not be told of nodes that a crash takes
// away again.  Takes locks of its own.
//
// Not in a backup controller that is in control: before it writes, Slurm looks whether the file is
// the one that it wrote last, and what another thread is just putting there would make it take
// itself for a second controller and end.  There it is as by itself.
Result<void> save_jobs_now();

}  // namespace elastic::slurm
