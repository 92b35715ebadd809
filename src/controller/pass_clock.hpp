// SPDX-License-Identifier: MIT
// When a planning pass is due: at once for an application or user who waits, else when something
// has changed, and no more often than the configuration and the ration allow.
#pragma once

#include <ctime>

#include "common/time.hpp"
#include "controller/ration.hpp"

namespace elastic::controller {

class PassClock {
  public:
    using Clock = Ration::Clock;

    // Somebody waits for a pass.
    void hurry() { urgent_ = true; }

    // When a pass may begin for somebody who waits; never if nobody does.
    Clock::time_point next_urgent() const {
        return urgent_ ? ration_.allowed() : Clock::time_point::max();
    }

    // `interval`, in seconds, is between two passes for which nobody waits; `changed` is the latest
    // second in which anything has changed that a pass looks at.
    bool is_due(Clock::time_point now, Duration interval, std::time_t changed) const;

    // A pass sees the changes before `second`, and perhaps some of that second.
    void begin(Clock::time_point now, std::time_t second);
    void end(Clock::time_point now);

  private:
    Ration ration_;
    bool urgent_ = true;  // the first pass waits for nothing
    Clock::time_point begun_{}, ended_{};
    std::time_t seen_until_ = 0;
};

}  // namespace elastic::controller
