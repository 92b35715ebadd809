// SPDX-License-Identifier: GPL-2.0-or-later
// Slurm's own functions do the setting.  What it leaves set after an attempt (the partition, the
// QOS, the features in use) is left here too; a magnetic reservation is taken back, unless the job
// has started in it.
#include "slurm/read/attempt.hpp"

namespace elastic::slurm {

namespace {

char* mutable_text(const std::string& text) {
    return const_cast<char*>(text.c_str());
}

void use_features(job_details* details, bool preferred) {
    details->features_use = preferred ? details->prefer : details->features;
    details->feature_list_use = preferred ? details->prefer_list : details->feature_list;
}

void use_reservation(job_record_t* job, slurmctld_resv_t* reservation) {
    job_queue_rec_t record{};
    record.job_ptr = job;
    record.resv_ptr = reservation;
    if (job->resv_list)
        job_queue_rec_resv_list(&record);
    else if (!job->resv_name)  // else it has got one since the queue was made
        job_queue_rec_magnetic_resv(&record);
}

}  // namespace

std::optional<FoundAttempt> find(const Attempt& attempt) {
    FoundAttempt found{find_part_record(mutable_text(attempt.partition)), nullptr,
                       attempt.preferred, attempt.qos};
    if (!found.partition) return std::nullopt;
    if (attempt.reservation.empty()) return found;
    found.reservation = find_resv_name(mutable_text(attempt.reservation));
    return found.reservation ? std::optional(found) : std::nullopt;
}

Trying::Trying(job_record_t* job, const FoundAttempt& attempt)
    : job_(job), has_reservation_(attempt.reservation != nullptr) {
    job->part_ptr = attempt.partition;
    use_features(job->details, attempt.preferred);
    compat::use_qos(job, attempt.qos);
    if (has_reservation_) use_reservation(job, attempt.reservation);
}

Trying::~Trying() {
    if (!has_reservation_) return;
    job_resv_clear_magnetic_flag(job_);
    // The task of an array that has started was split off; the rest has a copy of its reservation.
    if (!job_->array_job_id) return;
    if (job_record_t* rest = find_job_record(job_->array_job_id))
        job_resv_clear_magnetic_flag(rest);
}

}  // namespace elastic::slurm
