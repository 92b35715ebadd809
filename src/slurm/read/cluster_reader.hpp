// SPDX-License-Identifier: GPL-2.0-or-later
// Reads the cluster for planning: Slurm's queue, its records, and what agreements in flight mean.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "controller/roll_call.hpp"
#include "slurm/read/agreed_nodes.hpp"
#include "slurm/read/node_states.hpp"
#include "slurm/read/observer.hpp"
#include "slurm/read/view.hpp"

namespace elastic::slurm {

// The cluster as it was read last, and what Slurm has refused of the plans made of that.
struct Reading {
    Queue queue;
    View view;  // as of the last pass, or newer
    controller::PassRefusals refusals;
    controller::RefusalBook answers;             // of Slurm, which outlive the pass
    NodeStates nodes;                            // for those who watch
    controller::RollCall roll_call;              // as of the last view
    PlannedStarts planned;                       // by Slurm, as of the last view
    controller::SchedulerParameters parameters;  // as of the last view; none with Starts=slurm
    int started = 0;                             // jobs, in this pass
    std::map<JobId, Time> preempted;  // when Slurm was last told to preempt jobs for this one
    std::map<JobId, Time> reserved;   // when jobs start by the last plan
    std::vector<core::Terms> terms;  // what the site says of its nodes; empty where it says nothing
};

class ClusterReader {
  public:
    ClusterReader(const core::Config& config, controller::State& state, Observer& observer,
                  AgreedNodes& agreed, Reading& reading)
        : config_(config), state_(state), observer_(observer), agreed_(agreed), reading_(reading) {}

    // Locks, observes, and makes the queue, the view and its snapshot anew.
    void read(Time now);
    // The same in two parts, of which the first is the order of the queue alone. Where Slurm's
    // loops start jobs it is listed every few seconds, and when a job has come.
    void read_queue();
    void read_again(Time now);

  private:
    bool queue_is_current() const;
    void read_parameters();
    std::set<JobId> beneficiaries() const;
    void mark_resizable(Time now);
    void add_agreements();
    bool is_waiting_for_slurm(const controller::Agreement& request, Time now) const;
    bool has_victims(const controller::Agreement& growth) const;
    core::Promise promised_shrink(const controller::Agreement&);
    core::Promise promised_growth(const controller::Agreement&, job_record_t*, NodeSet& taken);

    const core::Config& config_;
    controller::State& state_;
    Observer& observer_;
    AgreedNodes& agreed_;
    Reading& reading_;
    std::string read_parameters_;  // the text of reading_.parameters
    time_t queue_listed_ = 0;      // the second in which the queue was listed last
};

}  // namespace elastic::slurm
