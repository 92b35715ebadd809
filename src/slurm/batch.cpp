// SPDX-License-Identifier: GPL-2.0-or-later
// The node of a batch script can never be given up, so everything that chooses nodes asks for it
// here. Slurm itself knows it for certain only where the batch step's record says so: what the
// job's record says follows the first of its nodes.
#include "slurm/batch.hpp"

namespace elastic::slurm {

namespace {

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
    return compat::has_front_ends();
}

int batch_host(const job_record_t* job) {
    if (!job->node_bitmap) return -1;
    if (int node = node_of_batch_step(job); node >= 0) return node;
    if (front_end_mode()) return bit_ffs(job->node_bitmap);
    if (!job->batch_host) return bit_ffs(job->node_bitmap);
    node_record_t* node = find_node_record(job->batch_host);
    return node ? static_cast<int>(node->index) : -1;
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

}  // namespace elastic::slurm
