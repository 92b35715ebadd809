// SPDX-License-Identifier: GPL-2.0-or-later
// The waiting components of heterogeneous jobs.  Slurm's queue has each for itself, by its own
// priority and partition.
//
// All of this needs ControllerLock, that of the reading.
#pragma once

#include <cstddef>
#include <map>
#include <vector>

#include "slurm/read/view.hpp"

namespace elastic::slurm {

class Components {
  public:
    // What comes into the view at the place of an entry, and how much.
    struct Insertion {
        std::size_t at = 0, entries = 0;
    };

    // A component that could start, at a place of its own; the view has all entries before it.
    void add(const job_record_t*, core::PendingJob&&, const Queue::Place&, const View&);
    // Adds the jobs all of whose components could start, each where the last of its components
    // stands; the first insertion is the last in the queue.
    std::vector<Insertion> add_to(View&);

  private:
    struct Job {
        std::vector<core::PendingJob> pending;
        std::vector<Queue::Place> places;
        // When all of its components have been added: how many jobs were before it, and where it
        // is in the view if these are not.
        std::size_t turn = 0, at = 0;
    };

    static bool is_complete(const Job&, const job_record_t* leader);
    static void insert(Job&, View&);

    std::map<JobId, Job> jobs_;  // by their leaders
    std::size_t complete_ = 0;   // of them
};

}  // namespace elastic::slurm
