// SPDX-License-Identifier: MIT
// Victim order: the candidate selection techniques of [lina] section 4.  Ties
// are broken by job id, so that the order is the same everywhere.
#include <tuple>

#include "core/choices/choices.hpp"

namespace elastic::core::choices {
namespace {

// "Shrinkable resources, sr": most nodes above the minimum first, then the largest.
auto by_shrinkable(const RunningJob& job) {
    const int size = total(job.held);
    return std::tuple(-(size - job.elastic.min), -size, job.id);
}

// "Gain, g": most nodes added by expansions less taken by shrinks first.
auto by_gain(const RunningJob& job) {
    return std::tuple(-job.gain, job.id);
}

}  // namespace

bool is_better_victim(const Policy& policy, const RunningJob& a, const RunningJob& b) {
    switch (policy.victim_order) {
        case VictimOrder::shrinkable:
            return by_shrinkable(a) < by_shrinkable(b);
        case VictimOrder::gain:
            return by_gain(a) < by_gain(b);
    }
    return a.id < b.id;
}

}  // namespace elastic::core::choices
