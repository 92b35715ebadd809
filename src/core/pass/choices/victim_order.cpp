// SPDX-License-Identifier: MIT
// Victim order: the candidate selection techniques of [lina] section 4; [mebf]'s, which shrinks
// first what loses least by it, and those of [wagomu] and [sd].
#include "core/pass/choices/choices.hpp"

namespace elastic::core::choices {

Rank victim_rank(const Policy& policy, const JobTimes& times, const RunningJob& job, Rng& rng) {
    const int size = total(job.held);
    switch (policy.victim_order) {
        case VictimOrder::random:
            return {static_cast<double>(rng() >> 11), 0};
        case VictimOrder::gain:
            return {-job.gain, 0};
        case VictimOrder::shrinkable:
            return {-(size - job.elastic.min), -size};
        case VictimOrder::expansions:
            return {-job.expansions, 0};
        case VictimOrder::adaptation_cost:
            // How far it will be shrunk is not known yet: its cost down to the minimum.
            return {job.elastic.cost.seconds(size, job.elastic.min), 0};
        case VictimOrder::remaining_time:
            return {times.end_of(job), 0};
        case VictimOrder::scalability:
            return {scalability(job), 0};
        case VictimOrder::above_preferred:
            return {-(size - job.elastic.pref), 0};
        case VictimOrder::use:
            return {-range_use(job), 0};
        case VictimOrder::slowdown:
            return {added_slowdown(times, job, job.elastic.min), 0};
    }
    return {0, 0};
}

double scalability(const RunningJob& job) {
    const int size = total(job.held);
    return job.elastic.speedup.relative_time(size, job.elastic.pref) /
           job.elastic.speedup.relative_time(2 * size, job.elastic.pref);
}

double range_use(const RunningJob& job) {
    const int range = job.elastic.max - job.elastic.min;
    return range > 0 ? static_cast<double>(total(job.held) - job.elastic.min) / range : 1;
}

}  // namespace elastic::core::choices
