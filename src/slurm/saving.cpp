// SPDX-License-Identifier: GPL-2.0-or-later
// Slurm writes its records up to five seconds after a change.  That is too late for a resize, which
// an application must not be told of before it would survive a crash.
#include "slurm/saving.hpp"

#include "slurm/compat/compat.hpp"

namespace elastic::slurm {

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
