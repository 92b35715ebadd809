// SPDX-License-Identifier: GPL-2.0-or-later
// A node counts its jobs that share with nobody, and while there is one is given to no other job.
// Slurm forgets to count down where a running job loses the node and goes on, with --no-kill or
// made smaller by `scontrol update`. From the end of the next such job there the node is idle to
// everybody who looks and refused to every job, until slurmd registers.
//
// Always holds: the count is at most that of the jobs that run there, of which it is a part.
#include "slurm/act/exclusive_counts.hpp"

#include "common/log.hpp"
#include "slurm/lock.hpp"
#include "slurm/nodes.hpp"

namespace elastic::slurm {

void mend_exclusive_counts() {
    ControllerLock lock;
    for (int i = 0; i < node_record_count; ++i) {
        node_record_t* node = node_record_table_ptr[i];
        if (!node || node->no_share_job_cnt <= node->run_job_cnt) continue;
        log_info(
            "node {}: Slurm still counts {} exclusive jobs that have left it; it may be used again",
            node->name, node->no_share_job_cnt - node->run_job_cnt);
        node->no_share_job_cnt = node->run_job_cnt;
        if (node->no_share_job_cnt == 0) bit_set(share_node_bitmap, i);
    }
}

}  // namespace elastic::slurm
