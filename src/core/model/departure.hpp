// SPDX-License-Identifier: MIT
// How a malleable job leaves nodes that it is not to have any longer.
#pragma once

#include "core/model/annotation/annotation.hpp"

namespace elastic::core {

// One resize of a job; all 0 if it cannot leave.
struct Departure {
    int leave = 0;    // how many of the nodes to be empty it gives up
    int besides = 0;  // further nodes that it gives up, to have an allowed size
    int grow = 0;     // how many it gets elsewhere before it can leave
};

// The next resize of a job that has `nodes` nodes and is to leave `leaving` of them, 1 <= leaving <
// nodes. A job that would become too small grows elsewhere first: the replacement of nodes by an
// expansion and a shrink that [gupta] section III-A describes.
Departure next_departure(const Sizing&, int nodes, int leaving);

// The same for a job that would rather keep its size: one that would fall below its preferred size
// first gets up to `room` nodes elsewhere.  All is 0 while the job waits for nodes that it needs
// and cannot get now.
Departure next_replacement(const Sizing&, int nodes, int leaving, int room);

// The same for a job that leaves as fast as it can: it leaves as far as its least size allows, and
// gets nodes elsewhere only for the rest.
Departure next_retreat(const Sizing&, int nodes, int leaving, int room);

}  // namespace elastic::core
