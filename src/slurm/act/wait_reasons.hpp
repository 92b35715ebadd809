// SPDX-License-Identifier: GPL-2.0-or-later
// What squeue shows of a pending job as the reason for which it waits.
#pragma once

#include "slurm/read/view.hpp"

namespace elastic::slurm {

// Locks, and gives the jobs of the view the reasons of Slurm's own schedulers: the first waits for
// resources, those behind it by their priority; who requires nodes that are down waits for these.
void explain_waiting(const View&);

}  // namespace elastic::slurm
