// SPDX-License-Identifier: GPL-2.0-or-later
// The names under which spank_elastic.so and job_submit/elastic hand things to each other.
#pragma once

namespace elastic::slurm {

// In the job's SPANK environment, from the former: what --elastic says.
inline constexpr char kSpankVariable[] = "ELASTIC";
// In the environment of the batch script, from the latter: the type of a job and the program that
// initialises nodes for it.
inline constexpr char kTypeVariable[] = "ELASTIC_PACKET";
inline constexpr char kProgramVariable[] = "ELASTIC_INIT";

}  // namespace elastic::slurm
