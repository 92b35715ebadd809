// SPDX-License-Identifier: MIT
// Where there is no bound nothing is counted, since the queue may be long.
#include "controller/queue_depth.hpp"

#include <algorithm>
#include <array>

namespace elastic::controller {

int QueueDepth::admit(const Candidate& candidate, int jobs) {
    if (parameters_.most_tested && tested_ >= parameters_.most_tested) return 0;
    struct Bound {
        int most;
        int* counted;
    };
    const auto bound = [](int most, auto& counts, const auto& key) {
        return Bound{most, most ? &counts[key] : nullptr};
    };
    const std::array bounds{
        bound(parameters_.most_of_user, of_, std::pair(Of::user, candidate.user)),
        bound(parameters_.most_of_association, of_,
              std::pair(Of::association, candidate.association)),
        bound(parameters_.most_in_partition, of_, std::pair(Of::partition, candidate.partition)),
        bound(parameters_.most_of_user_in_partition, of_user_in_partition_,
              std::pair(candidate.user, candidate.partition))};
    for (const Bound& one : bounds)
        if (one.counted) jobs = std::min(jobs, std::max(one.most - *one.counted, 0));
    if (jobs < 1) return 0;
    for (const Bound& one : bounds)
        if (one.counted) *one.counted += jobs;
    ++tested_;
    return jobs;
}

}  // namespace elastic::controller
