// SPDX-License-Identifier: GPL-2.0-or-later
// What Slurm has refused when it was to start a job: kept so that the next plan does without it,
// and Slurm is not asked the same again.  All of this needs ControllerLock.
#pragma once

#include "core/model/plan.hpp"
#include "slurm/act/feasibility.hpp"
#include "slurm/act/placement.hpp"
#include "slurm/act/start.hpp"

namespace elastic::slurm {

// The pending job of that index has had no room on all that is free for it: asked again by `latest`
// (controller/refusal_book.hpp).
void remember_no_room(Reading&, Placement&, std::size_t index, Time latest = kNever);

class StartRefusals {
  public:
    StartRefusals(Feasibility& feasibility, Placement& placement, Reading& reading)
        : feasibility_(feasibility), placement_(placement), reading_(reading) {}

    // Whether Slurm has refused the same to a job that asks for the same.
    bool has_refused(const core::PendingJob&, controller::RequestId);
    // A planned start had that outcome, which is not `started`.  True if the next plan will differ
    // by it.
    bool remember(job_record_t*, const core::Action& start, StartOutcome);

  private:
    bool remember_no_room_for(job_record_t*, const core::Action& start);

    Feasibility& feasibility_;
    Placement& placement_;
    Reading& reading_;
};

}  // namespace elastic::slurm
