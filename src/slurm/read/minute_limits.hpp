// SPDX-License-Identifier: GPL-2.0-or-later
// Limits on the minutes of resources, for a running job that would have more of them: those of one
// job (MaxTRESMinsPerJob) and of all jobs of a QOS or an association (GrpTRESMins, GrpTRESRunMins).
//
// Needs ControllerLock, and no lock of assoc_mgr.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "controller/minutes.hpp"
#include "slurm/compat/compat.hpp"

namespace elastic::slurm {

// The limit that the job would come to exceed with `wanted` of each resource from now on, as
// sacctmgr's users know it.  What the job counts for must be in force (an association, a QOS).
std::optional<std::string> limit_on_minutes(const job_record_t*, const controller::NodeTime& used,
                                            const std::vector<uint64_t>& wanted);

}  // namespace elastic::slurm
