// SPDX-License-Identifier: GPL-2.0-or-later
// Reads the jobs of Slurm's queue into a view.
//
// All of this needs ControllerLock, that of the reading.
#pragma once

#include <map>
#include <set>

#include "slurm/read/components.hpp"
#include "slurm/read/eligibility.hpp"
#include "slurm/read/node_use.hpp"
#include "slurm/read/queue_bounds.hpp"
#include "slurm/read/view.hpp"
#include "slurm/read/waiting_groups.hpp"

namespace elastic::slurm {

// All that it is given must outlive it; the running jobs have been read.
class PendingReader {
  public:
    PendingReader(const Knowledge& knowledge, Eligibilities& eligibilities, const NodeUse& use,
                  View& view)
        : knowledge_(knowledge),
          eligibilities_(eligibilities),
          use_(use),
          view_(view),
          groups_(knowledge, view),
          bounds_(knowledge.parameters, knowledge.now) {}

    void read();
    // Once the view has its pools.
    void make_groups() { groups_.make(); }

  private:
    bool is_too_deep(const Queue::Place&);
    void read_job(job_record_t*, const Queue::Place&);
    void defer_until_staged(job_record_t*, core::PendingJob&);
    bool is_held_back(job_record_t*, const Queue::Place&, int nodes);
    bool needs_close_look(const Queue::Place&);
    bool is_barred(controller::RequestId, const Queue::Place&);
    Time room_from(job_record_t*, controller::RequestId, core::EligibilityId, bool shares);
    controller::NodeMask room_of(const job_record_t*, core::EligibilityId, bool shares);
    Time next_coming_free(core::EligibilityId);
    void set_sizes(job_record_t*, const controller::Job&, int nodes, const Queue::Place&,
                   core::Sizing&) const;

    const Knowledge& knowledge_;
    Eligibilities& eligibilities_;
    const NodeUse& use_;
    View& view_;
    WaitingGroups groups_;
    Components components_;
    QueueBounds bounds_;
    std::size_t place_ = 0;                 // of the queue, that is being read
    std::map<std::uint32_t, int> read_of_;  // jobs by attempt, where Slurm's loops start them
    std::map<core::EligibilityId, Time> next_coming_free_;
    std::set<JobId> seen_;  // of jobs with several places in the queue
};

}  // namespace elastic::slurm
