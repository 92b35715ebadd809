// SPDX-License-Identifier: MIT
// Who can be asked to shrink in place of being preempted.
#pragma once

#include <unordered_set>

#include "controller/state.hpp"
#include "core/model/config.hpp"

namespace elastic::controller {

// Running jobs that may be asked now, and those with an agreement in flight, which may have more to
// give when that is over.
std::unordered_set<JobId> askable_jobs(const State&, const core::Config&, Time now);

}  // namespace elastic::controller
