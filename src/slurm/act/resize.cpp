// SPDX-License-Identifier: GPL-2.0-or-later
// Growing works through a phantom: a copy of the job's record under another id
// that asks for exactly the new nodes and never enters Slurm's tables.  The
// select plugin allocates to it and merges it into the job as it would merge a
// helper job; there is no second job, no job id spent and nothing in squeue.
//
// Shrinking follows what `scontrol update NodeList=` does, with what it forgets
// (step bitmaps, the nodes' exclusive counters).
//
// Always holds: job record, node records and the select plugin agree after each
// function, on success and on failure.
#include "slurm/act/resize.hpp"

#include <csignal>

namespace elastic::slurm {

namespace {

// No real job can have it: ids end at MAX_JOB_ID.
constexpr uint32_t kPhantomId = 0x7ffffff0;

// The record by which the select plugin is asked for more nodes.
class Phantom {
  public:
    Phantom(const job_record_t* job, const NodeSet& nodes)
        : record_(*job), details_(*job->details), required_(nodes) {
        if (details_.mc_ptr) {
            multi_core_ = *details_.mc_ptr;
            details_.mc_ptr = &multi_core_;
        }
        want_exactly(static_cast<uint32_t>(nodes.count()));
        forget_what_the_job_owns();
        record_.details = &details_;
    }

    ~Phantom() {
        if (allocated_) select_g_job_fini(&record_);
        free_job_resources(&record_.job_resrcs);
        FREE_NULL_BITMAP(record_.node_bitmap);
        xfree(record_.nodes);
        xfree(record_.sched_nodes);
    }

    Phantom(const Phantom&) = delete;
    Phantom& operator=(const Phantom&) = delete;

    Result<void> allocate() {
        NodeSet room(required_);
        int rc = compat::find_room(&record_, room.get(), details_.min_nodes);
        if (rc != SLURM_SUCCESS || !room.equals(required_))
            return elastic::error("Slurm finds no room on {}: {}", required_.text(),
                                  slurm_strerror(rc));
        allocated_ = true;  // cons_tres allocates in the test already
        record_.node_bitmap = room.release();
        record_.total_nodes = record_.node_cnt = details_.min_nodes;
        rc = select_g_job_begin(&record_);
        if (rc != SLURM_SUCCESS)
            return elastic::error("Slurm cannot allocate {}: {}", required_.text(),
                                  slurm_strerror(rc));
        return {};
    }

    Result<void> merge_into(job_record_t* job) {
        int rc = select_g_job_expand(&record_, job);
        if (rc != SLURM_SUCCESS)
            return elastic::error("Slurm cannot merge {} into job {}: {}", required_.text(),
                                  job->job_id, slurm_strerror(rc));
        allocated_ = false;
        return {};
    }

  private:
    void want_exactly(uint32_t nodes) {
        details_.min_nodes = details_.max_nodes = nodes;
        details_.min_cpus = details_.orig_min_cpus = nodes;
        details_.max_cpus = details_.orig_max_cpus = NO_VAL;
        details_.num_tasks = nodes;
        details_.req_node_bitmap = required_.get();
        details_.exc_node_bitmap = nullptr;
        details_.contiguous = 0;
        details_.feature_list = details_.feature_list_use = details_.prefer_list = nullptr;
        details_.depend_list = nullptr;
        details_.expanding_jobid = 0;
    }

    void forget_what_the_job_owns() {
        record_.job_id = kPhantomId;
        record_.array_recs = nullptr;
        record_.job_resrcs = nullptr;
        record_.node_bitmap = record_.node_bitmap_cg = record_.node_bitmap_pr = nullptr;
        record_.nodes = record_.sched_nodes = nullptr;
        record_.step_list = nullptr;
        record_.license_list = nullptr;
        record_.gres_list_req = record_.gres_list_req_accum = record_.gres_list_alloc = nullptr;
        record_.req_switch = 0;
        record_.total_cpus = record_.cpu_cnt = 0;
        record_.total_nodes = record_.node_cnt = 0;
        record_.job_next = nullptr;
    }

    job_record_t record_;
    job_details details_;
    multi_core_data_t multi_core_{};
    NodeSet required_;
    bool allocated_ = false;
};

// A merge overwrites the request by what is allocated; a requeued job must ask
// for what its user asked for.
class KeepRequest {
  public:
    explicit KeepRequest(job_details* details)
        : details_(details), min_(details->min_cpus), max_(details->max_cpus) {}
    ~KeepRequest() {
        details_->min_cpus = min_;
        details_->max_cpus = max_;
    }

  private:
    job_details* details_;
    uint32_t min_, max_;
};

// cons_tres merges no job that asks for GRES, and takes an empty list, which a
// cluster with GresTypes gives to every job, for asking.
class HideEmptyGres {
  public:
    explicit HideEmptyGres(job_record_t* job) : job_(job), list_(job->gres_list_req) {
        if (list_ && list_count(list_) == 0) job_->gres_list_req = nullptr;
    }
    ~HideEmptyGres() { job_->gres_list_req = list_; }

  private:
    job_record_t* job_;
    decltype(job_record_t::gres_list_req) list_;
};

// The merge combines the core bitmaps of both without an offset, so that later
// steps find no free processors.  The job has its nodes whole: all cores are its.
void own_all_cores(job_record_t* job) {
    job_resources_t* resources = job->job_resrcs;
    if (!resources || !resources->core_bitmap) return;
    select_g_job_suspend(job, true);
    bit_set_all(resources->core_bitmap);
    build_job_resources_cpu_array(resources);
    select_g_job_resume(job, true);
}

void give_back(job_record_t* job, int index) {
    node_record_t* node = node_record_table_ptr[index];
    excise_node_from_job(job, node);
    // excise_node_from_job does not undo what make_node_alloc did for a job that
    // shares with nobody: without this the node stays "busy" for others.
    if (job->details->share_res == 0 && node->no_share_job_cnt > 0 && --node->no_share_job_cnt == 0)
        bit_set(share_node_bitmap, index);
}

// Slurm leaves the job without an index into the database until slurmdbd gives
// it a new one, and refuses every `scontrol update` of it until then; where there
// is no slurmdbd that would be for ever.
void end_accounting(job_record_t* job) {
    job_post_resize_acctg(job);
    if (xstrcmp(slurm_conf.accounting_storage_type, "accounting_storage/slurmdbd") != 0)
        job->db_index = 0;
}

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

// With real slurmds the job is ended on the leaving nodes only.  With a front
// end Slurm has no such notion (and crashes trying): steps that use a leaving
// node are ended as a whole.
void end_what_runs_on(job_record_t* job, const NodeSet& leaving) {
    if (front_end_mode()) {
        StepsOnNodes context{leaving};
        list_for_each(job->step_list, end_step_that_touches, &context);
        return;
    }
    abort_job_on_nodes(job, leaving.get());
    leaving.for_each([&](int node) { kill_step_on_node(job, node_record_table_ptr[node], false); });
}

int repair_batch_step(void* step_pointer, void*) {
    auto* step = static_cast<step_record_t*>(step_pointer);
    if (step->step_node_bitmap || !step->job_ptr || !step->job_ptr->node_bitmap) return 0;
    step->step_node_bitmap = bit_alloc(node_record_count);
    // Not batch_host(): the list of steps is locked here.
    if (int node = bit_ffs(step->job_ptr->node_bitmap); node >= 0)
        bit_set(step->step_node_bitmap, node);
    return 0;
}

int is_batch_step(void* step_pointer, void*) {
    return static_cast<step_record_t*>(step_pointer)->step_id.step_id == SLURM_BATCH_SCRIPT;
}

// Where the batch step is, -1 without one.
int node_of_batch_step(const job_record_t* job) {
    if (!job->batch_flag || !job->step_list) return -1;
    auto* step =
        static_cast<step_record_t*>(list_find_first(job->step_list, is_batch_step, nullptr));
    if (!step || !step->step_node_bitmap) return -1;
    int node = static_cast<int>(bit_ffs(step->step_node_bitmap));
    return node >= 0 && bit_test(job->node_bitmap, node) ? node : -1;
}

}  // namespace

bool front_end_mode() {
    return front_end_node_cnt > 0;
}

int batch_host(const job_record_t* job) {
    if (!job->node_bitmap) return -1;
    if (int node = node_of_batch_step(job); node >= 0) return node;
    if (front_end_mode()) return bit_ffs(job->node_bitmap);
    if (!job->batch_host) return bit_ffs(job->node_bitmap);
    node_record_t* node = find_node_record(job->batch_host);
    return node ? static_cast<int>(node->index) : -1;
}

Result<void> shrink(job_record_t* job, const NodeSet& leaving) {
    NodeSet held(job->node_bitmap);
    int keep = batch_host(job);
    if (!held.contains(leaving) || leaving.empty() || leaving.equals(held))
        return elastic::error("job {} holds {}, which {} is no proper part of", job->job_id,
                              held.text(), leaving.text());
    if (keep >= 0 && leaving.has(keep))
        return elastic::error("job {} cannot give up {}: its batch script runs there", job->job_id,
                              node_record_table_ptr[keep]->name);

    NodeSet before(job->job_resrcs->node_bitmap);
    job_pre_resize_acctg(job);
    end_what_runs_on(job, leaving);
    leaving.for_each([&](int node) { give_back(job, node); });
    rebuild_step_bitmaps(job, before.get());
    gs_job_start(job);
    compat::rebuild_gres_details(job);
    end_accounting(job);
    last_job_update = last_node_update = time(nullptr);
    return {};
}

bool has_room(job_record_t* job, const NodeSet& joining) {
    return static_cast<bool>(Phantom(job, joining).allocate());
}

Result<void> grow(job_record_t* job, const NodeSet& joining) {
    NodeSet held(job->node_bitmap);
    if (joining.empty() || joining.overlaps(held))
        return elastic::error("job {} holds {}: it cannot be given {}", job->job_id, held.text(),
                              joining.text());
    Phantom phantom(job, joining);
    if (auto allocated = phantom.allocate(); !allocated) return allocated.error();

    NodeSet before(job->job_resrcs->node_bitmap);
    job_pre_resize_acctg(job);
    Result<void> merged = [&] {
        KeepRequest keep(job->details);
        HideEmptyGres hide(job);
        return phantom.merge_into(job);
    }();
    if (merged) {
        joining.for_each([&](int node) { make_node_alloc(node_record_table_ptr[node], job); });
        own_all_cores(job);
        rebuild_step_bitmaps(job, before.get());
        gs_job_start(job);
        compat::rebuild_gres_details(job);
    }
    end_accounting(job);
    last_job_update = last_node_update = time(nullptr);
    return merged;
}

void repair_batch(job_record_t* job) {
    if (!job->batch_flag || !job->step_list || !job->node_bitmap) return;
    if (front_end_mode()) {
        list_for_each(job->step_list, repair_batch_step, nullptr);
        return;
    }
    int node = node_of_batch_step(job);
    if (node < 0) return;
    const char* name = node_record_table_ptr[node]->name;
    if (xstrcmp(job->batch_host, name) == 0) return;
    xfree(job->batch_host);
    job->batch_host = xstrdup(name);
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

void save_state() {
    schedule_job_save();
    schedule_node_save();
}

Result<void> save_jobs_now() {
    const int rc = slurmctld_primary ? dump_all_job_state() : SLURM_SUCCESS;
    // Slurm's own thread may just be writing what it has packed before.
    save_state();
    if (rc != SLURM_SUCCESS)
        return error("{}/job_state cannot be written: {}", slurm_conf.state_save_location,
                     slurm_strerror(rc));
    return {};
}

}  // namespace elastic::slurm
