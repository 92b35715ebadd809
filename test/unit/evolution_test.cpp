// SPDX-License-Identifier: MIT
// The clock of an evolution profile.
#include "core/model/evolution.hpp"

#include "testing.hpp"

using namespace elastic;
using namespace elastic::core;

namespace {

Sizing sizing(int min, int max) {
    Sizing sizing;
    sizing.evolving = true;
    sizing.min = sizing.pref = min;
    sizing.max = max;
    return sizing;
}

const Sizing kSizing = sizing(1, 16);

Evolution begun(Time now, EvolutionProfile profile) {
    Evolution evolution;
    evolution.begin(now, profile);
    return evolution;
}

}  // namespace

TEST(steps_begin_one_after_the_other) {
    Evolution e = begun(100, {{5, 50}, {3, 30}, {1, 10}});
    check_eq(e.number(), 1);
    check_eq(e.next_at(), 150.0);
    check_that(!e.follow(149, 5));
    check_that(e.follow(150, 5));
    check_eq(e.number(), 2);
    check_that(e.has_excess(5) && !e.has_excess(3));
    check_eq(e.next_at(), 180.0);
    check_that(e.follow(200, 3));  // looked at late
    check_eq(e.number(), 3);
    check_eq(e.next_at(), kNever);
}

TEST(a_step_without_its_nodes_waits_and_so_do_all_later_ones) {
    Evolution e = begun(100, {{2, 50}, {5, 30}, {8, 10}});
    check_that(e.follow(150, 2));
    check_that(e.waits());
    check_eq(e.wanted(), 5);
    check_eq(e.next_at(), kNever);
    check_that(!e.follow(170, 4));
    check_eq(e.waited(170), 20.0);
    check_that(e.follow(175, 5));
    check_that(!e.waits());
    check_eq(e.waited(190), 25.0);
    check_eq(e.next_at(), 205.0);
}

TEST(what_remains_is_what_the_job_needs_from_now_on) {
    Evolution e = begun(100, {{2, 50}, {5, 30}, {8, 10}});
    check_that((e.remaining(120, 2, kSizing) == EvolutionProfile{{2, 30}, {5, 30}, {8, 10}}));
    e.follow(155, 2);
    check_that((e.remaining(160, 2, kSizing) == EvolutionProfile{{5, 30}, {8, 10}}));
    check_that((e.remaining(160, 2, sizing(1, 4)) == EvolutionProfile{{4, 30}, {4, 10}}));
    e.follow(160, 5);
    check_that((e.remaining(170, 3, kSizing) == EvolutionProfile{{3, 20}, {8, 10}}));  // lost two
}

TEST(an_application_says_when_its_next_step_begins) {
    Evolution e = begun(100, {{2, 50}, {5, 30}, {8, 10}});
    check_ok(e.correct(120, 100, 0, 2, 1, kSizing));
    check_eq(e.next_at(), 220.0);
    check_eq(e.next_nodes(), 5);
    check_ok(e.correct(130, 0, 6, 2, 2, kSizing));
    check_that(e.follow(130, 2));
    check_eq(e.wanted(), 6);
    check_ok(e.correct(131, 0, 4, 2, 3, kSizing));  // it waits: for fewer
    check_that(e.follow(131, 4));
    check_eq(e.number(), 2);
    check_eq(e.next_at(), 161.0);
}

TEST(the_same_word_counts_once) {
    Evolution e = begun(100, {{2, 50}, {2, 30}, {2, 10}});
    check_ok(e.correct(120, 0, 0, 2, 7, kSizing));
    e.follow(120, 2);
    check_ok(e.correct(121, 0, 0, 2, 7, kSizing));
    e.follow(121, 2);
    check_eq(e.number(), 2);
}

TEST(what_cannot_be_is_refused) {
    Evolution e = begun(100, {{2, 50}});
    check_error(e.correct(120, 0, 0, 2, 1, kSizing),
                "the profile has no step after this one; say with how many nodes it begins");
    check_error(e.correct(120, 0, 17, 2, 1, kSizing),
                "a step of 17 nodes is not possible (min=1, max=16, sizes=any)");
    check_ok(e.correct(120, 0, 4, 2, 2, kSizing));
    e.follow(120, 2);
    check_error(e.correct(121, 0, 0, 2, 3, kSizing),
                "the step before has not begun: 4 nodes are waited for");
}

TEST(a_job_without_a_profile_says_its_next_step) {
    Evolution e;
    check_that(!e.exists() && !e.follow(100, 3));
    check_ok(e.correct(100, 60, 8, 3, 1, kSizing));
    check_eq(e.wanted(), 3);
    check_eq(e.next_at(), 160.0);
    check_that(e.follow(160, 3));
    check_eq(e.wanted(), 8);
}

TEST(a_profile_stands_still_while_its_job_is_suspended) {
    Evolution e = begun(100, {{2, 50}, {5, 30}, {8, 10}});
    e.suspend(120);
    e.resume(1000);
    check_eq(e.next_at(), 1030.0);
    e.follow(1030, 2);
    e.suspend(1040);
    e.resume(2000);
    check_that(e.waits());
    check_eq(e.waited(2005), 15.0);
}

TEST(who_does_not_want_the_nodes_of_a_step_any_more_goes_on) {
    Evolution e = begun(100, {{2, 50}, {5, 30}, {8, 10}});
    e.follow(150, 2);
    e.settle_for(2);
    check_that(e.follow(160, 2));
    check_eq(e.next_at(), 190.0);
}
