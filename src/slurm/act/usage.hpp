// SPDX-License-Identifier: GPL-2.0-or-later
// What Slurm counts of a running job's time, for its QOS and associations: as used, and as what it
// may still use (GrpTRESMins, GrpTRESRunMins, GrpWall, fair share).
#pragma once

#include <vector>

#include "slurm/nodes.hpp"

namespace elastic::slurm {

// Keeps these counts right over a resize.  Needs ControllerLock, and no lock of assoc_mgr.
class UsageOverResize {
  public:
    explicit UsageOverResize(const job_record_t*);  // before Slurm has taken the job out of them
    void taken_out();                               // after that
    void put_back();                                // after Slurm has counted the job anew

  private:
    struct Values {
        uint64_t running = 0;  // seconds of nodes that running jobs may still use
        long double used = 0;  // seconds of nodes
        long double raw = 0;   // seconds, weighted
        double wall = 0;       // seconds
    };
    // One QOS's or association's.
    struct Count {
        uint64_t* running;  // by resource
        long double* used;  // by resource
        long double* raw;
        double* wall;
        Values before, without;

        Values values() const;
    };
    template <class Usage>
    void add(Usage*);
    void correct(const Count&) const;

    const job_record_t* job_;
    uint64_t nodes_;  // before
    std::vector<Count> counts_;
};

}  // namespace elastic::slurm
