// SPDX-License-Identifier: GPL-2.0-or-later
// The annotation is parsed when a job is first seen and when its admin_comment changes, not in
// every pass.
#include "slurm/records.hpp"

namespace elastic::slurm {

namespace {

constexpr Duration kYear = 365.0 * 24 * 3600;

void read_annotation(controller::Job& known, const job_record_t* job) {
    const char* comment = job->admin_comment ? job->admin_comment : "";
    if (known.comment == comment) return;
    auto parsed = core::annotation_from_text(comment);
    known.comment = comment;
    known.elastic = static_cast<bool>(parsed);
    known.annotation = parsed ? *parsed : core::Annotation{};
    known.annotation.speedup.believed = known.believed;
}

}  // namespace

bool takes(const job_record_t* job, int nodes) {
    if (const auto sizes = core::annotation_from_text(job->admin_comment ? job->admin_comment : ""))
        return sizes->min <= nodes && nodes <= sizes->max;
    const auto count = static_cast<std::uint32_t>(nodes);
    const job_details* details = job->details;
    return details->min_nodes <= count && (!details->max_nodes || count <= details->max_nodes);
}

std::string user_name(uid_t uid) {
    char* name = uid_to_string_cached(uid);
    return name ? name : std::to_string(uid);
}

std::string array_name(const job_record_t* job) {
    if (job->array_task_id == NO_VAL) return "";
    return fmt::format("{}_{}", job->array_job_id, job->array_task_id);
}

Duration time_limit_of(const job_record_t* job, uint32_t minutes) {
    if (minutes == NO_VAL && job->part_ptr) {
        minutes = job->part_ptr->default_time;
        if (minutes == NO_VAL) minutes = job->part_ptr->max_time;
    }
    return minutes == INFINITE || minutes == NO_VAL ? kYear : minutes * 60.0;
}

Duration time_limit_of(const job_record_t* job) {
    return time_limit_of(job, job->time_limit);
}

Duration time_to_run(const job_record_t* job, time_t now) {
    Duration time = time_limit_of(job);
    if (job->time_min && job->time_min != NO_VAL) time = std::min(time, job->time_min * 60.0);
    if (job->deadline && job->deadline != NO_VAL)
        time = std::min(time, std::max(60.0, static_cast<double>(job->deadline - now)));
    return time;
}

Duration time_had(const job_record_t* job) {
    return static_cast<Duration>(job->end_time - job->start_time - job->tot_sus_time);
}

controller::TimeLimit limit_of(const job_record_t* job) {
    return {static_cast<Time>(job->end_time), job->time_limit};
}

controller::Job& sync(controller::JobTable& jobs, const job_record_t* job) {
    controller::Job& known = jobs.get(job->job_id);
    sync(job, known);
    return known;
}

void sync(const job_record_t* job, controller::Job& known) {
    known.owner = job->user_id;
    if (known.name.empty() && job->name) known.name = job->name;
    if (known.array.empty()) known.array = array_name(job);
    read_annotation(known, job);
}

}  // namespace elastic::slurm
