// SPDX-License-Identifier: MIT
// How deep a pass looks into the queue (SchedulerParameters bf_max_job_test and its like), so that
// nobody's many jobs keep it from those of others.
#pragma once

#include <cstdint>
#include <map>
#include <utility>

#include "controller/scheduler_parameters.hpp"

namespace elastic::controller {

// Whose job it is that may be looked at, and where it would start.
struct Candidate {
    std::uint32_t user = 0, association = 0;
    std::uint64_t partition = 0;  // any number of its own
};

class QueueDepth {
  public:
    // The parameters must outlive it.
    explicit QueueDepth(const SchedulerParameters& parameters) : parameters_(parameters) {}

    // Of so many jobs alike, elements of a job array, the number that may be looked at besides
    // those before them.  Against bf_max_job_test they count as one.
    int admit(const Candidate&, int jobs);

  private:
    enum class Of { user, association, partition };

    const SchedulerParameters& parameters_;
    int tested_ = 0;
    std::map<std::pair<Of, std::uint64_t>, int> of_;
    std::map<std::pair<std::uint32_t, std::uint64_t>, int>
        of_user_in_partition_;  // user, partition
};

}  // namespace elastic::controller
