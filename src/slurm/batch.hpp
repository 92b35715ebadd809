// SPDX-License-Identifier: GPL-2.0-or-later
// Where a job's batch script runs.  All of this needs ControllerLock.
#pragma once

#include "slurm/compat/compat.hpp"

namespace elastic::slurm {

// The node that a batch script runs on, -1 if there is none that must be kept.  In the front-end
// mode that is the first node of the allocation: the script itself runs elsewhere, but Slurm needs
// a kept node and applications expect it.
int batch_host(const job_record_t*);

bool front_end_mode();

// 22.05 with a front end: a batch step has no node bitmap, and slurmctld crashes when it looks at
// it (at a shrink, and without slurmdbd at the end of any batch job).  Gives every such step one.
//
// Without a front end: a reconfiguration or restart takes the first node of a job for its batch
// host, which is another one when a lower one has joined, and slurmctld would ignore the end of the
// script.  The batch step knows better.
void repair_batch(job_record_t*);

}  // namespace elastic::slurm
