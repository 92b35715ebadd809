// SPDX-License-Identifier: GPL-2.0-or-later
// Whether this slurm.conf lets the scheduler do its work.
#pragma once

#include <string>
#include <vector>

namespace elastic::slurm {

// Every setting that is wrong, with its value, the reason and what to write instead.  Empty: all is
// well.  To be called where Slurm cannot be reading slurm.conf just now.
std::vector<std::string> wrong_settings();

// Settings that work but that an administrator should know the effect of.
std::vector<std::string> doubtful_settings();

}  // namespace elastic::slurm
