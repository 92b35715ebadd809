// SPDX-License-Identifier: GPL-2.0-or-later
// The same as when a job starts (select_nodes), so that a job that has grown to some nodes counts
// as one that has started on them.
#include "slurm/whole_nodes.hpp"

namespace elastic::slurm {

uint32_t processors_of_whole_node(int node) {
    const node_record_t* record = node_record_table_ptr[node];
    return xstrcmp(slurm_conf.select_type, "select/linear") == 0 ? record->config_ptr->cpus
                                                                 : record->cpus_efctv;
}

void follow_tasks_per_node(job_details* details, uint32_t nodes) {
    if (details->ntasks_per_node && details->num_tasks)
        details->num_tasks = nodes * details->ntasks_per_node;
}

GresList gres_of_whole_nodes(const NodeSet& nodes, JobId job) {
    if (gres_get_gres_cnt() == 0) return nullptr;
    xlist* list = nullptr;
    nodes.for_each(
        [&](int node) { compat::ask_for_whole_node(&list, node_record_table_ptr[node], job); });
    return GresList(list);
}

}  // namespace elastic::slurm
