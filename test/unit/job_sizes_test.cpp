// SPDX-License-Identifier: MIT
// The size and the copies of a job in the snapshot.
#include "controller/job_sizes.hpp"

#include "testing.hpp"

using namespace elastic;
using namespace elastic::controller;
using namespace elastic::testing;

TEST(a_job_needs_the_nodes_that_it_asks_for_and_one_at_least) {
    check_eq(nodes_wanted({.least_nodes = 4}, 0), 4);
    check_eq(nodes_wanted({}, 0), 1);
    check_eq(nodes_wanted({}, 16), 1);
}

TEST(a_job_needs_the_nodes_that_have_its_processors) {
    check_eq(nodes_wanted({.least_nodes = 1, .processors = 33}, 16), 3);
    check_eq(nodes_wanted({.least_nodes = 1, .processors = 32}, 16), 2);
    check_eq(nodes_wanted({.least_nodes = 5, .processors = 32}, 16), 5);
    check_eq(nodes_wanted({.least_nodes = 1, .processors = 32}, 0), 1);
}

TEST(a_job_needs_no_more_nodes_than_it_allows) {
    check_eq(nodes_wanted({.least_nodes = 1, .most_nodes = 2, .processors = 64}, 16), 2);
}

TEST(tasks_of_an_array_start_within_its_limit) {
    check_eq(startable_tasks({.waiting = 8}), 8);
    check_eq(startable_tasks({.waiting = 8, .running = 5}), 8);
    check_eq(startable_tasks({.waiting = 8, .running = 1, .most_running = 4}), 3);
    check_eq(startable_tasks({.waiting = 2, .running = 1, .most_running = 4}), 2);
    check_eq(startable_tasks({.waiting = 8, .running = 4, .most_running = 4}), 1);
    check_eq(startable_tasks({.waiting = 8, .running = 6, .most_running = 4}), 1);
}

TEST(there_are_no_more_copies_than_fit_and_one_that_waits) {
    check_eq(copies_of(3, 2, 8), 3);
    check_eq(copies_of(100, 2, 8), 5);
    check_eq(copies_of(100, 9, 8), 1);
}

TEST(the_sizes_of_a_running_job_are_within_its_limits_and_around_what_it_has) {
    core::Sizing sizes;
    sizes.min = 2, sizes.pref = 6, sizes.max = 16;
    bound_sizes(sizes, 8, 4);
    check_eq(sizes.min, 2);
    check_eq(sizes.pref, 6);
    check_eq(sizes.max, 8);
    bound_sizes(sizes, 3, 4);  // it has more than is allowed now
    check_eq(sizes.max, 4);
    check_eq(sizes.pref, 4);
    bound_sizes(sizes, 1, 1);
    check_eq(sizes.min, 1);
    check_eq(sizes.pref, 1);
    check_eq(sizes.max, 1);
}
