// SPDX-License-Identifier: GPL-2.0-or-later
// The parts that work on Slurm's records know each other, and nobody else has to.
//
// Always holds: all of them see the same reading.
#include "slurm/act/cluster_control.hpp"

#include "slurm/act/exclusive_counts.hpp"
#include "slurm/lock.hpp"
#include "slurm/withheld_nodes.hpp"

namespace elastic::slurm {

ClusterControl::ClusterControl(const core::Config& config, controller::State& state,
                               controller::Outbox& outbox, controller::Negotiation& negotiation)
    : config_(config),
      observer_(state, outbox, negotiation),
      agreed_(state.book, state.groups),
      placement_(agreed_, reading_.view),
      reader_(config, state, observer_, agreed_, reading_),
      agreement_executor_(state, outbox, negotiation, observer_, agreed_, placement_, reading_),
      groups_(state, outbox, observer_, agreement_executor_, agreed_, reading_),
      plan_executor_(config, state, outbox, negotiation, observer_, agreement_executor_, groups_,
                     placement_, reading_) {}

void ClusterControl::begin() {
    withheld_nodes().choose_by([this] {
        return config_.starts == core::Starts::slurm ? agreed_.beside_victims() : NodeSet();
    });
}

void ClusterControl::end() {
    withheld_nodes().choose_by(nullptr);
    ControllerLock lock;  // shows what was withheld
}

void ClusterControl::read_for_pass(Time now) {
    mend_exclusive_counts();
    reader_.read_queue();
    groups_.advance(now);
    reader_.read_again(now);
}

}  // namespace elastic::slurm
