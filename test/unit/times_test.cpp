// SPDX-License-Identifier: MIT
// Statistics of how long something took: sums of all, quantiles of the last ones.
#include "controller/times.hpp"

#include "testing.hpp"

using elastic::controller::Stopwatch;
using elastic::controller::Times;

TEST(times_of_nothing_are_zero) {
    Times times;
    check_eq(times.quantile(0.5), 0.0);
    check_eq(times.count, 0u);
}

TEST(times_keep_sums_of_all) {
    Times times;
    for (double seconds : {3.0, 1.0, 2.0}) times.add(seconds);
    check_eq(times.last, 2.0);
    check_eq(times.longest, 3.0);
    check_eq(times.sum, 6.0);
    check_eq(times.count, 3u);
    check_eq(times.quantile(0), 1.0);
    check_eq(times.quantile(0.5), 2.0);
    check_eq(times.quantile(1), 3.0);
}

TEST(times_have_quantiles_of_the_recent_ones) {
    Times times;
    times.add(1000);
    for (std::size_t i = 0; i < times.recent.size(); ++i) times.add(1);
    check_eq(times.longest, 1000.0);
    check_eq(times.quantile(1), 1.0);
}

TEST(stopwatch_adds_its_life_time) {
    Times times;
    { Stopwatch watch(times); }
    check_eq(times.count, 1u);
    check_that(times.last >= 0);
}
