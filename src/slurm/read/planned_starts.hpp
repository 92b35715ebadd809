// SPDX-License-Identifier: GPL-2.0-or-later
// What Slurm's backfill has planned for jobs that wait (Starts=slurm).
//
// All functions need ControllerLock.
#pragma once

#include <string>
#include <unordered_map>

#include "core/model/types.hpp"
#include "slurm/compat/compat.hpp"

namespace elastic::slurm {

struct Knowledge;
struct View;

struct SlurmsStart {
    time_t from = 0;
    std::string node_list;
};

class PlannedStarts {
  public:
    // Adds to a view, which has its pools, what is planned for the jobs of the queue.
    void read(const Knowledge&, View&);

  private:
    void begin_look();
    void end_look();
    const SlurmsStart* of(const job_record_t*);

    struct Noted {
        SlurmsStart start;
        unsigned look = 0;
    };
    std::unordered_map<JobId, Noted> noted_;
    unsigned look_ = 0;
    bool is_planning_ = false;
};

}  // namespace elastic::slurm
