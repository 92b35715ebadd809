// SPDX-License-Identifier: GPL-2.0-or-later
// The parts that work on Slurm's records know each other, and nobody else has to.
//
// Always holds: all of them see the same reading.
#include "slurm/act/cluster_control.hpp"

#include "slurm/act/exclusive_counts.hpp"
#include "slurm/lock.hpp"
#include "slurm/read/idle_beyond_caps.hpp"
#include "slurm/withheld_nodes.hpp"

namespace elastic::slurm {

ClusterControl::ClusterControl(const core::Config& config, controller::State& state,
                               controller::Outbox& outbox, controller::Negotiation& negotiation,
                               controller::PreemptionGate& gate)
    : config_(config),
      gate_(gate),
      observer_(config, state, outbox, negotiation),
      agreed_(state.book, state.groups),
      placement_(agreed_, reading_.view),
      reader_(config, state, observer_, agreed_, reading_),
      preemptor_reader_(config, gate, reading_),
      agreement_executor_(state, outbox, negotiation, observer_, agreed_, placement_, reading_),
      groups_(state, outbox, observer_, agreement_executor_, agreed_, reading_),
      preemption_(config, state, negotiation, gate, agreed_, reading_),
      plan_executor_(config, state, outbox, negotiation, observer_, agreement_executor_, groups_,
                     placement_, preemption_, reading_) {}

void ClusterControl::begin() {
    withheld_nodes().choose_by([this] { return withheld(); });
    gate_preemption();
}

// From Slurm's loops.  Who only observes asks for nothing.
NodeSet ClusterControl::withheld() {
    if (config_.starts == core::Starts::elastic) return {};
    NodeSet nodes = agreed_.beside_victims();
    if (config_.observe == core::Observe::no) nodes |= idle_beyond_caps(reading_.view, nodes);
    return nodes;
}

// Where Slurm's loops start no jobs, they only say when jobs would start.
void ClusterControl::gate_preemption() {
    const bool is_gated = config_.starts == core::Starts::slurm;
    set_preemption(is_gated ? Preemption::gated : Preemption::as_hosted, &gate_);
}

void ClusterControl::configure() {
    ControllerLock lock;
    gate_preemption();
    has_preemption_ = is_preemption_ours();
    const bool asks = config_.observe == core::Observe::no && has_preemption_;
    gate_.open(asks ? config_.preempt_shrink_time : 0);
}

void ClusterControl::end() {
    withheld_nodes().choose_by(nullptr);
    if (config_.starts == core::Starts::elastic) forecaster_.clear();
    ControllerLock lock;  // shows what was withheld
    set_preemption(Preemption::as_hosted);
}

void ClusterControl::read_for_pass(Time now) {
    mend_exclusive_counts();
    gate_.begin_look();
    reader_.read_queue();
    groups_.advance(now);
    read_again(now);
}

void ClusterControl::read_again(Time now) {
    reader_.read_again(now);
    if (!has_preemption_) return;
    ControllerLock lock;
    preemptor_reader_.read(now);
}

}  // namespace elastic::slurm
