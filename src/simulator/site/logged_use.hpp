// SPDX-License-Identifier: MIT
// How much was in use when, by the log's own start and end times.
#pragma once

#include <cstdint>
#include <vector>

#include "common/time.hpp"

namespace elastic::simulator {

class LoggedUse {
  public:
    struct Use {
        double nodes = 0;  // a part of one where jobs share it
        std::int64_t jobs = 0;
    };

    // A job had so many nodes; or nodes were, each of them as if by a job of its own, something
    // else.
    void add(Time from, Time to, double nodes);
    // After the last add(), before all that is below.
    void finish();

    Use at(Time) const;
    const Use& peak() const { return peak_; }  // nodes and jobs may be of different times

  private:
    struct Change {
        Time at = 0;
        Use use;  // of one job; from finish() on in all
    };
    std::vector<Change> changes_;
    Use peak_;
};

}  // namespace elastic::simulator
