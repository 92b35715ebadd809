// SPDX-License-Identifier: GPL-2.0-or-later
// What SchedulerParameters let a pass look at and reserve for, as the queue is read in its order.
//
// All of this needs ControllerLock; jobs are set to the attempt that is read.
#pragma once

#include <set>

#include "common/time.hpp"
#include "controller/queue_depth.hpp"
#include "slurm/compat/compat.hpp"

namespace elastic::slurm {

class QueueBounds {
  public:
    // The parameters must outlive it.
    QueueBounds(const controller::SchedulerParameters& parameters, Time now)
        : parameters_(parameters), now_(now), depth_(parameters) {}

    // Nothing is planned for the job in this pass.
    void note_held_back(job_record_t*);
    // Whether a job before it, which waits for a limit, keeps it from starting; it then waits by
    // its priority.
    bool is_stopped(job_record_t*) const;

    // So many of its elements may be looked at; the others wait by their priority.
    int admit(job_record_t*, int copies);

    // Reservations that it may have; an alternative is behind another way to start the same job.
    int reserves(job_record_t*, bool is_alternative) const;

  private:
    bool may_reserve(job_record_t*) const;

    const controller::SchedulerParameters& parameters_;
    Time now_;
    controller::QueueDepth depth_;
    std::set<const void*> stopped_;  // partitions, and reservations
};

}  // namespace elastic::slurm
