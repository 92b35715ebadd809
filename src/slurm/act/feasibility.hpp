// SPDX-License-Identifier: GPL-2.0-or-later
// Whether any nodes of the cluster, in use or not, meet a request, which Slurm is asked once for
// each request as long as the configuration is the same (controller/refusal_book.hpp).
#pragma once

#include "core/model/plan.hpp"
#include "slurm/read/cluster_reader.hpp"

namespace elastic::slurm {

class Feasibility {
  public:
    Feasibility(const controller::JobTable& jobs, Reading& reading)
        : jobs_(jobs), reading_(reading) {}

    // Locks, and asks about the first jobs that the plan lets wait.  True if one of them can never
    // run, or the view is stale, and the rest is worth a new plan.
    bool ask_those_planned_with(const core::Plan&);
    // Locks, and asks about a few of the jobs that nobody has asked about; the others have their
    // turn in the next pass.
    void ask_others();

    // Whether the request, of the job at that place, is not to be planned with any more.  A job
    // that has no other way to start is held.  Needs ControllerLock.
    bool is_infeasible(controller::RequestId, const Queue::Place&);

  private:
    controller::Verdict ask(job_record_t*, const Queue::Place&) const;

    const controller::JobTable& jobs_;
    Reading& reading_;
};

}  // namespace elastic::slurm
