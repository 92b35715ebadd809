// SPDX-License-Identifier: GPL-2.0-or-later
// Taking nodes out of service so that they become empty.
#pragma once

#include <string>

#include "common/result.hpp"
#include "controller/site.hpp"

namespace elastic::slurm {

// Drains the nodes of a list and says who is there. Nodes that are drained already keep their
// reason. An error if a node does not exist, or if one is to be drained for a user who is no
// administrator: then none is. Takes slurmctld's lock.
Result<controller::Emptying> drain(const std::string& nodes, uid_t);

}  // namespace elastic::slurm
