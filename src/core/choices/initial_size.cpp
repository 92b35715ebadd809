// SPDX-License-Identifier: MIT
// Initial size.  A preferred size that the job's size rule does not allow is
// replaced by the next smaller allowed one, else by the next larger.  Only
// malleable jobs start with another size than they ask for: any other keeps for
// life what it starts with.  What a job with a range asks for (`-N 2-8`) is as much
// of it as it can have without waiting.
#include <algorithm>

#include "core/choices/choices.hpp"

namespace elastic::core::choices {
namespace {

int share_of(const SystemState& state, const Annotation& elastic) {
    const int share = std::clamp(state.equal_share(), elastic.min, elastic.max);
    return elastic.sizes.largest(elastic.min, share);
}

}  // namespace

int requested_size(const PendingJob& job) {
    const Annotation& elastic = job.elastic;
    if (const int size = elastic.sizes.largest(elastic.min, elastic.pref)) return size;
    return elastic.sizes.smallest(elastic.pref, elastic.max);
}

int smallest_start(const PendingJob& job) {
    if (!job.elastic.malleable) return requested_size(job);
    return job.elastic.sizes.smallest(job.elastic.min, job.elastic.max);
}

int initial_size(const SystemState& state, const PendingJob& job) {
    if (state.policy().initial_size == InitialSize::equal_share && job.elastic.malleable)
        if (const int share = share_of(state, job.elastic)) return share;
    return requested_size(job);
}

int initial_size(const SystemState& state, const PendingJob& job, int idle) {
    const int size = initial_size(state, job);
    if (size <= idle) return job.has_range() ? std::min(job.elastic.max, idle) : size;
    if (!is_moldable(state.policy()) || !job.elastic.malleable) return 0;
    return job.elastic.sizes.largest(job.elastic.min, idle);
}

int best_initial_size(const SystemState& state, const PendingJob& job) {
    return state.policy().initial_size == InitialSize::flexible ? initial_size(state, job)
                                                                : least_initial_size(state, job);
}

int least_initial_size(const SystemState& state, const PendingJob& job) {
    switch (state.policy().initial_size) {
        case InitialSize::requested:
            return requested_size(job);
        case InitialSize::equal_share:
            // Shares change from pass to pass; what a claimed job can count on does not.
            return job.claimed ? smallest_start(job) : initial_size(state, job);
        case InitialSize::least:
        case InitialSize::available:
        case InitialSize::flexible:
            return smallest_start(job);
    }
    return 0;
}

bool is_moldable(const Policy& policy) {
    return policy.initial_size == InitialSize::available ||
           policy.initial_size == InitialSize::flexible;
}

}  // namespace elastic::core::choices
