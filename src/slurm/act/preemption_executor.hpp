// SPDX-License-Identifier: GPL-2.0-or-later
// What comes of the jobs that may preempt others: who lets go of those for whom nobody shrinks, and
// has Slurm preempt for them where its own loops do not start jobs.
#pragma once

#include <string>

#include "controller/negotiation/negotiation.hpp"
#include "controller/preemption_gate.hpp"
#include "controller/state.hpp"
#include "core/model/plan.hpp"
#include "slurm/act/placement.hpp"
#include "slurm/act/start.hpp"
#include "slurm/read/cluster_reader.hpp"

namespace elastic::slurm {

class PreemptionExecutor {
  public:
    PreemptionExecutor(const core::Config& config, controller::State& state,
                       controller::Negotiation& negotiation, controller::PreemptionGate& gate,
                       AgreedNodes& agreed, Reading& reading)
        : config_(config),
          state_(state),
          negotiation_(negotiation),
          gate_(gate),
          agreed_(agreed),
          reading_(reading) {}

    // Has Slurm preempt for the job for whom the plan ends others, once for all of these; the job
    // may start at once.  Needs ControllerLock.
    Started preempt(const core::Action&, Time now);
    // Behind a plan that has been carried out.  True if the rest is worth a new plan.  Locks if
    // anybody is asked.
    bool settle(const core::Plan&, Time now);

  private:
    std::string why_in_vain(JobId, const core::Plan&) const;
    bool is_anybody_asked(JobId) const;
    void let_go(JobId, const std::string& why, Time now);

    const core::Config& config_;
    controller::State& state_;
    controller::Negotiation& negotiation_;
    controller::PreemptionGate& gate_;
    AgreedNodes& agreed_;
    Reading& reading_;
};

}  // namespace elastic::slurm
