// SPDX-License-Identifier: GPL-2.0-or-later
// Slurm writes its records up to five seconds after a change.  That is too late for a resize, which
// an application must not be told of before it would survive a crash.
#include "slurm/saving.hpp"

#include "slurm/compat/compat.hpp"

namespace elastic::slurm {

namespace {

// Slurm's own thread notes when it has written job_state only after that. Who looks at the file in
// between, as each saving does first, takes it for that of another slurmctld and says so in the
// log.
void wait_for_state_files() {
    lock_state_files();
    unlock_state_files();
}

}  // namespace

void save_state() {
    schedule_job_save();
    schedule_node_save();
}

Result<void> save_jobs_now() {
    wait_for_state_files();
    const int rc = slurmctld_primary ? dump_all_job_state() : SLURM_SUCCESS;
    // Slurm's own thread may just be writing what it has packed before.
    save_state();
    if (rc != SLURM_SUCCESS)
        return error("{}/job_state cannot be written: {}", slurm_conf.state_save_location,
                     slurm_strerror(rc));
    return {};
}

}  // namespace elastic::slurm
