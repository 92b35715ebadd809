// SPDX-License-Identifier: GPL-2.0-or-later
// Idle nodes that stay so, since as many as may be are in use (elastic.conf: cap).
#pragma once

#include "slurm/nodes.hpp"

namespace elastic::slurm {

struct View;

// As of the view's supply and Slurm's records now; `kept` are idle nodes that jobs are to have,
// which count as in use.  Needs ControllerLock.
NodeSet idle_beyond_caps(const View&, const NodeSet& kept);

}  // namespace elastic::slurm
