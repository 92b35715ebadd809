// SPDX-License-Identifier: GPL-2.0-or-later
// Changing the size of a running job inside slurmctld.
//
// All functions need ControllerLock.  After the lock is given up, save_state() (saving.hpp) must be
// called once.
#pragma once

#include "common/result.hpp"
#include "slurm/nodes.hpp"

namespace elastic::slurm {

// Takes `leaving` from the job; Slurm kills what still runs there.  The nodes are idle at once.
// `leaving` must be a proper subset of the job's nodes that does not contain its batch host.
Result<void> shrink(job_record_t*, const NodeSet& leaving);

// Whether Slurm would let the job have the idle nodes besides its own.
bool has_room(job_record_t*, const NodeSet& joining);

// Adds the idle nodes `joining` to the job.  On failure nothing has changed.
Result<void> grow(job_record_t*, const NodeSet& joining);

// Extends or shortens the time limit so that the job ends at `end`.
void set_end(job_record_t*, time_t end);

}  // namespace elastic::slurm
