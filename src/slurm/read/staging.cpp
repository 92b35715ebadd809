// SPDX-License-Identifier: GPL-2.0-or-later
// Slurm asks its plugins for burst buffers when it selects nodes, and then nodes may have been kept
// for a job whose data are nowhere near; so they are asked when the queue is read.
#include "slurm/read/staging.hpp"

namespace elastic::slurm {

namespace {

bool is_of_staging(uint32_t reason) {
    return reason == WAIT_BURST_BUFFER_STAGING || reason == WAIT_BURST_BUFFER_RESOURCE;
}

void explain(job_record_t* job, uint32_t reason) {
    const bool may_be_replaced =
        is_of_staging(job->state_reason) || job->state_reason == WAIT_NO_REASON ||
        job->state_reason == WAIT_PRIORITY || job->state_reason == WAIT_RESOURCES;
    if (job->state_reason == reason || !may_be_replaced) return;
    job->state_reason = reason;
    xfree(job->state_desc);
    last_job_update = time(nullptr);
}

}  // namespace

Staging staging_of(job_record_t* job) {
    if (!job->burst_buffer || !*job->burst_buffer) return Staging::done;
    constexpr bool kOnlyTest = true;
    const int answer = bb_g_job_test_stage_in(job, kOnlyTest);
    if (answer == 1) {
        if (is_of_staging(job->state_reason)) explain(job, WAIT_NO_REASON);
        return Staging::done;
    }
    explain(job, answer == 0 ? WAIT_BURST_BUFFER_STAGING : WAIT_BURST_BUFFER_RESOURCE);
    return answer == 0 ? Staging::under_way : Staging::not_begun;
}

void begin_staging() {
    bb_g_job_try_stage_in();
}

}  // namespace elastic::slurm
