// SPDX-License-Identifier: MIT
// Which jobs of a site leave the rest of their nodes to others.
#pragma once

#include "simulator/logs/log.hpp"
#include "simulator/site/node_table.hpp"

namespace elastic::simulator {

// Fills Site::shares, if any job shares its nodes; the table is divided, and partitions are known.
void share_nodes(const Log&, const SiteKnowledge&, const NodeTable&, Site&);

}  // namespace elastic::simulator
