// SPDX-License-Identifier: GPL-2.0-or-later
// Who may preempt whom (Snapshot::preemptors), by Slurm's own rules.
#pragma once

#include <map>
#include <utility>
#include <vector>

#include "controller/preemption_gate.hpp"
#include "core/model/config.hpp"
#include "slurm/read/cluster_reader.hpp"

namespace elastic::slurm {

class PreemptorReader {
  public:
    PreemptorReader(const core::Config& config, controller::PreemptionGate& gate, Reading& reading)
        : config_(config), gate_(gate), reading_(reading) {}

    // Adds to a snapshot that is complete but for them.  Needs ControllerLock.
    void read(Time now);

  private:
    using Victims = std::vector<JobId>;

    bool is_wanted(const core::PendingJob&, Time now) const;
    void add(std::uint32_t place, Time now);
    const Victims& victims_of(job_record_t*, const Attempt&);

    const core::Config& config_;
    controller::PreemptionGate& gate_;
    Reading& reading_;
    // Of this reading, by partition and QOS: Slurm goes by these alone, unless it is told to go by
    // priorities as well.
    std::map<std::pair<const void*, const void*>, Victims> by_rank_;
    int looks_ = 0;  // at all jobs, in this reading
};

}  // namespace elastic::slurm
