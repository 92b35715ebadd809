// SPDX-License-Identifier: MIT
#include "core/profile.hpp"

#include "testing.hpp"

using namespace elastic;
using namespace elastic::core;

namespace {

Profile make(int idle, std::initializer_list<std::pair<Time, int>> releases) {
    Profile profile;
    profile.begin(100, 1);
    profile.release(100, 0, idle);
    for (auto [at, nodes] : releases) profile.release(at, 0, nodes);
    return profile;
}

}  // namespace

TEST(nodes_are_free_from_their_release_on) {
    Profile profile = make(2, {{110, 3}, {120, 4}});
    check_eq(profile.free_now(0), 2);
    check_eq(profile.free_between(0, 110, 115), 5);
    check_eq(profile.free_between(0, 109, 200), 2);
    check_eq(profile.free_between(0, 120, kNever), 9);
}

TEST(the_least_until_an_end_excludes_the_end_itself) {
    Profile profile = make(4, {{110, 3}});
    profile.take(110, 120, {6});
    check_eq(profile.free_until(0, 110), 4);
    check_eq(profile.free_until(0, 110.5), 1);
    check_eq(profile.free_until(0, kNever), 1);
    check_eq(profile.free_between(0, 120, kNever), 7);
}

TEST(earliest_needs_the_nodes_for_the_whole_duration) {
    Profile profile = make(4, {{110, 3}});
    profile.take(110, 120, {6});
    PoolCounts counts(1, 0);
    check_eq(*profile.earliest({0}, 4, 10, counts), 100.0);
    check_eq(*profile.earliest({0}, 4, 11, counts), 120.0);
    check_eq(counts[0], 4);
    check_that(!profile.earliest({0}, 8, 1, counts));
}

TEST(what_is_taken_and_given_back_leaves_no_trace) {
    Profile profile = make(4, {{110, 3}});
    PoolCounts counts(1, 0);
    check_eq(*profile.earliest({0}, 7, 1, counts), 110.0);
    profile.take(100, 130, {2});
    profile.take(105, kNever, {1});
    check_eq(profile.free_now(0), 2);
    profile.give_back(105, kNever, {1});
    profile.give_back(100, 130, {2});
    check_eq(profile.free_until(0, kNever), 4);
    check_eq(*profile.earliest({0}, 7, kNever, counts), 110.0);
}

TEST(a_release_can_be_moved_both_ways_before_and_after_building) {
    for (bool built : {false, true}) {
        Profile profile = make(1, {{110, 3}});
        if (built) check_eq(profile.free_between(0, 100, 101), 1);
        profile.move_release(110, 130, {2});
        check_eq(profile.free_between(0, 110, 130), 2);
        profile.move_release(130, 105, {2});
        check_eq(profile.free_between(0, 105, 110), 3);
        check_eq(profile.free_between(0, 110, 111), 4);
    }
}

TEST(several_pools_make_up_a_job_together) {
    Profile profile;
    profile.begin(0, 3);
    for (PoolId pool = 0; pool < 3; ++pool) profile.release(10.0 * pool, pool, 2);
    PoolCounts counts(3, 0);
    check_eq(*profile.earliest({2, 0}, 3, 5, counts), 20.0);
    check_that(counts == PoolCounts({1, 0, 2}));
    check_eq(*profile.earliest({0, 1}, 3, 5, counts), 10.0);
}

TEST(the_next_instant_is_later_than_now_at_any_time) {
    for (Time now : {0.0, 1.0, 1.7e9, -5.0}) {
        Profile profile;
        profile.begin(now, 1);
        check_that(profile.soon() > now);
    }
}
