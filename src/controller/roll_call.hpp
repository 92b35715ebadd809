// SPDX-License-Identifier: MIT
// The time after a start of slurmctld in which nodes report one after another.  Nobody is asked to
// resize, or starts smaller, by what a plan makes of the first few of them.
#pragma once

#include <limits>

#include "core/model/types.hpp"

namespace elastic::controller {

class RollCall {
  public:
    // So many nodes have not reported yet.
    void note(int missing, Time now);

    // All have reported, or none has for so long that the others may be down.  It stays over.
    bool is_over() const { return is_over_; }

  private:
    bool is_over_ = false;
    int missing_ = std::numeric_limits<int>::max();  // at the latest report
    Time latest_ = 0;
};

}  // namespace elastic::controller
