// SPDX-License-Identifier: MIT
// Who stands before whom in the queue of a site.
#pragma once

#include "simulator/logs/log.hpp"
#include "simulator/site/site.hpp"

namespace elastic::simulator {

// Fills Site::ranks, if the order is another than that of arrival; partitions are known.
void order_queue(const Log&, const SiteKnowledge&, Site&);

}  // namespace elastic::simulator
