// SPDX-License-Identifier: GPL-2.0-or-later
// The cluster as a scheduler has it: all that reads it out of Slurm's records and changes it there.
#pragma once

#include <utility>
#include <vector>

#include "slurm/act/forecaster.hpp"
#include "slurm/act/plan_executor.hpp"
#include "slurm/read/preemptor_reader.hpp"

namespace elastic::slurm {

class ClusterControl {
  public:
    // The configuration may change between calls.
    ClusterControl(const core::Config&, controller::State&, controller::Outbox&,
                   controller::Negotiation&, controller::PreemptionGate&);

    // From then on, until then, Slurm's loops preempt only as the gate lets them, and nodes that a
    // job is to have with those of its victims are withheld from Slurm's own loops, if these start
    // jobs.
    void begin();
    void end();
    // Once all is read, and whenever the configuration is another.  Locks.
    void configure();

    // What the site says of its nodes, from the next reading on.
    void set_terms(std::vector<core::Terms> terms) { reading_.terms = std::move(terms); }

    // All of these lock.  The cluster, the table of jobs among it, becomes as Slurm has it.
    void read(Time now) { reader_.read(now); }
    // The same for a pass: what Slurm miscounts is put right before, and jobs of groups are started
    // once the queue is known.
    void read_for_pass(Time now);
    // The same in a pass, behind a plan: the queue stays as it was.
    void read_again(Time now);

    // As it was read last.
    const View& view() const { return reading_.view; }
    // When jobs start by the last plan.
    const std::map<JobId, Time>& reserved() const { return reading_.reserved; }
    const NodeStates& nodes() const { return reading_.nodes; }
    // What slurm.conf told the scheduler then.
    const controller::SchedulerParameters& parameters() const { return reading_.parameters; }
    // Ways to start a job that Slurm's queue had then.
    std::size_t queued() const { return reading_.queue.places().size(); }

    // Does what a plan of this view says.  True if Slurm refused something and the rest is worth a
    // new plan.
    bool carry_out(const core::Plan& plan, Time now) { return plan_executor_.carry_out(plan, now); }

    // What users are told of jobs that wait; after each pass, and when it is to go on.
    Forecaster& forecaster() { return forecaster_; }
    const Forecaster& forecaster() const { return forecaster_; }

    // Moves ripe agreements forward.
    void advance_agreements(Time now) { agreement_executor_.advance(now); }
    // When some will be ripe by time alone; kNever if none.
    Time next_join() const { return agreement_executor_.next_join(); }

  private:
    NodeSet withheld();
    void gate_preemption();

    const core::Config& config_;
    controller::PreemptionGate& gate_;
    bool has_preemption_ = false;  // by our plugin
    Reading reading_;
    Observer observer_;
    AgreedNodes agreed_;
    Placement placement_;
    ClusterReader reader_;
    PreemptorReader preemptor_reader_;
    AgreementExecutor agreement_executor_;
    GroupRunner groups_;
    PreemptionExecutor preemption_;
    PlanExecutor plan_executor_;
    Forecaster forecaster_{config_, reading_};
};

}  // namespace elastic::slurm
