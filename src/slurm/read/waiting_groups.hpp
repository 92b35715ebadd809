// SPDX-License-Identifier: GPL-2.0-or-later
// Packet jobs of the queue, as the groups in which they start ([packet] section 5).
#pragma once

#include <cstddef>
#include <unordered_map>
#include <vector>

#include "slurm/read/view.hpp"

namespace elastic::slurm {

// Collects while the queue is read, and then changes the view.  All must outlive it.
class WaitingGroups {
  public:
    WaitingGroups(const Knowledge&, View&);

    // Copies of a pending job that groups start that have begun.
    int copies(JobId) const;
    // Such a job, which waits for nothing else.
    void add_begun(core::PendingJob next, const Queue::Place&);
    // A job whose entry comes next in the view, and which may be in a group.
    void add(job_record_t*, const controller::Job&, const core::PendingJob&, const Queue::Place&,
             int tasks);
    // So many entries have come into the view there.
    void moved(std::size_t at, std::size_t entries);
    // Once the view has its pools.
    void make();

  private:
    // A group that has begun, and the job that it starts next.
    struct Begun {
        const controller::Group* group;
        core::PendingJob next;
        Queue::Place place;
    };

    void extend(Begun&, int nodes);
    void stand_for_jobs(std::vector<controller::WaitingGroup>);
    std::size_t index_of_lead(const controller::WaitingGroup&) const;
    Queue::Place place_of(const controller::WaitingGroup&) const;
    core::PendingJob pending_of(const controller::WaitingGroup&) const;

    const Knowledge& knowledge_;
    View& view_;
    const std::unordered_map<JobId, int> in_groups_;  // copies that their groups start
    std::vector<controller::GroupCandidate> candidates_;
    std::vector<Begun> begun_;
};

}  // namespace elastic::slurm
