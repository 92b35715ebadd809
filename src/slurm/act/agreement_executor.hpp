// SPDX-License-Identifier: GPL-2.0-or-later
// Carries out ripe agreements on Slurm's records.
//
// Always holds: what is done under one hold of the lock leaves Slurm consistent; a hand-over
// (victims shrink, beneficiary starts or grows) is one hold, so nobody can take the nodes in
// between.
#pragma once

#include <optional>
#include <set>

#include "slurm/act/placement.hpp"
#include "slurm/lock.hpp"
#include "slurm/read/cluster_reader.hpp"

namespace elastic::slurm {

class AgreementExecutor {
  public:
    AgreementExecutor(controller::State& state, controller::Outbox& outbox,
                      controller::Negotiation& negotiation, Observer& observer, AgreedNodes& agreed,
                      Placement& placement, Reading& reading)
        : state_(state),
          outbox_(outbox),
          negotiation_(negotiation),
          observer_(observer),
          agreed_(agreed),
          placement_(placement),
          reading_(reading) {}

    // Locks if any agreement might move forward without its application, and moves it: accepted
    // expansions, released nodes, offers nobody needs.
    void advance(Time now);
    // The same after a plan, which may have ended or taken back anything.
    void advance_all(Time now);

    // When advance() is to be called for nodes that jobs have just left and wait for; kNever if for
    // none.
    Time next_join() const { return next_join_; }

    // Lets the job have the idle nodes that its granted or accepted agreement names.  True if the
    // agreement has changed.  Needs ControllerLock.
    bool apply_grow(controller::Agreement&, Time now);
    // Slurm does not let the job grow: says so once, and tries again later.
    static void refuse_growth(controller::Job&, const std::string& obstacle, Time now);
    // The same of an agreement: a request waits until its time is over, anything else ends.
    void not_grown(controller::Job&, controller::Agreement&, const std::string& why, Time now);

    // Two pending jobs wait for victims: what one victim has agreed to give up is for the other
    // from now on, which leaves so many nodes that are there for it.  False, and neither has less
    // than before, if they are not there any more.  Needs ControllerLock.
    bool trade(controller::Agreement& shrink, JobId giver, const core::PoolCounts&, Time now);
    // Starts a job on what is there for it, and on idle nodes as far as the plan has more; nobody
    // else is to leave nodes for it.  Nothing happens if there are too few.  Needs ControllerLock.
    void start_on_claim(const core::Action& start, Time now);

    // Books a job that was just started.  Needs ControllerLock.
    void started(job_record_t*, Time now);

  private:
    bool advance_some(const ControllerLock&, Time now);
    bool move_forward(controller::Agreement&, Time now);
    bool move_shrink(controller::Agreement&, Time now);
    bool stands_for_group(JobId) const;
    bool still_waits(JobId beneficiary) const;
    bool may_leave(const controller::Agreement& shrink);
    bool all_released(JobId beneficiary);
    bool may_join(JobId beneficiary);
    void try_again_later();
    bool finish_joining(controller::Agreement&, Time now);
    bool must_wait_for_nodes(const job_record_t*, const controller::Agreement&, const Growth&);
    NodeSet leave_for(JobId beneficiary, const NodeSet& wanted, Time now);
    NodeSet ready_for(JobId beneficiary);
    NodeSet needed_beside_victims(JobId beneficiary, int size, NodeSet);
    void hand_over(JobId beneficiary, Time now);
    bool give_to_group(JobId, const NodeSet&, int size);
    void start_beneficiary(JobId, const controller::Claim&, const NodeSet& freed, Time now);
    bool grow_by(controller::Agreement&, const NodeSet& freed, Time now);
    NodeSet apply_shrink(controller::Agreement&, Time now);
    static void extend_limit(job_record_t*, controller::Job&, const char* why);
    void after_resize(job_record_t*, controller::Job&, controller::Agreement&, int from,
                      const std::string& changed, Time now);

    controller::State& state_;
    controller::Outbox& outbox_;
    controller::Negotiation& negotiation_;
    Observer& observer_;
    AgreedNodes& agreed_;
    Placement& placement_;
    Reading& reading_;
    std::optional<NodeSet> unreported_;  // of the hold of the lock in which agreements are settled
    Time next_join_ = kNever;
    std::set<OpId> late_;     // granted requests that wait for nodes which their job has just left
    std::set<OpId> prologs_;  // which this controller has started for growths that are not told yet
};

}  // namespace elastic::slurm
