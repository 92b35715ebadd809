// SPDX-License-Identifier: GPL-2.0-or-later
// What a running job holds of its nodes, in its record and in the select plugin's books.
//
// All functions need ControllerLock.
#pragma once

#include <memory>
#include <vector>

#include "common/result.hpp"
#include "slurm/nodes.hpp"

namespace elastic::slurm {

struct FreeJobResources {
    void operator()(job_resources_t* resources) const { free_job_resources(&resources); }
};
using JobResources = std::unique_ptr<job_resources_t, FreeJobResources>;

// What Slurm gives the job of exactly these idle nodes, as if it started there now; nothing has
// changed by asking. An error says why Slurm has no room for it.
Result<JobResources> allocation_on(job_record_t*, const NodeSet& nodes);

// The resources of a job with `nodes`: each node's are those of a source that has the node, of
// which there must be one.
JobResources combined(const NodeSet& nodes, const std::vector<const job_resources_t*>& sources);

// Gives up what the job holds in the select plugin's books; rebook() must follow.
void unbook(job_record_t*);

// Makes `resources` what the job holds, in its record and in the books; job steps keep what they
// use of nodes that stay.
void rebook(job_record_t*, JobResources resources);

}  // namespace elastic::slurm
