// SPDX-License-Identifier: GPL-2.0-or-later
// Reads Slurm's running jobs into a view, and what groups that have begun hold of the nodes.
//
// All of this needs ControllerLock, that of the reading.
#pragma once

#include <vector>

#include "core/model/pools.hpp"
#include "slurm/read/eligibility.hpp"
#include "slurm/read/node_use.hpp"
#include "slurm/read/view.hpp"

namespace elastic::slurm {

// All that it is given must outlive it.
class RunningReader {
  public:
    RunningReader(const Knowledge& knowledge, Eligibilities& eligibilities, NodeUse& use,
                  View& view)
        : knowledge_(knowledge), eligibilities_(eligibilities), use_(use), view_(view) {}

    void read();
    // Once the view has its pools.
    void count_held(const core::PoolMap&);

    // Calls function(core::RunningJob&, const job_record_t&, nodes) for each job that has any of
    // these nodes whole, with those that it has.
    template <class Function>
    void for_each_on(const NodeSet& nodes, Function&& function) const {
        for (std::size_t i = 0; i < records_.size(); ++i) {
            if (!bit_overlap_any(records_[i]->node_bitmap, nodes.get())) continue;
            NodeSet held(records_[i]->node_bitmap);
            held &= nodes;
            function(view_.snapshot.running[i], *records_[i], held);
        }
    }

  private:
    void read_jobs();
    void read_job(job_record_t*);
    void add_elastic(job_record_t*, const controller::Job&, core::RunningJob&);
    void read_group(const controller::Group&);

    const Knowledge& knowledge_;
    Eligibilities& eligibilities_;
    NodeUse& use_;
    View& view_;
    std::vector<job_record_t*> records_;  // of the view's running jobs, by the same index
    std::vector<JobId> sharers_;
};

}  // namespace elastic::slurm
