// SPDX-License-Identifier: GPL-2.0-or-later
// Which nodes a running job is given when it grows.
//
// All functions need ControllerLock.
#pragma once

#include <string>

#include "controller/agreement.hpp"
#include "slurm/job_table.hpp"
#include "slurm/nodes.hpp"

namespace elastic::slurm {

struct Growth {
    NodeSet joining;
    std::string limit;  // of accounting, that keeps the job from more
};

// Those of the idle nodes that join the job now, as agreed.
Growth choose_joining(job_record_t*, const JobEntry&, const core::Agreement&, NodeSet idle);

// Those of the idle nodes, all of which the job may use, that bring it to the largest allowed size
// from `least` to `most`; none if there is no such size above its own.
Growth within_limits(job_record_t*, const JobEntry&, const NodeSet& idle, int least, int most);

}  // namespace elastic::slurm
