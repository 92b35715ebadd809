// SPDX-License-Identifier: GPL-2.0-or-later
// Slurm's own state files, which have to be as new as what applications have been told.
#pragma once

#include "common/result.hpp"

namespace elastic::slurm {

// Asks Slurm to write its job and node records soon.  It packs all of them for that, under its
// locks.
void save_state();

// Writes them now, the job records at least: by itself Slurm does so up to five seconds later, but
// an application must not be told of nodes that a crash takes away again.  Takes locks of its own.
//
// Not in a backup controller that is in control: before Slurm writes, it looks whether the file is
// the one that it wrote last, and by a file that another thread is just putting there it would take
// itself for a second controller and end.  There Slurm writes when it does so by itself.
Result<void> save_jobs_now();

}  // namespace elastic::slurm
