// SPDX-License-Identifier: MIT
// Resize gap: T_gap_rescale of [gupta] section V, the least time between two
// actions (start included) on one job, so that the work done in between pays for
// the resize.
#include "core/pass/choices/choices.hpp"

namespace elastic::core::choices {

Duration resize_gap(const Policy& policy, const RunningJob& job) {
    return job.elastic.gap >= 0 ? job.elastic.gap : policy.resize_gap;
}

}  // namespace elastic::core::choices
