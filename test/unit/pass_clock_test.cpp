// SPDX-License-Identifier: MIT
// When a pass is due, on a clock of the test's own.
#include "controller/pass_clock.hpp"

#include "testing.hpp"

using namespace std::chrono_literals;
using elastic::controller::PassClock;

namespace {

constexpr double kInterval = 0.5;
constexpr std::time_t kSecond = 1000;  // in which the pass of these tests begins
constexpr std::time_t kBefore = kSecond - 1, kNever = 0;

const PassClock::Clock::time_point start{1h};

// One pass, so short that its ration does not matter.
PassClock after_a_pass() {
    PassClock passes;
    passes.begin(start, kSecond);
    passes.end(start + 1ms);
    return passes;
}

}  // namespace

TEST(the_first_pass_is_due_at_once) {
    const PassClock passes;
    check_that(passes.is_due(start, kInterval, kNever));
    check_that(passes.next_urgent() <= start);
}

TEST(after_a_change_a_pass_is_due_when_the_interval_is_over) {
    const PassClock passes = after_a_pass();
    check_that(!passes.is_due(start + 500ms, kInterval, kSecond + 1));
    check_that(passes.is_due(start + 501ms, kInterval, kSecond + 1));
}

TEST(a_change_in_the_second_of_the_last_pass_is_new) {
    const PassClock passes = after_a_pass();
    check_that(passes.is_due(start + 600ms, kInterval, kSecond));
    check_that(!passes.is_due(start + 600ms, kInterval, kBefore));
}

TEST(without_a_change_a_pass_is_due_every_two_seconds) {
    const PassClock passes = after_a_pass();
    check_that(!passes.is_due(start + 2000ms, kInterval, kBefore));
    check_that(passes.is_due(start + 2001ms, kInterval, kBefore));
    check_that(!passes.is_due(start + 2001ms, 60, kBefore));
}

TEST(who_waits_does_not_wait_for_the_interval) {
    PassClock passes = after_a_pass();
    check_that(passes.next_urgent() == PassClock::Clock::time_point::max());
    passes.hurry();
    check_that(passes.next_urgent() <= start + 1ms);
    check_that(passes.is_due(start + 1ms, kInterval, kBefore));
    passes.begin(start + 1ms, kSecond);
    check_that(passes.next_urgent() == PassClock::Clock::time_point::max());
    check_that(!passes.is_due(start + 1ms, kInterval, kBefore));
}

TEST(who_begins_to_wait_in_a_pass_gets_one_of_its_own) {
    PassClock passes;
    passes.begin(start, kSecond);
    passes.hurry();
    passes.end(start + 1ms);
    check_that(passes.is_due(start + 1ms, kInterval, kBefore));
}

TEST(nobody_gets_a_pass_beyond_the_ration) {
    PassClock passes;
    passes.begin(start, kSecond);
    passes.end(start + 1s);
    passes.hurry();
    const auto allowed = passes.next_urgent();
    check_that(allowed > start + 2s && allowed <= start + 3s);
    check_that(!passes.is_due(allowed - 1ms, 0, kSecond));
    check_that(passes.is_due(allowed, 0, kSecond));
}
