// SPDX-License-Identifier: GPL-2.0-or-later
// job_submit/elastic: Slurm's entry points, and nothing else.
#include "common/log.hpp"
#include "slurm/log.hpp"
#include "slurm/submission.hpp"

#define EXPORT extern "C" __attribute__((visibility("default")))

EXPORT const char plugin_name[] = "Elastic annotations, built for Slurm " SLURM_VERSION_STRING;
EXPORT const char plugin_type[] = "job_submit/elastic";
EXPORT const uint32_t plugin_version = SLURM_VERSION_NUMBER;

EXPORT int init(void) {
    elastic::slurm::log_to_slurm();
    return SLURM_SUCCESS;
}
EXPORT void fini(void) {}

EXPORT int job_submit(job_desc_msg_t* job, uint32_t, char** message) try {
    auto annotated = elastic::slurm::annotate(job);
    const std::string said = annotated ? elastic::slurm::remark(job) : annotated.error().message;
    if (!said.empty()) *message = xstrdup(said.c_str());
    return annotated ? SLURM_SUCCESS : ESLURM_NOT_SUPPORTED;
} catch (const std::exception& exception) {
    elastic::log_error("job_submit: {}", exception.what());
    return SLURM_ERROR;
}

// Not every version passes a place for the message to the user: it is in the log, too.
EXPORT int job_modify(job_desc_msg_t* change, job_record_t* job, uint32_t uid, char** message) try {
    auto checked = elastic::slurm::check_change(change, job);
    if (checked) return SLURM_SUCCESS;
    elastic::log_info("refused a change by user {}: {}", uid, checked.error().message);
    if (elastic::slurm::compat::kSaysWhyNotModified)
        *message = xstrdup(checked.error().message.c_str());
    return ESLURM_NOT_SUPPORTED;
} catch (const std::exception& exception) {
    elastic::log_error("job_modify: {}", exception.what());
    return SLURM_ERROR;
}
