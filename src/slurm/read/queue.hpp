// SPDX-License-Identifier: GPL-2.0-or-later
// The jobs that wait, in Slurm's order.  Making it is the larger part of reading the cluster and
// Slurm's own work, so it is done in two steps, each with a hold of the lock for itself.
#pragma once

#include <memory>
#include <vector>

#include "controller/pass_refusals.hpp"
#include "slurm/read/attempt.hpp"

namespace elastic::slurm {

class Queue {
  public:
    struct Place {
        JobId job = 0;
        std::uint32_t attempt = 0;    // index into attempts()
        bool one_of_several = false;  // the job has other places

        controller::AttemptId id() const { return {job, attempt}; }
    };

    // Whether no job has come since list() that could run if there were room.  Needs
    // ControllerLock.
    bool is_current() const;

    // Lists the jobs that could run if there were room.  Needs ControllerLock (Slurm splits job
    // arrays meanwhile).
    void list();
    // Orders what list() found and is still there.  Needs ControllerLock, list()'s hold or a later
    // one.
    void sort();
    // What needs no lock and would take a while: frees Slurm's list, looks for jobs with several
    // places.  What is left afterwards, names and ids, outlives the holds.
    void finish();

    const std::vector<Place>& places() const { return places_; }
    const std::vector<Attempt>& attempts() const { return attempts_; }

  private:
    struct FreeList {
        void operator()(xlist* list) const { FREE_NULL_LIST(list); }
    };

    std::uint32_t index_of(const job_queue_rec_t*);
    void mark_several_places();

    std::unique_ptr<xlist, FreeList> records_;  // of job_queue_rec_t
    std::vector<Place> places_;
    std::vector<Attempt> attempts_;
    std::vector<FoundAttempt> found_;  // attempts_ while sort() runs
    std::vector<JobId> waiting_;       // in ascending order, those that may have been listed
};

}  // namespace elastic::slurm
