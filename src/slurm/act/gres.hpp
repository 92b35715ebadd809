// SPDX-License-Identifier: GPL-2.0-or-later
// Generic resources (GRES) of jobs that have their nodes whole and change them: Slurm gives such a
// job all that its nodes have, whether it asks for any or not.
//
// All functions need ControllerLock.
#pragma once

#include "slurm/act/places.hpp"
#include "slurm/whole_nodes.hpp"

namespace elastic::slurm {

// What the user asked for on each node; nothing if nothing, or if the cluster has no GRES.
GresList requested_gres(const job_record_t*, job_details&);

// What a job had of its nodes' GRES before it changed nodes.
struct HeldGres {
    GresList allocated;
};

// Makes the job ask for all GRES of its nodes, which the select plugin gives it at the next
// booking.  Returns the GRES that the job had.
HeldGres ask_for_whole_nodes(job_record_t*);

// Job steps keep the GRES that they used on nodes that stay, in the job's new books and in their
// own.
void move_steps_gres(job_record_t*, const HeldGres& before, const Places&);

}  // namespace elastic::slurm
