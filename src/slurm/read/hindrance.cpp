// SPDX-License-Identifier: GPL-2.0-or-later
// The checks that Slurm's own loop makes before it selects nodes.  They are made twice: when the
// queue is read, so that nothing is planned for a job that cannot start, and again when it is to
// start.
#include "slurm/read/hindrance.hpp"

namespace elastic::slurm {

namespace {

// As Slurm's loop: a QOS may have been taken from the association since the job was submitted.
bool has_valid_qos(job_record_t* job) {
    if (!job->qos_id) return true;
    assoc_mgr_lock_t locks{};
    locks.assoc = locks.qos = READ_LOCK;
    assoc_mgr_lock(&locks);
    const slurmdb_assoc_rec_t* association = job->assoc_ptr;
    const bool is_asked =
        association && (accounting_enforce & ACCOUNTING_ENFORCE_QOS) && !job->limit_set.qos;
    const bool is_valid = !is_asked || (job->qos_id < static_cast<uint32_t>(g_qos_count) &&
                                        association->usage && association->usage->valid_qos &&
                                        bit_test(association->usage->valid_qos, job->qos_id));
    assoc_mgr_unlock(&locks);
    if (!is_valid) {
        if (job->state_reason != FAIL_QOS) job_fail_qos(job, "elastic", false);
    } else if (job->state_reason == FAIL_QOS) {
        job->state_reason = WAIT_NO_REASON;
        xfree(job->state_desc);
        last_job_update = time(nullptr);
    }
    return is_valid;
}

}  // namespace

const char* why_not_now(job_record_t* job) {
    // As Slurm's loops, for the time after a start: a sibling may have started it meanwhile.
    if (job->fed_details && !fed_mgr_sibs_synced()) return "its federation is not in step yet";
    if (!compat::is_front_end_available(job)) return "no front end is available";
    if (job->deadline && job->deadline != NO_VAL && !deadline_ok(job, const_cast<char*>("elastic")))
        return "its deadline cannot be met";
    if (!has_valid_qos(job)) return "its association has lost its QOS";
    if ((job->array_task_id != NO_VAL || job->array_recs) && !job_array_start_test(job))
        return "the limit of running tasks of its array";
    // A limit that has held the job back before; a new one shows when the job is to start.
    if (compat::waits_for_limit(job) && !acct_policy_job_runnable_pre_select(job, false))
        return "an accounting limit";
    if (license_job_test(job, time(nullptr), true) != SLURM_SUCCESS) {
        job->state_reason = WAIT_LICENSES;
        return "licences";
    }
    return nullptr;
}

KeptReason::KeptReason(job_record_t* job)
    : job_(job), reason_(job->state_reason), text_(job->state_desc ? job->state_desc : "") {}

KeptReason::~KeptReason() {
    job_->state_reason = reason_;
    xfree(job_->state_desc);
    if (!text_.empty()) job_->state_desc = xstrdup(text_.c_str());
}

}  // namespace elastic::slurm
