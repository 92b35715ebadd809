// SPDX-License-Identifier: MIT
// What follows from a plan for one of its actions.
#include "controller/planned_actions.hpp"

#include "testing.hpp"

using namespace elastic;
using namespace elastic::controller;
using namespace elastic::testing;

namespace {

using core::Action;
using core::ActionKind;
using core::Plan;
using core::PoolCounts;

Action action(ActionKind kind, JobId job, PoolCounts nodes) {
    Action result;
    result.kind = kind;
    result.job = job;
    result.nodes = std::move(nodes);
    return result;
}

Action reservation(JobId job, PoolCounts nodes, Time time) {
    Action result = action(ActionKind::reserve, job, std::move(nodes));
    result.time = time;
    return result;
}

Action shrink(JobId job, PoolCounts nodes, JobId beneficiary) {
    Action result = action(ActionKind::shrink, job, std::move(nodes));
    result.beneficiary = beneficiary;
    return result;
}

}  // namespace

TEST(who_is_reserved_for_or_needs_victims_waits) {
    Action start = action(ActionKind::start, 1, {2});
    check_that(!waits(start));
    start.deferred = true;
    check_that(waits(start));
    check_that(waits(reservation(1, {2}, 100)));
    Action growth = action(ActionKind::expand, 1, {2});
    growth.deferred = true;
    check_that(!waits(growth));
}

TEST(a_jobs_start_is_found_among_all_actions) {
    const Plan plan{
        {shrink(1, {2}, 2), action(ActionKind::start, 3, {1}), action(ActionKind::start, 2, {2})}};
    check_that(start_of(plan, 2) == &plan.actions[2]);
    check_that(start_of(plan, 1) == nullptr);
}

TEST(a_hole_ends_with_the_first_reservation_of_a_pool_that_the_start_uses) {
    const Action start = action(ActionKind::start, 1, {0, 2, 1});
    check_that(end_of_hole({}, start) == kNever);
    const Plan plan{{start, reservation(2, {4, 0, 0}, 100), reservation(3, {1, 1, 0}, 300),
                     reservation(4, {0, 0, 5}, 200)}};
    check_eq(end_of_hole(plan, start), 200.0);
    check_that(end_of_hole(plan, action(ActionKind::start, 1, {0, 0, 0})) == kNever);
}

TEST(starts_and_growths_end_no_hole) {
    const Action start = action(ActionKind::start, 1, {2});
    const Plan plan{{start, action(ActionKind::start, 2, {2}), action(ActionKind::expand, 3, {2})}};
    check_that(end_of_hole(plan, start) == kNever);
}

TEST(excess_is_what_goes_beyond_in_each_pool) {
    check_that(excess({3, 1, 0}, {1, 2, 0}) == PoolCounts({2, 0, 0}));
}

TEST(victims_of_the_plan_bring_their_nodes_to_their_beneficiary_alone) {
    const Action start = action(ActionKind::start, 9, {4, 2});
    const Plan plan{{shrink(1, {1, 0}, 9), shrink(2, {2, 0}, 9), shrink(3, {1, 2}, 8),
                     action(ActionKind::expand, 9, {1, 1}), start}};
    check_that(beside_victims(plan, start) == PoolCounts({1, 2}));
}

TEST(victims_may_free_more_than_is_used) {
    const Action start = action(ActionKind::start, 9, {2, 2});
    const Plan plan{{shrink(1, {4, 0}, 9), start}};
    check_that(beside_victims(plan, start) == PoolCounts({0, 2}));
}
