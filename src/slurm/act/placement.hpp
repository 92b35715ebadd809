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
#include "slurm/node_order.hpp"
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

    // Before a plan is carried out.
    void begin_plan() { strayed_.clear(); }

    // The nodes among which Slurm may choose those of a job that starts, for which it looks for
    // `size` nodes or, with kAsRequested, for as many as it likes.
    NodeSet for_start(const job_record_t*, const core::Action&, int size);
    // The job has started as Slurm has chosen; `idle` nodes were free for it.
    void started(const job_record_t*, const core::Action&, const NodeSet& idle);
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
    // shrinks for it: a pending job, or one that grows.
    NodeSet beside_victims(const core::Action&, const core::Plan&);
    NodeSet beside_victims(const job_record_t*, const controller::Job&, const core::Action&,
                           const core::Plan&);

    // The idle nodes that a start takes besides these.
    NodeSet rest_of(const NodeSet&, const core::PoolCounts&);

    // The nodes that the job has left so lately that their slurmds take none of its steps yet.
    NodeSet just_left(const controller::Job&);
    // What of a growth in flight can be carried out now; `freed` are nodes that its victims have
    // just left.
    Growth agreed_growth(job_record_t*, const controller::Job&, const controller::Agreement&,
                         const NodeSet& freed);

  private:
    NodeSet take(const core::PoolCounts&, const NodeOrder&);
    // So many nodes of these pools, or others in their place.
    NodeSet take_best(const core::PoolCounts&, const core::Action&, const NodeOrder&);
    NodeOrder order_of_start() const;
    NodeOrder order_of_growth(const job_record_t*, const controller::Job&);
    // Of the nodes that are free, as many of each pool as the action may have, if it takes `size`
    // or, with kAsRequested, nobody knows how many in all.
    NodeSet choice(const core::PoolCounts&, const core::Action&, int size, const NodeSet& free,
                   const NodeOrder&) const;
    core::PoolCounts most_of_pools(const core::PoolCounts&, const core::Action&, int size) const;
    void stray(const NodeSet& taken, const core::PoolCounts& planned);
    // Where a job that shares nodes may go if it may have these idle ones.
    NodeSet with_partly_used(const core::PendingJob&, const core::PoolCounts& parts,
                             const NodeSet& idle) const;
    Growth largest(job_record_t*, const controller::Job&, const NodeSet& candidates, int least,
                   int most);

    AgreedNodes& agreed_;
    const View& view_;
    core::PoolCounts strayed_;  // by pool, what actions of this plan have taken beyond it
};

}  // namespace elastic::slurm
