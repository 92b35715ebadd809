// SPDX-License-Identifier: MIT
// What can be asked in the middle of a pass: the "system state" that the algorithms of [lina]
// section 4 hand on from one to the next, which is what the snapshot says, less what this plan has
// decided so far.  Its parts are who runs, who waits, which nodes are free, what is reserved, and
// when jobs end; whoever needs one part takes that.
//
// Nothing here changes anything: choices see a SystemState, and only stages have the Schedule of
// which it is the state.
#pragma once

#include <utility>
#include <vector>

#include "core/availability/snapshot_index.hpp"
#include "core/model/policy.hpp"
#include "core/model/snapshot.hpp"
#include "core/pass/state/job_times.hpp"
#include "core/pass/state/nodes.hpp"
#include "core/pass/state/pending_jobs.hpp"
#include "core/pass/state/reservations.hpp"
#include "core/pass/state/running_jobs.hpp"

namespace elastic::core {

class SystemState {
  public:
    const Snapshot& snapshot() const { return *snapshot_; }
    const Policy& policy() const { return *policy_; }
    const SnapshotIndex& index() const { return *index_; }
    std::size_t pools() const { return snapshot_->pools.size(); }
    const Eligibility& eligible(EligibilityId id) const { return snapshot_->eligibilities[id]; }

    const JobTimes& times() const { return times_; }
    const Nodes& nodes() const { return nodes_; }
    const AvailabilityProfile& availability() const { return nodes_.availability(); }
    const RunningJobs& running() const { return running_; }
    const PendingJobs& queue() const { return queue_; }
    const Reservations& reservations() const { return reservations_; }

    // Whether these nodes are free now, and all reservations stand if the job takes them.
    bool may_grow(std::uint32_t running, const PoolCounts& more) const;
    int equal_share() const;  // computed once (equal_share.hpp)
    double even_use() const;  // of those that grow, computed once (even_use.hpp)

  protected:
    SystemState() = default;
    void begin(const Snapshot&, const SnapshotIndex&, const Policy&);

    const Snapshot* snapshot_ = nullptr;
    const SnapshotIndex* index_ = nullptr;
    const Policy* policy_ = nullptr;
    JobTimes times_;
    Nodes nodes_;
    RunningJobs running_;
    PendingJobs queue_;
    Reservations reservations_;

  private:
    mutable int equal_share_ = -1;                     // not computed yet
    mutable double even_use_ = -1;                     // likewise
    mutable std::vector<std::pair<int, int>> ranges_;  // its scratch: minima and maxima
};

}  // namespace elastic::core
