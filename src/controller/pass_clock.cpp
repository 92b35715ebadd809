// SPDX-License-Identifier: MIT
// Slurm's marks of change have a resolution of one second, so a change in the second in which a
// pass began may have come before or after it, and counts as new until a pass has begun later.
//
// Always holds: a pass that is due once stays due until it begins.
#include "controller/pass_clock.hpp"

namespace elastic::controller {

namespace {

constexpr auto kIdlePass = std::chrono::seconds(2);  // time passes, estimates run out

}  // namespace

bool PassClock::is_due(Clock::time_point now, Duration interval, std::time_t changed) const {
    if (now < ration_.allowed()) return false;
    if (urgent_) return true;
    if (now - ended_ < std::chrono::duration<double>(interval)) return false;
    return changed >= seen_until_ || now - ended_ >= kIdlePass;
}

void PassClock::begin(Clock::time_point now, std::time_t second) {
    begun_ = now;
    seen_until_ = second;
    urgent_ = false;
}

void PassClock::end(Clock::time_point now) {
    ended_ = now;
    ration_.spend(begun_, now);
}

}  // namespace elastic::controller
