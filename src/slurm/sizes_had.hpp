// SPDX-License-Identifier: GPL-2.0-or-later
// What a job has had, where users look for it: sacct's AdminComment, as a member of the job's
// annotation.
#pragma once

#include "controller/job_table.hpp"
#include "slurm/compat/compat.hpp"

namespace elastic::slurm {

// {..., "had":{"node_hours":0.75,"sizes":[{"nodes":2,"seconds":600},...]}}, if the job has been
// resized.  The job has just ended.  Needs ControllerLock.
void record_sizes_had(job_record_t*, const controller::Job&);

// What the last run had does not stand in the record of the next one.  The job waits.  Needs
// ControllerLock.
void forget_sizes_had(job_record_t*);

}  // namespace elastic::slurm
