// SPDX-License-Identifier: MIT
// How long a job takes by its limit, its work and what it says, and who may change its limit.
#include "controller/run_time.hpp"

#include "testing.hpp"

using namespace elastic;
using namespace elastic::controller;

namespace {

core::Annotation perfectly_scaling() {
    core::Annotation annotation;
    annotation.malleable = true;
    annotation.min = 1;
    annotation.pref = 4;
    annotation.max = 8;
    return annotation;
}

const core::Annotation kAnnotation = perfectly_scaling();
constexpr TimeLimit kTwoHours{7200, 120};

RunTime begun(int nodes = 4) {
    RunTime time;
    time.begin(0, kTwoHours, nodes, kAnnotation);
    return time;
}

}  // namespace

TEST(a_job_ends_at_its_limit) {
    const RunTime time = begun();
    check_eq(time.estimated_end(0), 7200);
    check_eq(time.extension(), 0);
}

TEST(a_job_with_half_its_nodes_needs_twice_the_time) {
    RunTime time = begun();
    time.resize(3600, 2, 10);
    check_near(time.extension(), 3600 + 7200 + 10, 1e-6);
    check_eq(time.estimated_end(3600), 7200);  // no later than its limit
    time.extended({10810, 181});
    check_near(time.estimated_end(3600), 10810, 1e-6);
    check_eq(time.extension(), 0);
}

TEST(what_was_asked_for_outlives_an_extension) {
    RunTime time = begun();
    check_eq(time.asked_minutes(), 120u);
    time.resize(3600, 2, 10);
    time.extended({10810, 181});
    check_eq(time.asked_minutes(), 120u);
    check_that(time.follow(4000, {3600, 60}, 2, kAnnotation));
    check_eq(time.asked_minutes(), 60u);
}

TEST(a_job_that_starts_small_needs_more_than_its_limit) {
    RunTime time;
    time.begin_resized(0, kTwoHours, 4, 2, kAnnotation);
    check_near(time.extension(), 14400, 1e-6);
}

TEST(a_job_that_is_put_off_keeps_its_work_and_its_will) {
    RunTime time;
    time.begin_resized(0, kTwoHours, 4, 2, kAnnotation);
    time.extended({14400, 240});
    time.put_off(0, 90, {14490, 240});
    check_eq(time.estimated_end(90), 14490);
    check_eq(time.extension(), 0);
    check_that(!time.is_law());
    check_eq(time.asked_minutes(), 120u);
    check_that(!time.follow(100, {14490, 240}, 2, kAnnotation));
}

TEST(a_job_that_has_outrun_its_work_ends_at_its_limit) {
    RunTime time = begun(4);
    time.resize(0, 8, 0);
    check_eq(time.estimated_end(100), 3600);
    check_eq(time.estimated_end(3601), 7200);  // not "now" for ever
}

TEST(what_an_application_says_counts_until_it_is_over) {
    RunTime time = begun();
    time.say_progress(100, 200);
    check_eq(time.estimated_end(100), 300);
    check_eq(time.estimated_end(301), 7200);
    time.say_progress(100, 1e6);
    check_eq(time.estimated_end(100), 7200);
    time.resize(150, 2, 0);  // it was said of another size
    time.extended({1e9, 120});
    check_that(time.estimated_end(200) < 1e6);
}

TEST(a_limit_changed_by_others_is_the_law) {
    RunTime time = begun();
    time.resize(0, 2, 0);
    time.extended({14400, 240});
    check_that(!time.follow(10, {14400, 240}, 2, kAnnotation));  // our own change
    check_that(time.follow(20, {300, 5}, 2, kAnnotation));
    check_that(time.is_law());
    check_eq(time.estimated_end(20), 300);
    time.resize(30, 1, 0);
    check_eq(time.extension(), 0);
    check_eq(time.estimated_end(30), 300);
}

TEST(a_raised_limit_gives_a_job_that_outran_its_work_time_again) {
    RunTime time = begun();
    time.resize(0, 8, 0);
    check_that(time.follow(7000, {20000, 333}, 8, kAnnotation));
    check_eq(time.estimated_end(7000), 20000);
}

TEST(a_requeued_job_has_the_limit_that_its_user_gave) {
    RunTime time = begun();
    check_eq(time.limit_of_next_run(120), 0U);
    time.resize(0, 2, 0);
    time.extended({14400, 240});
    time.extended({15000, 250});
    check_eq(time.limit_of_next_run(250), 120U);
    check_eq(time.limit_of_next_run(60), 0U);  // somebody has set another
}
