// SPDX-License-Identifier: GPL-2.0-or-later
// What Slurm counts of a node's jobs that share with nobody.
#pragma once

namespace elastic::slurm {

// Takes jobs that are gone out of the nodes' counts, so that others may use the nodes.  Takes
// ControllerLock.
void mend_exclusive_counts();

}  // namespace elastic::slurm
