// SPDX-License-Identifier: GPL-2.0-or-later
// Carries out plans on Slurm's records.
#pragma once

#include "core/model/plan.hpp"
#include "slurm/act/groups.hpp"
#include "slurm/act/settlement.hpp"
#include "slurm/act/start.hpp"

namespace elastic::slurm {

class Executor {
  public:
    Executor(controller::State& state, controller::Outbox& outbox,
             controller::Negotiation& negotiation, Observer& observer, Settlement& settlement,
             GroupRunner& groups, Placement& placement, Reading& reading)
        : state_(state),
          outbox_(outbox),
          negotiation_(negotiation),
          observer_(observer),
          settlement_(settlement),
          groups_(groups),
          placement_(placement),
          reading_(reading) {}

    // Locks, and does what the plan says.  Because time has passed since the
    // snapshot, each action is checked again and left out if it has become
    // wrong.  True if Slurm refused something and the rest is worth a new plan.
    bool carry_out(const core::Plan&, Time now);

  private:
    bool do_action(const core::Action&, Time now);
    void claim_for(const core::Action&, Time now);
    bool do_start(const core::Action&, Time now);
    void start_by_trading(const core::Action&, Time now);
    Started try_to_start(job_record_t*, const core::Action&);
    time_t end_of_hole(const core::Action& start) const;
    bool may_start_anywhere(const core::Action&) const;
    bool remember_refusal(job_record_t*, const core::Action&, StartOutcome);
    bool refuse_room(job_record_t*, const core::Action&);
    bool ask_those_planned_with();
    void ask_others();
    bool ask_if_unknown(controller::RequestId, const Queue::Place&);
    bool is_refused(const core::PendingJob&, controller::RequestId);
    SizeRange sizes_of(JobId) const;
    bool do_shrink(const core::Action&, Time now);
    bool is_barred(JobId beneficiary, Time now);
    bool is_growth_barred(JobId, Time now);
    bool is_start_barred(job_record_t*, std::size_t entry);
    bool is_larger_start_barred(job_record_t*);
    void ask_limits();
    void ask_limit(std::size_t entry);
    void do_expand(const core::Action&, Time now);
    void offer_growth(controller::Job&, const core::Action&, Time now);
    void do_reserve(const core::Action&, Time now);
    void do_deny(const core::Action&, Time now);
    static std::string obstacle_to(job_record_t*, const controller::Job&,
                                   const controller::Agreement& request);
    void do_withdraw(const core::Action&, Time now);
    void explain_waiting();
    void forget_lack_of_nodes(job_record_t*, const core::PendingJob&) const;
    static void explain(job_record_t*, uint32_t reason);

    controller::State& state_;
    controller::Outbox& outbox_;
    controller::Negotiation& negotiation_;
    Observer& observer_;
    Settlement& settlement_;
    GroupRunner& groups_;
    Placement& placement_;
    Reading& reading_;
    const core::Plan* plan_ = nullptr;  // the one that is being carried out
};

}  // namespace elastic::slurm
