// SPDX-License-Identifier: MIT
// Which limits of QOS, of a job's own or of its partition, keep the jobs of a site waiting.
#pragma once

#include "simulator/logs/log.hpp"
#include "simulator/site/site.hpp"

namespace elastic::simulator {

// Fills Site::limits and Site::limits_of; partitions are known.
void limit_jobs(const Log&, const SiteKnowledge&, Site&);

}  // namespace elastic::simulator
