// SPDX-License-Identifier: MIT
// selastic-sim sweep: a grid of runs.
#pragma once

#include "studies/sweep/sweep.hpp"

namespace elastic::tools {

// Prints the means over the seeds.  Without --out the folder is the study's name
// without its ending.
int sweep(studies::SweepOptions);

}  // namespace elastic::tools
