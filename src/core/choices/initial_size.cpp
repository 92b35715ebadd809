// SPDX-License-Identifier: MIT
// Initial size.  A preferred size that the job's size rule does not allow is
// replaced by the next smaller allowed one, else by the next larger.
#include "core/choices/choices.hpp"

namespace elastic::core::choices {

int initial_size(const Policy&, const PendingJob& job) {
    const Annotation& elastic = job.elastic;
    if (const int size = elastic.sizes.largest(elastic.min, elastic.pref)) return size;
    return elastic.sizes.smallest(elastic.pref, elastic.max);
}

int least_initial_size(const Policy& policy, const PendingJob& job) {
    if (policy.initial_size == InitialSize::requested || !job.elastic.malleable)
        return initial_size(policy, job);
    return job.elastic.sizes.smallest(job.elastic.min, job.elastic.max);
}

}  // namespace elastic::core::choices
