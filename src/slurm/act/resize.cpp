// SPDX-License-Identifier: GPL-2.0-or-later
// A resize ends what runs on the nodes that leave, changes what the job holds (allocation.hpp) and
// tells Slurm's accounting. Shrinking follows what `scontrol update NodeList=` does otherwise, with
// what it forgets (step bitmaps, the nodes' exclusive counters).
//
// Always holds: job record, node records and the select plugin agree after each function, on
// success and on failure.
#include "slurm/act/resize.hpp"

#include <csignal>

#include "slurm/act/allocation.hpp"
#include "slurm/act/usage.hpp"
#include "slurm/batch.hpp"

namespace elastic::slurm {

namespace {

void give_back(job_record_t* job, int index) {
    node_record_t* node = node_record_table_ptr[index];
    make_node_idle(node, job);
    // make_node_idle does not undo what make_node_alloc did for a job that shares with nobody:
    // without this the node stays "busy" for others.
    if (job->details->share_res == 0 && node->no_share_job_cnt > 0 && --node->no_share_job_cnt == 0)
        bit_set(share_node_bitmap, index);
}

// The record that counts the ends of all tasks of the job's array, null if it is of none.
job_array_struct_t* array_of(const job_record_t* job) {
    job_record_t* base = job->array_job_id ? find_job_record(job->array_job_id) : nullptr;
    return base ? base->array_recs : nullptr;
}

// What Slurm counts of the tasks of the job's array, with the mark that this one is counted as
// running. A change of size would count as a failed end: nothing that waits for the array's success
// would start, and one task more than may run at a time.
class ArrayCounts {
  public:
    explicit ArrayCounts(const job_record_t* job) : running_(job->bit_flags & JOB_WAS_RUNNING) {
        if (const job_array_struct_t* array = array_of(job)) before_ = *array;
    }

    void restore(job_record_t* job) const {
        job->bit_flags |= running_;
        job_array_struct_t* array = array_of(job);
        if (!array) return;
        array->min_exit_code = before_.min_exit_code;
        array->max_exit_code = before_.max_exit_code;
        array->tot_run_tasks = before_.tot_run_tasks;
        array->tot_comp_tasks = before_.tot_comp_tasks;
    }

  private:
    decltype(job_record_t::bit_flags) running_;
    job_array_struct_t before_{};  // its counts alone
};

// The accounting of a change of size, which to Slurm is the end of one job and the start of
// another.
class AccountedResize {
  public:
    explicit AccountedResize(job_record_t* job) : job_(job), usage_(job) {
        const ArrayCounts counts(job);
        job_pre_resize_acctg(job);
        usage_.taken_out();
        counts.restore(job);
    }

    // Slurm leaves the job without an index into the database until slurmdbd gives it a new one,
    // and refuses every `scontrol update` of it until then; where there is no slurmdbd that would
    // be for ever.
    ~AccountedResize() {
        job_post_resize_acctg(job_);
        usage_.put_back();
        if (xstrcmp(slurm_conf.accounting_storage_type, "accounting_storage/slurmdbd") != 0)
            job_->db_index = 0;
    }

    AccountedResize(const AccountedResize&) = delete;
    AccountedResize& operator=(const AccountedResize&) = delete;

  private:
    job_record_t* job_;
    UsageOverResize usage_;
};

struct StepsOnNodes {
    const NodeSet& nodes;
};

int end_step_that_touches(void* step_pointer, void* context) {
    auto* step = static_cast<step_record_t*>(step_pointer);
    auto* leaving = static_cast<StepsOnNodes*>(context);
    if (step->state == JOB_RUNNING && step->step_node_bitmap &&
        step->step_id.step_id != SLURM_BATCH_SCRIPT &&
        bit_overlap_any(step->step_node_bitmap, leaving->nodes.get()))
        signal_step_tasks(step, SIGKILL, REQUEST_TERMINATE_TASKS);
    return 0;
}

// With real slurmds the job is ended on the leaving nodes only.  With a front end Slurm has no such
// notion (and crashes trying): steps that use a leaving node are ended as a whole.
//
// A slurmd says itself that its part of a step has ended, in one message with those of other nodes;
// Slurm, if told of some of them before, takes that message for an error.  So only a node that does
// not answer is spoken for.
void end_what_runs_on(job_record_t* job, const NodeSet& leaving) {
    if (front_end_mode()) {
        StepsOnNodes context{leaving};
        list_for_each(job->step_list, end_step_that_touches, &context);
        return;
    }
    abort_job_on_nodes(job, leaving.get());
    leaving.for_each([&](int index) {
        node_record_t* node = node_record_table_ptr[index];
        if (IS_NODE_DOWN(node) || IS_NODE_NO_RESPOND(node)) kill_step_on_node(job, node, false);
    });
}

}  // namespace

Result<void> shrink(job_record_t* job, const NodeSet& leaving) {
    NodeSet held(job->node_bitmap);
    int keep = batch_host(job);
    if (!held.contains(leaving) || leaving.empty() || leaving.equals(held))
        return elastic::error("job {} holds {}, which {} is no proper part of", job->job_id,
                              held.text(), leaving.text());
    if (keep >= 0 && leaving.has(keep))
        return elastic::error("job {} cannot give up {}: its batch script runs there", job->job_id,
                              node_record_table_ptr[keep]->name);

    NodeSet kept(job->job_resrcs->node_bitmap);
    kept -= leaving;
    {
        AccountedResize accounted(job);
        end_what_runs_on(job, leaving);
        unbook(job);
        leaving.for_each([&](int node) { give_back(job, node); });
        rebook(job, combined(kept, {job->job_resrcs}));
        gs_job_start(job);
    }
    last_job_update = last_node_update = time(nullptr);
    return {};
}

bool has_room(job_record_t* job, const NodeSet& joining) {
    return static_cast<bool>(allocation_on(job, joining));
}

Result<void> grow(job_record_t* job, const NodeSet& joining) {
    NodeSet held(job->node_bitmap);
    if (joining.empty() || joining.overlaps(held))
        return elastic::error("job {} holds {}: it cannot be given {}", job->job_id, held.text(),
                              joining.text());
    auto gained = allocation_on(job, joining);
    if (!gained) return gained.error();

    NodeSet all(job->job_resrcs->node_bitmap);
    all |= joining;
    {
        AccountedResize accounted(job);
        unbook(job);
        rebook(job, combined(all, {job->job_resrcs, gained->get()}));
        joining.for_each([&](int node) { make_node_alloc(node_record_table_ptr[node], job); });
        gs_job_start(job);
    }
    last_job_update = last_node_update = time(nullptr);
    return {};
}

void set_end(job_record_t* job, time_t end) {
    if (job->time_limit == INFINITE || job->time_limit == NO_VAL) return;
    // Slurm's limits are minutes: round up, and keep the end exact.
    time_t change = end - job->end_time;
    int64_t minutes = job->time_limit + (change + (change > 0 ? 59 : -59)) / 60;
    uint32_t limit = static_cast<uint32_t>(minutes < 1 ? 1 : minutes);
    acct_policy_alter_job(job, limit);
    job->time_limit = limit;
    job->end_time = job->end_time_exp = end;
    last_job_update = time(nullptr);
}

}  // namespace elastic::slurm
