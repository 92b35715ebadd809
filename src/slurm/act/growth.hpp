// SPDX-License-Identifier: GPL-2.0-or-later
// Which nodes a running job is given when it grows.
//
// All functions need ControllerLock.
#pragma once

#include <string>

#include "controller/agreement.hpp"
#include "slurm/nodes.hpp"
#include "slurm/records.hpp"

namespace elastic::slurm {

struct Growth {
    NodeSet joining;
    std::string limit;  // of accounting, that keeps the job from more
};

// Those of the idle nodes that join the job now, as agreed.
Growth choose_joining(job_record_t*, const controller::Job&, const controller::Agreement&,
                      NodeSet idle);

// Those of the idle nodes, all of which the job may use, that bring it to the largest allowed size
// from `least` to `most`; none if there is no such size above its own.
Growth within_limits(job_record_t*, const controller::Job&, const NodeSet& idle, int least,
                     int most);

}  // namespace elastic::slurm
