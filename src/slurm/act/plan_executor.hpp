// SPDX-License-Identifier: GPL-2.0-or-later
// Carries out plans on Slurm's records.
#pragma once

#include <set>

#include "controller/awaited_starts.hpp"
#include "core/model/plan.hpp"
#include "slurm/act/accounting_limits.hpp"
#include "slurm/act/agreement_executor.hpp"
#include "slurm/act/component_starter.hpp"
#include "slurm/act/feasibility.hpp"
#include "slurm/act/groups.hpp"
#include "slurm/act/preemption_executor.hpp"
#include "slurm/act/start.hpp"
#include "slurm/act/start_refusals.hpp"

namespace elastic::slurm {

class PlanExecutor {
  public:
    PlanExecutor(const core::Config& config, controller::State& state, controller::Outbox& outbox,
                 controller::Negotiation& negotiation, Observer& observer,
                 AgreementExecutor& agreement_executor, GroupRunner& groups, Placement& placement,
                 PreemptionExecutor& preemption, Reading& reading)
        : config_(config),
          state_(state),
          outbox_(outbox),
          negotiation_(negotiation),
          observer_(observer),
          agreement_executor_(agreement_executor),
          groups_(groups),
          placement_(placement),
          preemption_(preemption),
          reading_(reading) {}

    // Locks, and does what the plan says.  Because time has passed since the snapshot, each action
    // is checked again and left out if it has become wrong.  True if Slurm refused something and
    // the rest is worth a new plan.
    bool carry_out(const core::Plan&, Time now);

  private:
    bool do_action(const core::Action&, Time now);
    bool only_observe(const core::Action&, Time now);
    bool do_start(const core::Action&, Time now);
    bool has_started_enough() const;
    bool stops_at_limits() const;
    void claim_for(const core::Action&, Time now);
    void start_by_trading(const core::Action&, Time now);
    bool leave_to_slurm(const core::Action&, Time now);
    bool start_alone(job_record_t*, const core::Action&, Time now);
    bool start_together(JobId, Time now);
    void book_start(const Started&, JobId waited, core::Reason, Time now);
    void do_preempt(const core::Action&, Time now);
    Started try_to_start(job_record_t*, const core::Action&);
    bool do_shrink(const core::Action&, Time now);
    void do_expand(const core::Action&, Time now);
    bool hangs_on_missing_nodes(const core::Action&) const;
    bool is_small_start(const core::Action&) const;
    void offer_growth(controller::Job&, const core::Action&, Time now);
    bool do_reserve(const core::Action&);
    void do_deny(const core::Action&, Time now);
    void do_withdraw(const core::Action&, Time now);

    const core::Config& config_;
    controller::State& state_;
    controller::Outbox& outbox_;
    controller::Negotiation& negotiation_;
    Observer& observer_;
    AgreementExecutor& agreement_executor_;
    GroupRunner& groups_;
    Placement& placement_;
    PreemptionExecutor& preemption_;
    Reading& reading_;
    AccountingLimits limits_{state_, agreement_executor_, reading_};
    Feasibility feasibility_{state_.jobs, reading_};
    StartRefusals refusals_{feasibility_, placement_, reading_};
    ComponentStarter components_{placement_, reading_};
    controller::AwaitedStarts awaited_;
    const core::Plan* plan_ = nullptr;  // the one that is being carried out
    std::set<JobId> tried_together_;    // of those that start together by it
};

}  // namespace elastic::slurm
