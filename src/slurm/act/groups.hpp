// SPDX-License-Identifier: GPL-2.0-or-later
// Starts the jobs of groups ([packet]) on the nodes that their groups own.
#pragma once

#include <unordered_set>

#include "slurm/act/agreement_executor.hpp"
#include "slurm/act/start.hpp"

namespace elastic::slurm {

class GroupRunner {
  public:
    GroupRunner(controller::State& state, controller::Outbox& outbox, Observer& observer,
                AgreementExecutor& agreement_executor, AgreedNodes& agreed, Reading& reading)
        : state_(state),
          outbox_(outbox),
          observer_(observer),
          agreement_executor_(agreement_executor),
          agreed_(agreed),
          reading_(reading) {}

    // Locks.  Each group that has begun loses nodes and jobs that it cannot use any more, starts
    // jobs for which there is room, and gives back nodes that it will not need.  To be called when
    // the queue has just been read, before the rest.
    void advance(Time now);

    // A group that waits begins on `nodes` of the allowed nodes.  Returns how the start of its
    // first job went; unless that job has started there is no group.  Needs ControllerLock.
    Started begin(const controller::WaitingGroup&, const NodeSet& allowed, int nodes, Time now);

    // The group that starts this job next has so many of the allowed nodes besides its own.  Needs
    // ControllerLock.
    void extend(JobId next, const NodeSet& allowed, int nodes, Time now);

    // So many of the allowed nodes, those first that are initialised for the job; all of them if
    // the job has no type.  Needs ControllerLock.
    NodeSet prefer_initialised(const controller::GroupKey&, const NodeSet& allowed,
                               int nodes) const;

  private:
    void forget_rebooted();
    void advance(controller::Group&, const std::unordered_set<JobId>& queue, Time now);
    void leave_lost_nodes(const controller::Group&, NodeSet& nodes) const;
    bool belongs(const job_record_t*, const controller::Group&) const;
    Started start_jobs(controller::Group&, const NodeSet& nodes, Time now);
    Started start_first(controller::Group&, NodeSet& free, int nodes, Time now);
    int size_of(const controller::GroupJob&, int nodes) const;
    void keep(controller::Group&, const NodeSet&);
    void give_back_unneeded(controller::Group&, NodeSet nodes);

    controller::State& state_;
    controller::Outbox& outbox_;
    Observer& observer_;
    AgreementExecutor& agreement_executor_;
    AgreedNodes& agreed_;
    Reading& reading_;
};

}  // namespace elastic::slurm
