// SPDX-License-Identifier: GPL-2.0-or-later
// Nodes that jobs are to leave, and such as are not awake.  Needs ControllerLock.
#pragma once

#include "slurm/read/running_reader.hpp"

namespace elastic::slurm {

struct NodeConditions {
    NodeSet failing;     // held by jobs that are to leave them
    NodeSet maintained;  // of those, the ones that are reserved for maintenance
    NodeSet asleep;      // powered down, or on their way up
};

// As far as the site wants nodes to be left (LeaveNodes).
NodeConditions find_conditions(const Knowledge&, const RunningReader&, const NodeUse&,
                               const NodeSet& usable);

}  // namespace elastic::slurm
