// SPDX-License-Identifier: MIT
// How many connections there may be, and who goes where there are too many.
#include "controller/admission.hpp"

#include "testing.hpp"

using namespace elastic;
using namespace elastic::controller;

namespace {

constexpr uid_t kUser = 1000;

}  // namespace

TEST(strangers_and_users_count_alike_for_what_there_may_be_in_all) {
    Admission admission(2, 2);
    admission.add_stranger(1);
    check_that(admission.introduce(1, kUser));
    check_eq(admission.count(), 1);
    admission.add_stranger(2);
    check_that(admission.is_full());
    admission.remove_stranger(2);
    check_that(!admission.is_full());
    admission.remove_one_of(kUser);
    check_eq(admission.count(), 0);
}

TEST(a_user_has_no_more_than_the_limit_and_leaves_others_theirs) {
    Admission admission(10, 1);
    for (ConnectionId id = 1; id <= 3; ++id) admission.add_stranger(id);
    check_that(admission.introduce(1, kUser));
    check_that(!admission.introduce(2, kUser));
    check_eq(admission.count_of(kUser), 1);
    check_that(admission.introduce(3, kUser + 1));
    check_eq(admission.count(), 3);  // the second is still a stranger
    admission.remove_one_of(kUser);
    check_eq(admission.count_of(kUser), 0);
    check_that(admission.introduce(2, kUser));
}

TEST(the_oldest_stranger_makes_room) {
    Admission admission(1000, 1000);
    for (ConnectionId id = 1; id < kMaxStrangers; ++id) admission.add_stranger(id);
    check_that(!admission.one_stranger_too_many());
    admission.add_stranger(kMaxStrangers);
    check_eq(*admission.one_stranger_too_many(), ConnectionId{1});
    check_that(admission.introduce(1, kUser));
    check_that(!admission.one_stranger_too_many());
    admission.add_stranger(kMaxStrangers + 1);
    check_eq(*admission.one_stranger_too_many(), ConnectionId{2});
}

TEST(limits_that_are_lowered_take_no_connection_away) {
    Admission admission(10, 10);
    for (ConnectionId id = 1; id <= 2; ++id) {
        admission.add_stranger(id);
        check_that(admission.introduce(id, kUser));
    }
    admission.set_limits(1, 1);
    check_eq(admission.count(), 2);
    check_that(admission.is_full());
    admission.add_stranger(3);
    check_that(!admission.introduce(3, kUser));
}
