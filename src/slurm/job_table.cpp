// SPDX-License-Identifier: GPL-2.0-or-later
// The annotation is parsed when a job is first seen and when its admin_comment
// changes, not in every pass.
#include "slurm/job_table.hpp"

namespace elastic::slurm {

namespace {

constexpr Duration kYear = 365.0 * 24 * 3600;

void read_annotation(JobEntry& entry, const job_record_t* job) {
    const char* comment = job->admin_comment ? job->admin_comment : "";
    if (entry.comment == comment) return;
    auto parsed = core::annotation_from_text(comment);
    entry.comment = comment;
    entry.elastic = static_cast<bool>(parsed);
    entry.annotation = parsed ? *parsed : core::Annotation{};
}

}  // namespace

std::string user_name(uid_t uid) {
    char* name = uid_to_string_cached(uid);
    return name ? name : std::to_string(uid);
}

Duration time_limit_of(const job_record_t* job) {
    uint32_t minutes = job->time_limit;
    if (minutes == NO_VAL && job->part_ptr) {
        minutes = job->part_ptr->default_time;
        if (minutes == NO_VAL) minutes = job->part_ptr->max_time;
    }
    return minutes == INFINITE || minutes == NO_VAL ? kYear : minutes * 60.0;
}

JobEntry* JobTable::find(JobId id) {
    auto found = entries_.find(id);
    return found == entries_.end() ? nullptr : &found->second;
}

const JobEntry* JobTable::find(JobId id) const {
    return const_cast<JobTable*>(this)->find(id);
}

JobEntry& JobTable::sync(const job_record_t* job) {
    JobEntry& entry = entries_[job->job_id];
    sync(job, entry);
    return entry;
}

void JobTable::sync(const job_record_t* job, JobEntry& entry) {
    entry.id = job->job_id;
    entry.owner = job->user_id;
    entry.limit_end = IS_JOB_PENDING(job) ? 0 : static_cast<Time>(job->end_time);
    if (entry.name.empty() && job->name) entry.name = job->name;
    read_annotation(entry, job);
}

}  // namespace elastic::slurm
