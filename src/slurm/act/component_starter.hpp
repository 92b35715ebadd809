// SPDX-License-Identifier: GPL-2.0-or-later
// Starts the components of a heterogeneous job: all of them, or none.
//
// All of this needs ControllerLock.
#pragma once

#include <vector>

#include "core/model/plan.hpp"
#include "slurm/act/placement.hpp"
#include "slurm/act/start.hpp"
#include "slurm/read/cluster_reader.hpp"
#include "slurm/read/limits.hpp"

namespace elastic::slurm {

class ComponentStarter {
  public:
    ComponentStarter(Placement& placement, const Reading& reading)
        : placement_(placement), reading_(reading) {}

    // How it went: with the outcome of the component that Slurm refused, which `refused` is then.
    struct Result {
        Started started;
        const core::Action* refused = nullptr;
        std::vector<job_record_t*> jobs;  // that have started, as `starts`
    };
    // `starts` are those of a plan of jobs that start together, in its order.
    Result start(const std::vector<const core::Action*>& starts, const core::Plan&);

  private:
    struct Component {
        const core::Action* action;
        job_record_t* job;
    };

    Started ask_limits(const Component&, LimitsTogether&) const;
    Started ask(const Component&);
    bool ask(const std::vector<Component>&, Result&);
    Started allocate(const Component&, const NodeSet& of_others, const core::Plan&);
    const core::PendingJob& pending(const core::Action&) const;
    const Attempt& attempt(const core::Action&) const;
    int size(const Component&) const;

    Placement& placement_;
    const Reading& reading_;
};

}  // namespace elastic::slurm
