// SPDX-License-Identifier: MIT
// Jobs that a plan has start and that another scheduler (Starts=slurm) is to start: its reasons not
// to are its own, so what a plan keeps for such a job is kept for a time only.
#pragma once

#include <unordered_map>

#include "core/model/types.hpp"

namespace elastic::controller {

class AwaitedStarts {
  public:
    // A look at a plan begins and ends; a job that has no start in a plan is forgotten.
    void begin_look() { ++look_; }
    void end_look();

    // Whether plans have had the job start for so long.
    bool is_overdue(JobId, Time now, Duration patience);

  private:
    struct Awaited {
        Time since = 0;
        unsigned look = 0;
    };
    std::unordered_map<JobId, Awaited> jobs_;
    unsigned look_ = 0;
};

}  // namespace elastic::controller
