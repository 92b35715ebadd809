// SPDX-License-Identifier: MIT
// How much work is followed by how much rest, on a clock of the test's own.
#include "controller/ration.hpp"

#include "testing.hpp"

using namespace std::chrono_literals;
using elastic::controller::Ration;

namespace {

const Ration::Clock::time_point start{1h};

}  // namespace

TEST(the_first_work_is_allowed_at_once) {
    check_that(Ration().allowed() <= start);
}

TEST(work_is_followed_by_twice_its_length_without_any) {
    Ration ration;
    ration.spend(start, start + 500ms);
    check_that(ration.allowed() == start + 1500ms - Ration::kCredit);
    ration.spend(ration.allowed(), ration.allowed() + 500ms);
    check_that(ration.allowed() == start + 3000ms - Ration::kCredit);
}

TEST(a_quiet_time_is_credit_but_not_more_than_so_much) {
    Ration ration;
    auto now = start;
    for (int i = 0; i < 3; ++i, now += 50ms) {  // 100 ms a piece beyond its own time
        check_that(ration.allowed() <= now);
        ration.spend(now, now + 50ms);
    }
    check_that(ration.allowed() == start + 150ms);
    ration.spend(start + 1h, start + 1h + 200ms);
    check_that(ration.allowed() == start + 1h + 600ms - Ration::kCredit);
}

TEST(work_that_is_free_is_not_rationed) {
    Ration ration(10ms);
    for (int i = 0; i < 1000; ++i) ration.spend(start, start + 10ms);
    check_that(ration.allowed() <= start);
    ration.spend(start, start + 200ms);
    check_that(ration.allowed() > start + 200ms);
}
