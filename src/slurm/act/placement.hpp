// SPDX-License-Identifier: GPL-2.0-or-later
// From counts to nodes: a plan says how many nodes of which pool each action takes; here they are
// chosen, once, for starts, growths, shrinks and hand-overs alike.  What has been chosen for an
// agreement or a claim is kept for it.
//
// Always holds: an idle node is promised to one job at most, and no action takes more nodes of a
// pool than the plan says, so what the plan counts on for its reservations is left.
//
// All functions need ControllerLock.
#pragma once

#include <string>

#include "controller/job_table.hpp"
#include "core/model/plan.hpp"
#include "slurm/read/agreed_nodes.hpp"
#include "slurm/read/view.hpp"

namespace elastic::slurm {

// What a running job is given when it grows.
struct Growth {
    NodeSet joining;
    NodeSet later;         // which the job has just left, so that they cannot join yet
    std::string obstacle;  // what keeps it from more, as a phrase; "" if nothing does
};

class Placement {
  public:
    // Both are as of the last reading, whenever a function is called.
    Placement(AgreedNodes& agreed, const View& view) : agreed_(agreed), view_(view) {}

    // The nodes among which Slurm may choose those of a job that starts: all that are free of the
    // one pool that it uses, or exactly as many as planned of several.
    NodeSet for_start(const job_record_t*, const core::Action&);
    // The same regardless of pools, and whether that may be: where no reservation can suffer by it.
    NodeSet for_start_anywhere(const core::Action&);
    bool may_start_anywhere(const core::Action&) const;
    // All that is free for a pending job, whatever the plan leaves to it.
    NodeSet room_for(const core::PendingJob&);
    // What a running job is offered of the planned nodes.
    Growth for_growth(job_record_t*, const controller::Job&, const core::Action&);
    // The nodes that a victim gives up; empty if it does not hold so many of those pools any more.
    NodeSet for_shrink(const job_record_t*, const core::Action&);
    // The idle nodes that a beneficiary takes besides those of the victims that the same plan
    // shrinks for it; of `last` only where there are no others.
    NodeSet beside_victims(const core::Action&, const core::Plan&, const NodeSet& last = {});

    // The idle nodes that a start takes besides these.
    NodeSet beside(const NodeSet&, const core::PoolCounts&);

    // The nodes that the job has left so lately that their slurmds take none of its steps yet.
    NodeSet just_left(const controller::Job&);
    // What of a growth in flight can be carried out now; `freed` are nodes that its victims have
    // just left.
    Growth agreed_growth(job_record_t*, const controller::Job&, const controller::Agreement&,
                         const NodeSet& freed);

  private:
    NodeSet take(const core::PoolCounts&, const NodeSet& last = {});
    // Where a job that shares nodes may go if it may have these idle ones.
    NodeSet with_partly_used(const core::PendingJob&, const NodeSet& idle) const;
    static Growth largest(job_record_t*, const controller::Job&, const NodeSet& candidates,
                          int least, int most);

    AgreedNodes& agreed_;
    const View& view_;
};

}  // namespace elastic::slurm
