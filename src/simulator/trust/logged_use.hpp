// SPDX-License-Identifier: MIT
// How much was in use when, by the log's own start and end times.
#pragma once

#include <cstdint>
#include <vector>

#include "common/time.hpp"
#include "simulator/workload.hpp"

namespace elastic::simulator {

class LoggedUse {
  public:
    struct Use {
        double nodes = 0;  // a part of one where jobs share it
        std::int64_t jobs = 0;
    };

    // The job ran from `start` on, which the log says, and had that share of its nodes.
    void add(Time start, const Job&, double share = 1);
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
