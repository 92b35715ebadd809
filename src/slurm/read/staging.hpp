// SPDX-License-Identifier: GPL-2.0-or-later
// How far the data of a waiting job are in its burst buffer.
//
// All functions need ControllerLock.
#pragma once

#include "slurm/compat/compat.hpp"

namespace elastic::slurm {

enum class Staging {
    done,       // or there is nothing to stage in
    under_way,  // it will start soon, so its nodes are kept
    not_begun,  // it begins when a start is expected of the job, and there is room in the buffer
};

// Slurm's reason of the job follows.
Staging staging_of(job_record_t*);

// Has Slurm begin to stage in for jobs that are expected to start in the next hours, the first of
// them first.
void begin_staging();

}  // namespace elastic::slurm
