// SPDX-License-Identifier: MIT
// What growing jobs come to under limits on minutes.
#include "controller/minutes.hpp"

#include <limits>

#include "testing.hpp"

using namespace elastic;
using namespace elastic::controller;

TEST(node_seconds_are_those_of_all_sizes) {
    NodeTime time;
    check_near(time.seconds(100, 2), 200, 1e-9);
    time.add(100, 2);
    check_near(time.seconds(100, 5), 200, 1e-9);
    time.add(160, 5);
    check_near(time.seconds(170, 1), 510, 1e-9);
    check_near(time.counted(), 160, 1e-9);
}

TEST(who_grows_uses_all_of_its_nodes_for_the_time_that_is_left) {
    // One node of four processors for a minute of four, then four of them.
    const GrowingRun run{.passed = 60, .left = 180, .node_seconds = 60, .nodes = 1};
    const Amount processors{.held = 4, .wanted = 16};
    check_near(minutes_in_all(run, processors), 4 + 3 * 16, 1e-9);
    check_near(minutes_by_last_size(run, processors), 4 * 16, 1e-9);
    check_near(minutes_more(run, processors), 3 * 12, 1e-9);
}

TEST(who_had_more_nodes_before_has_used_more) {
    const GrowingRun run{.passed = 600, .left = 60, .node_seconds = 9 * 8 * 60 + 60, .nodes = 1};
    const Amount nodes{.held = 1, .wanted = 2};
    check_near(minutes_in_all(run, nodes), 9 * 8 + 1 + 2, 1e-9);
    check_near(minutes_by_last_size(run, nodes), 11 * 2, 1e-9);
}

TEST(without_a_time_limit_there_is_no_end_of_minutes) {
    const GrowingRun run{.passed = 60,
                         .left = std::numeric_limits<Duration>::infinity(),
                         .node_seconds = 60,
                         .nodes = 1};
    check_that(minutes_in_all(run, {.held = 1, .wanted = 2}) > 1e300);
    check_that(minutes_more(run, {.held = 1, .wanted = 2}) > 1e300);
    check_eq(minutes_in_all(run, {}), 0.0);
    check_eq(minutes_more(run, {.held = 2, .wanted = 2}), 0.0);
}
