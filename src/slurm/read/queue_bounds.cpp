// SPDX-License-Identifier: GPL-2.0-or-later
// Slurm's two loops differ in what they do with such a parameter; where they do, it is here what
// slurm.conf(5) says of it.
#include "slurm/read/queue_bounds.hpp"

#include "common/limits.hpp"

namespace elastic::slurm {

namespace {

// Where the job is to start, as far as others are kept from starting behind it.
const void* place_of(const job_record_t* job) {
    if (job->resv_name) return job->resv_ptr;
    return job->part_ptr;
}

void wait_by_priority(job_record_t* job) {
    if (job->state_reason != WAIT_NO_REASON && job->state_reason != WAIT_RESOURCES) return;
    job->state_reason = WAIT_PRIORITY;
    xfree(job->state_desc);
    last_job_update = time(nullptr);
}

// The least priority with which the job may have a reservation by its association and QOS, 0 if
// they say nothing.
std::uint32_t threshold_of(job_record_t* job) {
    return accounting_enforce & ACCOUNTING_ENFORCE_LIMITS ? acct_policy_get_prio_thresh(job, false)
                                                          : 0;
}

}  // namespace

void QueueBounds::note_held_back(job_record_t* job) {
    if (parameters_.limits_stop && compat::waits_for_limit(job) && may_reserve(job))
        stopped_.insert(place_of(job));
}

bool QueueBounds::is_stopped(job_record_t* job) const {
    if (!stopped_.contains(place_of(job))) return false;
    wait_by_priority(job);
    return true;
}

int QueueBounds::admit(job_record_t* job, int copies) {
    if (job->bit_flags & JOB_MAGNETIC) return copies;
    const int admitted = depth_.admit(
        {job->user_id, job->assoc_id, reinterpret_cast<std::uintptr_t>(job->part_ptr)}, copies);
    if (admitted < 1) wait_by_priority(job);
    return admitted;
}

int QueueBounds::reserves(job_record_t* job, bool is_alternative) const {
    if ((is_alternative && parameters_.one_reservation) || !may_reserve(job)) return 0;
    const bool is_array = job->array_recs && parameters_.most_reserved_tasks;
    return is_array ? parameters_.most_reserved_tasks : kMaxNodes;
}

bool QueueBounds::may_reserve(job_record_t* job) const {
    std::uint32_t threshold = threshold_of(job);
    if (!threshold) threshold = parameters_.reserving_priority;
    if (threshold && job->priority < threshold) return false;
    if (parameters_.reserving_age <= 0) return true;
    const time_t begin = job->details->begin_time;
    return begin && now_ - static_cast<Time>(begin) >= parameters_.reserving_age;
}

}  // namespace elastic::slurm
