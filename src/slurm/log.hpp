// SPDX-License-Identifier: GPL-2.0-or-later
// Slurm's log as the sink of common/log.hpp.
#pragma once

namespace elastic::slurm {

// What is logged from now on is in Slurm's log, each line with "elastic:" in front, so that one
// grep finds what this plugin decided.  For the start of a plugin.
void log_to_slurm();

}  // namespace elastic::slurm
