// SPDX-License-Identifier: MIT
// Jobs that had GPUs, by the log's AllocTRES, run on nodes that have so many.
#pragma once

#include "simulator/logs/log.hpp"
#include "simulator/site/site.hpp"

namespace elastic::simulator {

// Moves them to partitions of the same name with those nodes alone, where slurm.conf says of some
// nodes of theirs that they have GPUs and of others that they have none, or too few.
void keep_to_gpus(const Log&, Site&);

}  // namespace elastic::simulator
