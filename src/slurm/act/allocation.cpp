// SPDX-License-Identifier: GPL-2.0-or-later
// A job changes its nodes as Slurm lets a job start: what it holds is taken out of the select
// plugin's books, made anew for the other set of nodes, and booked again by the same two calls that
// a start makes. So cores, memory and GRES are counted by Slurm itself and as for a job that had
// started on these nodes, with any of its settings. Slurm's own merge (select_g_job_expand) is not
// used: it puts the cores of both jobs on top of each other, refuses jobs with GRES, and loses
// their types.
//
// What is new on a node comes from a phantom: a copy of the job's record under another id that asks
// for exactly the new nodes and never enters Slurm's tables; the select plugin says what it would
// get there. There is no second job, no job id spent, nothing in squeue and, until the job itself
// is booked, nothing to take back.
//
// Slurm keeps many things by the place of a node among the job's nodes (cores, what steps use);
// nodes that join or leave before others move their places.
//
// Always holds: after rebook() job record, steps and the select plugin's books agree.
#include "slurm/act/allocation.hpp"

#include "slurm/act/gres.hpp"
#include "slurm/act/places.hpp"
#include "slurm/whole_nodes.hpp"

namespace elastic::slurm {

namespace {

// No real job can have it: ids end at MAX_JOB_ID.
constexpr uint32_t kPhantomId = 0x7ffffff0;

// The record by which the select plugin is asked.
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
        record_.gres_list_req = requested_gres(job, details_).release();
    }

    ~Phantom() {
        free_job_resources(&record_.job_resrcs);
        FREE_NULL_LIST(record_.gres_list_req);
    }

    Phantom(const Phantom&) = delete;
    Phantom& operator=(const Phantom&) = delete;

    Result<JobResources> find_room() {
        NodeSet room(required_);
        const int rc = compat::find_room(&record_, room.get(), details_.min_nodes);
        if (rc != SLURM_SUCCESS || !room.equals(required_) || !record_.job_resrcs)
            return elastic::error("Slurm finds no room on {}: {}", required_.text(),
                                  slurm_strerror(rc));
        return JobResources(std::exchange(record_.job_resrcs, nullptr));
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

    // Whatever a select plugin may build or free in a record.
    void forget_what_the_job_owns() {
        record_.job_id = kPhantomId;
        record_.array_recs = nullptr;
        record_.job_resrcs = nullptr;
        record_.node_bitmap = record_.node_bitmap_cg = record_.node_bitmap_pr = nullptr;
        record_.nodes = record_.sched_nodes = nullptr;
        record_.step_list = nullptr;
        record_.license_list = nullptr;
        record_.gres_list_req = record_.gres_list_req_accum = record_.gres_list_alloc = nullptr;
        record_.gres_used = nullptr;
        record_.gres_detail_str = nullptr;
        record_.gres_detail_cnt = 0;
        record_.req_switch = 0;
        record_.total_cpus = record_.cpu_cnt = 0;
        record_.total_nodes = record_.node_cnt = 0;
        record_.job_next = nullptr;
        compat::forget_shared(&record_);
    }

    job_record_t record_;
    job_details details_;
    multi_core_data_t multi_core_{};
    NodeSet required_;
};

template <class Value>
Value* array_of(int size) {
    return static_cast<Value*>(xcalloc(static_cast<size_t>(size), sizeof(Value)));
}

// Both arrays have a value a node; where the source has none the node's stays 0.
template <class Value>
void copy_value(const Value* from, int from_place, Value* to, int to_place) {
    if (from && to) to[to_place] = from[from_place];
}

void copy_nodes(const job_resources_t& from, const Places& places, job_resources_t* to) {
    places.for_each_kept([&](const Places::Kept& kept) {
        copy_value(from.cpus, kept.before, to->cpus, kept.after);
        copy_value(from.cpus_used, kept.before, to->cpus_used, kept.after);
        copy_value(from.memory_allocated, kept.before, to->memory_allocated, kept.after);
        copy_value(from.memory_used, kept.before, to->memory_used, kept.after);
        copy_value(from.tasks_per_node, kept.before, to->tasks_per_node, kept.after);
        copy_value(compat::node_ranks(from), kept.before, compat::node_ranks(*to), kept.after);
        copy_cores(from.core_bitmap, to->core_bitmap, kept);
        copy_cores(from.core_bitmap_used, to->core_bitmap_used, kept);
    });
}

int move_cores_of_step(void* step_pointer, void* places_pointer) {
    auto* step = static_cast<step_record_t*>(step_pointer);
    const auto* places = static_cast<const Places*>(places_pointer);
    // Otherwise it has outlived a resize by Slurm itself, which forgets these bitmaps.
    if (!step->core_bitmap_job || bit_size(step->core_bitmap_job) != places->cores_before())
        return 0;
    bitstr_t* moved = bit_alloc(places->cores_after());
    places->for_each_kept(
        [&](const Places::Kept& kept) { copy_cores(step->core_bitmap_job, moved, kept); });
    FREE_NULL_BITMAP(step->core_bitmap_job);
    step->core_bitmap_job = moved;
    return 0;
}

uint32_t processors(const NodeSet& nodes) {
    uint32_t count = 0;
    nodes.for_each([&](int node) { count += processors_of_whole_node(node); });
    return count;
}

uint32_t configured_processors(const NodeSet& nodes) {
    uint32_t count = 0;
    nodes.for_each([&](int node) { count += node_record_table_ptr[node]->config_ptr->cpus; });
    return count;
}

// Whether steps have to be told where some node is.
bool has_alias(const NodeSet& nodes) {
    bool found = false;
    nodes.for_each([&](int node) {
        const node_record_t* record = node_record_table_ptr[node];
        found |=
            IS_NODE_CLOUD(record) || IS_NODE_DYNAMIC_NORM(record) || IS_NODE_DYNAMIC_FUTURE(record);
    });
    return found;
}

void set_nodes(job_record_t* job, JobResources resources) {
    FREE_NULL_BITMAP(job->node_bitmap);
    job->node_bitmap = bit_copy(resources->node_bitmap);
    xfree(job->nodes);
    job->nodes = xstrdup(resources->nodes);
    job->node_cnt = job->total_nodes = resources->nhosts;
    job->cpu_cnt = job->total_cpus = processors(NodeSet(resources->node_bitmap));
    follow_tasks_per_node(job->details, job->node_cnt);
    free_job_resources(&job->job_resrcs);
    job->job_resrcs = resources.release();
    if (compat::aliases_of(job) || has_alias(NodeSet(job->node_bitmap))) compat::rename_nodes(job);
}

}  // namespace

Result<JobResources> allocation_on(job_record_t* job, const NodeSet& nodes) {
    return Phantom(job, nodes).find_room();
}

JobResources combined(const NodeSet& nodes, const std::vector<const job_resources_t*>& sources) {
    const job_resources_t& model = *sources.front();
    JobResources result(create_job_resources());
    const int count = nodes.count();
    result->node_bitmap = bit_copy(nodes.get());
    result->nodes = bitmap2node_name(nodes.get());
    result->nhosts = static_cast<uint32_t>(count);
    result->node_req = model.node_req;
    result->whole_node = model.whole_node;
    result->threads_per_core = model.threads_per_core;
    result->cr_type = model.cr_type;
    build_job_resources(result.get());
    result->cpus = array_of<uint16_t>(count);
    result->cpus_used = array_of<uint16_t>(count);
    result->memory_allocated = array_of<uint64_t>(count);
    result->memory_used = array_of<uint64_t>(count);
    if (model.tasks_per_node) result->tasks_per_node = array_of<uint16_t>(count);
    if (compat::node_ranks(model)) compat::set_node_ranks(*result, array_of<uint32_t>(count));
    for (const job_resources_t* source : sources)
        copy_nodes(*source, places_of(NodeSet(source->node_bitmap), nodes), result.get());
    result->ncpus = static_cast<uint32_t>(build_job_resources_cpu_array(result.get()));
    return result;
}

void unbook(job_record_t* job) {
    select_g_job_fini(job);
    // For each node that leaves, Slurm will take off as many as the node has, specialised or not;
    // rebook() counts anew.
    job->cpu_cnt = job->total_cpus = configured_processors(NodeSet(job->node_bitmap));
}

void rebook(job_record_t* job, JobResources resources) {
    Places places =
        places_of(NodeSet(job->job_resrcs->node_bitmap), NodeSet(resources->node_bitmap));
    set_nodes(job, std::move(resources));
    HeldGres before = ask_for_whole_nodes(job);
    select_g_job_begin(job);
    select_g_select_nodeinfo_set(job);
    move_steps_gres(job, before, places);
    if (job->step_list) list_for_each(job->step_list, move_cores_of_step, &places);
}

}  // namespace elastic::slurm
