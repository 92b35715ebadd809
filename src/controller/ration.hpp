// SPDX-License-Identifier: MIT
// How often costly work may be done: each piece has to be followed by twice its length without one,
// so that it never takes more than a third of a processor.  A quiet time is kept as credit, up to
// kCredit: one who asks is not made to wait because there was a piece of work just before.
#pragma once

#include <algorithm>
#include <chrono>

namespace elastic::controller {

class Ration {
  public:
    using Clock = std::chrono::steady_clock;

    static constexpr Clock::duration kCredit = std::chrono::milliseconds(300);

    // Work that is no longer than `free` is not rationed.
    explicit Ration(Clock::duration free = Clock::duration::zero()) : free_(free) {}

    // When the work may be done again.
    Clock::time_point allowed() const { return allowed_; }

    // Work has been done from `begin` to `end`.
    void spend(Clock::time_point begin, Clock::time_point end) {
        if (end - begin > free_) allowed_ = std::max(allowed_, begin - kCredit) + 3 * (end - begin);
    }

  private:
    Clock::duration free_;
    Clock::time_point allowed_{};
};

}  // namespace elastic::controller
