// SPDX-License-Identifier: GPL-2.0-or-later
// Slurm's preemption as the scheduler wants it (plugin preempt/elastic_qos or
// preempt/elastic_partition_prio): whom a job may preempt is for Slurm's own plugin to say, which
// is hosted there; when is for the scheduler.
//
// All of these need slurmctld's job lock for writing, under which Slurm preempts.
#pragma once

#include <optional>
#include <vector>

#include "controller/preemption_gate.hpp"
#include "slurm/compat/compat.hpp"

namespace elastic::slurm {

enum class Preemption {
    gated,      // as the gate admits it
    as_hosted,  // as Slurm's own plugin says
    never,
};

// How it is for as long as this lives; of several the latest counts.
class PreemptionScope {
  public:
    explicit PreemptionScope(Preemption);
    ~PreemptionScope();
    PreemptionScope(const PreemptionScope&) = delete;
    PreemptionScope& operator=(const PreemptionScope&) = delete;

  private:
    std::optional<Preemption> before_;
};

// How it is otherwise; with `gated` the gate outlives that.
void set_preemption(Preemption, controller::PreemptionGate* = nullptr);

// What the plugin asks, of a job that by Slurm's own one, `may_preempt(preemptee, preemptor)`, may
// preempt another.
using MayPreempt = bool (*)(job_record_t* preemptee, job_record_t* preemptor);
bool admits_preemption(job_record_t* preemptor, MayPreempt may_preempt);

// Whom the pending job, as its record is set to an attempt, may preempt by Slurm's own plugin, in
// the order in which Slurm would.
std::vector<JobId> preemptable_by(job_record_t*);

// Whether PreemptType names a plugin of ours.
bool is_preemption_ours();

}  // namespace elastic::slurm
