// SPDX-License-Identifier: MIT
// How often somebody may do a thing: some times at once, and from then on at a steady rate.
//
// Kept as the one moment at which the bucket is full again, so that nothing has to be done as time
// passes.  A clock that is set back makes nobody wait longer than `burst` tokens take.
#pragma once

#include <algorithm>

#include "common/time.hpp"

namespace elastic {

class TokenBucket {
  public:
    // `every` seconds a token comes back.
    TokenBucket(int burst, Duration every) : all_(burst * every), every_(every) {}

    void take(Time now) { full_at_ = std::max(now, full_at_) + every_; }

    // Seconds until there is a token, 0 if there is one.
    Duration wait(Time now) {
        full_at_ = std::min(full_at_, now + all_);
        return std::max(0.0, full_at_ - now - (all_ - every_));
    }

  private:
    Duration all_, every_;
    Time full_at_ = 0;
};

}  // namespace elastic
