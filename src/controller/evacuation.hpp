// SPDX-License-Identifier: MIT
// How a malleable job leaves nodes that are to be empty.
#pragma once

#include "core/model/annotation.hpp"

namespace elastic::controller {

// One resize of a job; all 0 if it cannot leave.
struct Departure {
    int leave = 0;    // of the nodes to be empty, those that it gives up
    int besides = 0;  // others that it gives up with them, so that it has a size that it allows
    int grow = 0;     // how many it gets elsewhere before it can leave
};

// The next resize of a job that has `nodes` nodes and is to leave `leaving` of them, 1 <= leaving <
// nodes. A job that would become too small grows elsewhere first: the replacement of nodes by an
// expansion and a shrink that [gupta] section III-A describes.
Departure next_departure(const core::Sizing&, int nodes, int leaving);

}  // namespace elastic::controller
