// SPDX-License-Identifier: MIT
// How long after a start nodes are waited for.
#include "controller/roll_call.hpp"

#include "testing.hpp"

using namespace elastic;
using namespace elastic::controller;
using namespace elastic::testing;

TEST(it_is_over_when_all_have_reported) {
    RollCall roll_call;
    roll_call.note(8, 100);
    check_that(!roll_call.is_over());
    roll_call.note(0, 100.5);
    check_that(roll_call.is_over());
}

TEST(who_goes_on_reporting_is_waited_for) {
    RollCall roll_call;
    for (int second = 0; second < 60; ++second) {
        roll_call.note(60 - second, 100 + second);
        check_that(!roll_call.is_over());
    }
}

TEST(who_never_reports_is_not_waited_for) {
    RollCall roll_call;
    roll_call.note(8, 100);
    roll_call.note(3, 102);
    roll_call.note(3, 106.9);
    check_that(!roll_call.is_over());
    roll_call.note(3, 107);
    check_that(roll_call.is_over());
}

TEST(nodes_that_are_lost_later_do_not_begin_it_anew) {
    RollCall roll_call;
    roll_call.note(0, 100);
    roll_call.note(5, 200);
    check_that(roll_call.is_over());
}
