// SPDX-License-Identifier: MIT
// How long a job may run that starts before a deadline, or in a hole.
#include "controller/starting_limit.hpp"

#include "testing.hpp"

using namespace elastic;
using namespace elastic::controller;
using namespace elastic::testing;

namespace {

constexpr std::time_t kNow = 100000;

}  // namespace

TEST(a_job_that_nothing_bounds_has_its_own_limit) {
    check_eq(StartingLimit({.own = 60}).minutes(kNow), 60u);
    check_eq(StartingLimit({.own = 60, .least = 10}).minutes(kNow), 60u);
}

TEST(a_deadline_bounds_the_limit) {
    check_eq(StartingLimit({.own = 60, .deadline = kNow + 1859}).minutes(kNow), 30u);
    check_eq(StartingLimit({.own = 60, .deadline = kNow + 7200}).minutes(kNow), 60u);
    check_eq(StartingLimit({.own = 60, .deadline = kNow - 1}).minutes(kNow), 60u);
}

TEST(a_hole_bounds_only_a_job_with_a_least_time_and_never_below_that) {
    check_eq(StartingLimit({.own = 60, .hole_ends = kNow + 1800}).minutes(kNow), 60u);
    check_eq(StartingLimit({.own = 60, .least = 10, .hole_ends = kNow + 1800}).minutes(kNow), 30u);
    check_eq(StartingLimit({.own = 60, .least = 40, .hole_ends = kNow + 1800}).minutes(kNow), 40u);
    check_eq(StartingLimit({.own = 60, .least = 90, .hole_ends = kNow + 1800}).minutes(kNow), 60u);
    check_eq(StartingLimit({.own = 60, .least = 10, .hole_ends = kNow + 7200}).minutes(kNow), 60u);
    check_eq(StartingLimit({.own = 60, .least = 10, .hole_ends = kNow - 1}).minutes(kNow), 60u);
}

TEST(of_a_hole_and_a_deadline_the_first_counts) {
    const StartingLimit job{
        .own = 60, .least = 10, .deadline = kNow + 600, .hole_ends = kNow + 1800};
    check_eq(job.minutes(kNow), 10u);
}
