// SPDX-License-Identifier: MIT
// What is remembered of failed searches: an instant before which nobody who wants as much can
// start, which is never too late.
#include "core/availability/start_bounds.hpp"

#include <algorithm>
#include <random>
#include <vector>

#include "testing.hpp"

using namespace elastic::core;
using elastic::Duration;
using elastic::kMaxNodes;
using elastic::kNever;
using elastic::Time;

namespace {

struct Found {
    int nodes;
    Duration duration;
    Time start;
};

Time latest_that_holds(const std::vector<Found>& all, const Found& job, Time now) {
    for (const Found& found : all)
        if (found.nodes <= job.nodes && found.duration <= job.duration)
            now = std::max(now, found.start);
    return now;
}

}  // namespace

TEST(start_bounds_know_nothing_at_first) {
    StartBounds bounds;
    bounds.reset(7);
    check_eq(bounds.before(kMaxNodes, kNever), 7.0);
    bounds.remember(1, 0, 9);
    check_eq(bounds.before(1, 0), 9.0);
    bounds.reset(8);
    check_eq(bounds.before(1, 0), 8.0);
}

TEST(start_bounds_hold_for_the_largest) {
    StartBounds bounds;
    bounds.reset(0);
    bounds.remember(kMaxNodes, 1, 5);
    check_eq(bounds.before(kMaxNodes - 1, kNever), 0.0);
    bounds.remember(1, kNever, 5);
    check_eq(bounds.before(kMaxNodes / 2, 1e17), 0.0);
}

TEST(start_bounds_are_never_too_late_and_help_who_wants_twice_as_much) {
    std::mt19937_64 random(elastic::testing::seed());
    for (int round = 0; round < 300; ++round) {
        const Time now = 1.0 * (random() % 100);
        const auto draw = [&] {
            const int nodes = 1 + static_cast<int>(random() % (1U << random() % 18));
            const Duration duration = (random() % (1ULL << random() % 28)) / 4.0;
            return Found{nodes, duration, now + static_cast<double>(random() % 1000)};
        };
        StartBounds bounds;
        bounds.reset(now);
        std::vector<Found> all;
        for (int step = 0; step < 100; ++step) {
            all.push_back(draw());
            const Found& last = all.back();
            bounds.remember(last.nodes, last.duration, last.start);
            const Found job = draw();
            check_that(bounds.before(job.nodes, job.duration) <= latest_that_holds(all, job, now));
            check_that(bounds.before(2 * last.nodes, 2 * std::max(last.duration, 1.0)) >=
                       last.start);
        }
    }
}
