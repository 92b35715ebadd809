// SPDX-License-Identifier: GPL-2.0-or-later
// Slurm's own function starts it, given a copy of the job's record that has only the new nodes, and
// Slurm itself notes in the job's record on which nodes it has ended. What happens when it fails is
// Slurm's doing, too, as at the start of a job: the node is drained and the job requeued or ended.
//
// With PrologFlags=Contain Slurm besides makes a record of the extern step on these nodes, which
// belongs to the copy, and two of them would have one number: slurmctld would tell neither their
// ends apart nor live long. So a job that has grown has no such record.
//
// A front end runs the prolog once, for the host that stands for all nodes.
#include "slurm/act/prolog.hpp"

#include "slurm/batch.hpp"

namespace elastic::slurm {
namespace {

int is_extern_of(void* step_pointer, void* job) {
    const auto* step = static_cast<step_record_t*>(step_pointer);
    return step->job_ptr == job && step->step_id.step_id == SLURM_EXTERN_CONT;
}

step_record_t* extern_step(job_record_t* job, job_record_t* of) {
    return static_cast<step_record_t*>(list_find_first(job->step_list, is_extern_of, of));
}

// Each slurmd reports the end of its part by its place among the nodes of its own launch, so that
// Slurm cannot tell those of several apart and would take some for errors: the record of a job that
// has grown ends here, while its extern step lives on.
void end_extern_record(job_record_t* job, job_record_t* part) {
    for (job_record_t* owner : {part, job})
        if (step_record_t* step = extern_step(job, owner)) {
            step->job_ptr = job;
            if (step->exit_code == NO_VAL) step->exit_code = 0;  // or it counts as cancelled
            jobacct_storage_g_step_complete(acct_db_conn, step);
            delete_step_record(job, step);
        }
}

}  // namespace

bool runs_prolog_at_allocation() {
    return !front_end_mode() && (slurm_conf.prolog_flags & PROLOG_FLAG_ALLOC);
}

bool start_prolog(job_record_t* job, const NodeSet& joined) {
    if (!runs_prolog_at_allocation()) return false;
    if (!job->user_name) job->user_name = uid_to_string_or_null(job->user_id);
    job_record_t part(*job);
    NodeSet nodes(joined);
    part.node_bitmap = nodes.get();
    part.node_cnt = static_cast<uint32_t>(joined.count());
    part.nodes = bitmap2node_name(joined.get());
    part.node_bitmap_pr = nullptr;
    launch_prolog(&part);
    end_extern_record(job, &part);
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
