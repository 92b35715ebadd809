// SPDX-License-Identifier: GPL-2.0-or-later
// Which planned actions the limits of associations and QOS bar, before anybody gives up nodes for
// them.  What is barred is left out of the next plan of the pass.
#pragma once

#include <string>

#include "slurm/act/agreement_executor.hpp"

namespace elastic::slurm {

class AccountingLimits {
  public:
    AccountingLimits(controller::State& state, AgreementExecutor& agreement_executor,
                     Reading& reading)
        : state_(state), agreement_executor_(agreement_executor), reading_(reading) {}

    // Whether a limit would leave the job without the nodes that others are to give up for it: a
    // pending one without its start, a running one without its growth, whose request waits then, no
    // longer than its own time.  Needs ControllerLock.
    bool bars(JobId beneficiary, const core::Plan&, Time now);

    // Whether a limit keeps the job, and not want of nodes, for which it is to have a reservation
    // that others would wait behind; known since this question.  Needs ControllerLock.
    bool bars_reservation(const core::Action& reserve);

    // Whether the job, which would start behind others with reservations, would leave one of these
    // no room in a limit.  Needs ControllerLock.
    bool bars_start_behind(const core::Action& start, const core::Plan&);

    // Locks.  Where one account is at its limit others will be, and each that only a plan finds out
    // about costs a plan: so all are asked for, by the first job of each.
    void ask_accounts();

    // What keeps a running job from the nodes that its request takes at least, as a phrase.  Needs
    // ControllerLock.
    static std::string obstacle_to(job_record_t*, const controller::Job&,
                                   const controller::Agreement& request);

  private:
    bool bars_growth(JobId, Time now);
    bool bars_start(job_record_t*, std::size_t index);
    bool bars_larger_start(job_record_t*, const core::Plan&);
    void ask_account_of(std::size_t index);

    controller::State& state_;
    AgreementExecutor& agreement_executor_;
    Reading& reading_;
};

}  // namespace elastic::slurm
