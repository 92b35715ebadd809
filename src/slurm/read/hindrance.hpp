// SPDX-License-Identifier: GPL-2.0-or-later
// What keeps a pending job from starting whatever nodes are idle.
#pragma once

#include "slurm/compat/compat.hpp"

namespace elastic::slurm {

// What keeps the job from starting now wherever there is room, null if nothing does.  Slurm sets
// its reason for squeue.  Needs ControllerLock.
const char* why_not_now(job_record_t*);

}  // namespace elastic::slurm
