// SPDX-License-Identifier: MIT
// Resize gap: T_gap_rescale of [gupta] section V, the least time between two
// actions (start included) on one job, so that the work done in between pays for
// the resize.
#include "core/choices/choices.hpp"

namespace elastic::core::choices {

bool resize_gap_is_over(const Policy& policy, const RunningJob& job, Time now) {
    const Duration gap = job.elastic.gap >= 0 ? job.elastic.gap : policy.resize_gap;
    return job.last_resize + gap <= now;
}

}  // namespace elastic::core::choices
