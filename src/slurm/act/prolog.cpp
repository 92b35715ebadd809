// SPDX-License-Identifier: GPL-2.0-or-later
// Slurm's own function starts it, given a copy of the job's record that has only the new nodes, and
// Slurm itself notes in the job's record on which nodes it has ended. What happens when it fails is
// Slurm's doing, too, as at the start of a job: the node is drained and the job requeued or ended.
//
// A front end runs the prolog once, for the host that stands for all nodes.
#include "slurm/act/prolog.hpp"

#include "slurm/batch.hpp"

namespace elastic::slurm {

bool start_prolog(job_record_t* job, const NodeSet& joined) {
    if (front_end_mode() || !(slurm_conf.prolog_flags & PROLOG_FLAG_ALLOC)) return false;
    if (!job->user_name) job->user_name = uid_to_string_or_null(job->user_id);
    job_record_t part(*job);
    NodeSet nodes(joined);
    part.node_bitmap = nodes.get();
    part.node_cnt = static_cast<uint32_t>(joined.count());
    part.nodes = bitmap2node_name(joined.get());
    part.node_bitmap_pr = nullptr;
    launch_prolog(&part);
    xfree(part.nodes);
    const bool must_wait = part.node_bitmap_pr;
    if (must_wait && job->node_bitmap_pr) bit_or(job->node_bitmap_pr, part.node_bitmap_pr);
    if (must_wait && !job->node_bitmap_pr) std::swap(job->node_bitmap_pr, part.node_bitmap_pr);
    FREE_NULL_BITMAP(part.node_bitmap_pr);
    return must_wait;
}

bool prolog_runs_on(const job_record_t* job, const NodeSet& nodes) {
    return job->node_bitmap_pr && NodeSet(job->node_bitmap_pr).overlaps(nodes);
}

}  // namespace elastic::slurm
