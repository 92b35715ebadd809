// SPDX-License-Identifier: GPL-2.0-or-later
// Finds Slurm's record of a job in the state that a caller can deal with.  Needs ControllerLock;
// the records are Slurm's and last as long as the hold.
#pragma once

#include <string>

#include "controller/job_table.hpp"
#include "slurm/compat/compat.hpp"

namespace elastic::slurm {

// The record if the job runs and holds nodes, else null.
inline job_record_t* running_job(JobId id) {
    job_record_t* job = find_job_record(id);
    return job && IS_JOB_RUNNING(job) && job->node_bitmap && job->job_resrcs ? job : nullptr;
}

// The record if the job waits here and is not held, else null; Slurm keeps one of a job that
// another cluster of the federation has started.
inline job_record_t* pending_job(JobId id) {
    job_record_t* job = find_job_record(id);
    const bool waits = job && IS_JOB_PENDING(job) && !IS_JOB_REVOKED(job);
    return waits && job->details && job->priority ? job : nullptr;
}

// Whether the pending job waits neither for a time nor for another job, and is not held.
// Slurm marks each job as dependent until it has looked whether that is so, which it does not while
// the job is held.
inline bool may_start(const job_record_t* job, time_t now) {
    const job_details* details = job->details;
    return job->priority && details && details->begin_time <= now &&
           !((job->bit_flags & JOB_DEPENDENT) && details->dependency);
}

// Visits all records. Of Slurm's ways to do that it is the one that takes the lock of the list
// once, not for each job.
template <class Visit>
void for_each_job(Visit visit) {
    list_for_each_ro(
        job_list,
        [](void* job, void* each) {
            (*static_cast<Visit*>(each))(static_cast<job_record_t*>(job));
            return 0;
        },
        &visit);
}

// Whether the pending job, as it asks by now, may have so many nodes.
bool takes(const job_record_t*, int nodes);

// The login name, or the number where there is none.
std::string user_name(uid_t);

// Seconds that the job may run by its limit; a year for an unlimited one.
Duration time_limit_of(const job_record_t*);
// The same if its limit were that many minutes, or one of Slurm's words for none.
Duration time_limit_of(const job_record_t*, uint32_t minutes);

// Seconds for which a job that starts now is planned: its limit, no longer than until its deadline.
// A job with a least time (--time-min) is planned with that, as by sched/backfill.
Duration time_to_run(const job_record_t*, time_t now);
// How long its last run took, without suspensions; the job has ended.
Duration time_had(const job_record_t*);

// One, or how many elements of the array have not been started.
inline std::uint32_t elements_waiting(const job_record_t* job) {
    return job->array_recs && job->array_recs->task_cnt ? job->array_recs->task_cnt : 1;
}

// "12_3" of an element of an array, "" of any other job.
std::string array_name(const job_record_t*);

// When its time limit ends it.
controller::TimeLimit limit_of(const job_record_t*);

// The table's job of that record, made from it if it is new; the annotation follows the record's
// admin_comment.
controller::Job& sync(controller::JobTable&, const job_record_t*);
void sync(const job_record_t*, controller::Job&);

}  // namespace elastic::slurm
