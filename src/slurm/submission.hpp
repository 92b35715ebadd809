// SPDX-License-Identifier: GPL-2.0-or-later
// What job_submit/elastic does with a job's request.
#pragma once

#include <string>

#include "common/result.hpp"
#include "slurm/compat/compat.hpp"

namespace elastic::slurm {

// Reads the annotation of a new job, refuses what is wrong with it, and turns it into a whole-node
// request of the preferred size with the normalised annotation in admin_comment.  Jobs without one
// are left as they are.  The error is the line that sbatch shows.
Result<void> annotate(job_desc_msg_t*);

// What the user should know of a job that is submitted nevertheless, as one line; "" for nothing.
std::string remark(const job_desc_msg_t*);

// Checks a change to a job: nothing may contradict its annotation.
Result<void> check_change(job_desc_msg_t*, job_record_t*);

}  // namespace elastic::slurm
