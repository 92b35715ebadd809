// SPDX-License-Identifier: MIT
// The running jobs in a pass: which of them may be resized, and when the nodes of each can be had
// by others.  The paper's J_r ([lina] section 4) is Snapshot::running; a job is named by its index
// there.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "core/availability/availability_profile.hpp"
#include "core/availability/holding.hpp"
#include "core/model/snapshot.hpp"
#include "core/pass/state/job_times.hpp"
#include "core/pass/state/marks.hpp"

namespace elastic::core {

// A victim's part in an agreement: the nodes that it gives up, how many of them the beneficiary
// uses (an allowed size may free more), and the size that it keeps.
struct Shrinkage {
    std::uint32_t victim = 0;  // index into Snapshot::running
    PoolCounts nodes, used;
    int size_after = 0;
};

class RunningJobs {
  public:
    // Both must outlive the pass.
    void begin(const Snapshot&, const JobTimes&);

    // The index of a job, Snapshot::running.size() if there is none of that id.  Only in a snapshot
    // with promises or requests.
    std::uint32_t find(JobId) const;

    // Malleable, takes part, no action or request, and its resize gap is over.
    bool may_resize(std::uint32_t running) const;
    // The same whether or not its gap is over: for what cannot wait.
    bool may_be_asked(std::uint32_t running) const;
    // It has its action.
    bool touched(std::uint32_t running) const { return touched_[running]; }
    void touch(std::uint32_t running) { touched_.set(running); }

    // With ReservedNodes=lent a reservation counts on what malleable jobs hold above their smallest
    // size as if it came free as soon as they may be resized: from now on it does.
    void count_on_returns(AvailabilityProfile&);
    // When the job can give back nodes that it takes now; its end if it is lent nothing.
    Time returns_at(std::uint32_t running) const;
    // The job's nodes as it is, and if it is resized now.
    Holding holding(std::uint32_t running) const;
    Holding holding_after(const Shrinkage&) const;
    Holding holding_after(std::uint32_t running, const PoolCounts& more) const;

  private:
    const RunningJob& job(std::uint32_t running) const { return snapshot_->running[running]; }
    Holding hold(std::uint32_t running, const PoolCounts& nodes, Time end, Time resized) const;
    void index_by_id();

    const Snapshot* snapshot_ = nullptr;
    const JobTimes* times_ = nullptr;
    Marks touched_;
    Marks asks_;     // its request is its one agreement
    Marks returns_;  // reservations count on what it can give back
    std::vector<std::pair<JobId, std::uint32_t>> by_id_;  // ascending; if needed at all
    PoolCounts returnable_;                               // scratch
};

}  // namespace elastic::core
