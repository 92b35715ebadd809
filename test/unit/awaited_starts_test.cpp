// SPDX-License-Identifier: MIT
// For how long a start is awaited that another scheduler is to make.
#include "controller/awaited_starts.hpp"

#include "testing.hpp"

using namespace elastic;
using namespace elastic::controller;
using namespace elastic::testing;

namespace {

constexpr JobId kJob = 7, kOther = 8;
constexpr Duration kPatience = 60;

// Whether a plan that has the job start finds it overdue.
bool overdue_in_plan(AwaitedStarts& starts, JobId job, Time now) {
    starts.begin_look();
    const bool overdue = starts.is_overdue(job, now, kPatience);
    starts.end_look();
    return overdue;
}

}  // namespace

TEST(a_start_is_awaited_from_the_first_plan_on) {
    AwaitedStarts starts;
    check_that(!overdue_in_plan(starts, kJob, 100));
    check_that(!overdue_in_plan(starts, kJob, 159));
    check_that(overdue_in_plan(starts, kJob, 160));
}

TEST(a_plan_without_it_begins_anew) {
    AwaitedStarts starts;
    check_that(!overdue_in_plan(starts, kJob, 100));
    check_that(!overdue_in_plan(starts, kOther, 130));
    check_that(!overdue_in_plan(starts, kJob, 170));
    check_that(overdue_in_plan(starts, kJob, 230));
}
