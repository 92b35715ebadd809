// SPDX-License-Identifier: GPL-2.0-or-later
// What Slurm gives to a job that has its nodes whole.  Needs ControllerLock.
#pragma once

#include <memory>

#include "common/resize.hpp"
#include "slurm/nodes.hpp"

namespace elastic::slurm {

struct FreeList {
    void operator()(xlist* list) const { FREE_NULL_LIST(list); }
};
using GresList = std::unique_ptr<xlist, FreeList>;  // of gres_state_t

// As the select plugin counts: specialised cores are a job's with select/linear only.
uint32_t processors_of_whole_node(int node);

// All generic resources of these nodes, as a request; nothing if the cluster has none.
GresList gres_of_whole_nodes(const NodeSet&, JobId);

// A job with --ntasks-per-node has so many tasks on each of its nodes, as Slurm counts them when it
// starts.
void follow_tasks_per_node(job_details*, uint32_t nodes);

}  // namespace elastic::slurm
