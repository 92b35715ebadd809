// SPDX-License-Identifier: MIT
// Something that is tried again and again may fail for a long time: the log says so at the first
// failure, and when it works again.
#pragma once

#include "common/result.hpp"

namespace elastic::controller {

class Outage {
  public:
    // For people: what follows from a failure, and that it is over.
    Outage(const char* consequence, const char* end) : consequence_(consequence), end_(end) {}

    // How the last try went.
    void report(const Result<void>&);

  private:
    const char* consequence_;
    const char* end_;
    bool lasts_ = false;
};

}  // namespace elastic::controller
