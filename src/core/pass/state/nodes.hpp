// SPDX-License-Identifier: MIT
// Which nodes are free for whom, now and until when.  The paper's p_c (idle processors, [lina]
// section 4) is idle().
#pragma once

#include <vector>

#include "core/availability/availability_profile.hpp"
#include "core/availability/snapshot_index.hpp"
#include "core/model/snapshot.hpp"

namespace elastic::core {

// Nodes that a job can have.
struct FreeNodes {
    int count = 0;  // of all pools
    PoolCounts by_pool;
};

class Nodes {
  public:
    // Both must outlive the pass; the index is the snapshot's.
    void begin(const Snapshot&, const SnapshotIndex&);

    const AvailabilityProfile& availability() const { return availability_; }
    AvailabilityProfile& availability() { return availability_; }

    // Up to `nodes` eligible nodes that are free now and stay so until `end`.
    FreeNodes available(EligibilityId, int nodes, Time end) const;
    int free_now(EligibilityId) const;
    int idle() const;                                        // free now, of any pool
    int count(EligibilityId) const;                          // idle or not
    int count() const;                                       // of any pool
    int shared(PoolId pool) const { return shared_[pool]; }  // that jobs share, or that come back
    // The next estimated end of a job or of nodes' sharing.
    Time next_end() const;
    // When that many eligible nodes are there if nobody is shrunk and nobody else takes them;
    // kNever if not by the estimates.  A job that has outrun its own may go on for any time, so its
    // nodes are not counted on.
    Time free_without_shrinking(EligibilityId, int nodes) const;

  private:
    std::size_t pools() const { return snapshot_->pools.size(); }
    const Eligibility& eligible(EligibilityId id) const { return snapshot_->eligibilities[id]; }

    const Snapshot* snapshot_ = nullptr;
    const SnapshotIndex* index_ = nullptr;
    AvailabilityProfile availability_;
    PoolCounts idle_;          // as the pass begins
    std::vector<int> shared_;  // by pool
};

}  // namespace elastic::core
