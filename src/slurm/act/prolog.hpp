// SPDX-License-Identifier: GPL-2.0-or-later
// The site's prolog on nodes that join a running job.  Needs ControllerLock.
#pragma once

#include "slurm/nodes.hpp"

namespace elastic::slurm {

// Whether the site wants it at the allocation (PrologFlags=Alloc, Contain).
bool runs_prolog_at_allocation();

// Has the slurmds of these nodes, which are the job's already, run the prolog if that is to run at
// the allocation; otherwise each does so before the job's first step there.  True if the job must
// not be told of the nodes before it has ended (no NoHold).
bool start_prolog(job_record_t*, const NodeSet& joined);

// Whether it has not ended yet on some of them.
bool prolog_runs_on(const job_record_t*, const NodeSet&);

}  // namespace elastic::slurm
