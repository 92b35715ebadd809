// SPDX-License-Identifier: GPL-2.0-or-later
// Slurm 22.05 to 23.11: what both have in common and 24.05 has changed.
#pragma once

namespace elastic::slurm::compat {

// What the request of a job says of GRES, as a list of gres_state_t that the caller frees; null if
// it says nothing.
inline List validate_gres(const job_record_t* job, job_details& details) {
    List list = nullptr;
    uint16_t none = NO_VAL16, sockets = NO_VAL16, tasks_per_tres = NO_VAL16;
    uint16_t tasks_per_node = NO_VAL16, cpus_per_task = NO_VAL16;
    gres_job_state_validate(job->cpus_per_tres, nullptr, nullptr, job->tres_per_node, nullptr,
                            nullptr, job->mem_per_tres, &details.num_tasks, &details.min_nodes,
                            &details.max_nodes, &tasks_per_node, &none, &sockets, &cpus_per_task,
                            &tasks_per_tres, &list);
    return list;
}

// Whether the job waits for a limit of accounting, by its reason.
inline bool waits_for_limit(job_record_t* job) {
    return !acct_policy_job_runnable_state(job);
}

// The name of a reason for which jobs wait.
inline const char* name_of_reason(uint32_t reason) {
    return job_reason_string(static_cast<job_state_reason>(reason));
}

// Nodes that power saving has turned off.
inline bitstr_t* powered_down_nodes() {
    return power_node_bitmap;
}

// Whether the job's nodes hang on switches that Slurm knows.
inline bool has_switches(const job_record_t*) {
    return switch_record_cnt > 0;
}

// Adds to some nodes of the job all that hang on the same switches.
inline void add_nodes_of_switches(const job_record_t*, bitstr_t* nodes) {
    for (int i = 0; i < switch_record_cnt; ++i) {
        const switch_record_t& leaf = switch_record_table[i];
        if (leaf.level == 0 && bit_overlap_any(nodes, leaf.node_bitmap))
            bit_or(nodes, leaf.node_bitmap);
    }
}

// Nodes that --segment wants beside each other; 0 if it says nothing.
inline std::uint32_t segment_size(const job_desc_msg_t*) {
    return 0;
}
inline std::uint32_t segment_size(const job_details*) {
    return 0;
}

}  // namespace elastic::slurm::compat
