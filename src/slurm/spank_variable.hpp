// SPDX-License-Identifier: GPL-2.0-or-later
// The name under which spank_elastic.so hands --elastic to job_submit/elastic.
#pragma once

namespace elastic::slurm {

inline constexpr char kSpankVariable[] = "ELASTIC";

}  // namespace elastic::slurm
