// SPDX-License-Identifier: MIT
// Waiting for other threads; one that is not woken hangs, and the test program ends it.
#include "controller/wakeup.hpp"

#include <atomic>
#include <thread>

#include "testing.hpp"

using namespace std::chrono_literals;
using elastic::controller::Wakeup;

namespace {

using Clock = std::chrono::steady_clock;

Clock::time_point never() {
    return Clock::now() + 1h;
}

}  // namespace

TEST(who_was_notified_before_does_not_wait) {
    Wakeup wakeup;
    wakeup.notify();
    wakeup.wait_until(never());
}

TEST(notifications_before_a_wait_are_one) {
    Wakeup wakeup;
    wakeup.notify();
    wakeup.notify();
    wakeup.wait_until(never());
    const auto time = Clock::now() + 20ms;
    wakeup.wait_until(time);
    check_that(Clock::now() >= time);
}

TEST(a_time_that_is_over_is_not_waited_for) {
    Wakeup wakeup;
    wakeup.wait_until(Clock::time_point::min());
    wakeup.wait_until(Clock::now() - 1s);
}

TEST(what_another_thread_leaves_is_found) {
    constexpr int kMany = 1000;
    Wakeup wakeup;
    std::atomic<int> left = 0;
    std::thread other([&] {
        for (int i = 0; i < kMany; ++i) {
            ++left;
            wakeup.notify();
        }
    });
    for (int found = left.exchange(0); found < kMany; found += left.exchange(0))
        wakeup.wait_until(never());
    other.join();
}
