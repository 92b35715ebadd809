// SPDX-License-Identifier: MIT
// The pending jobs in a pass: for which of them something is still to be decided.  The paper's J_p
// ([lina] section 4) is what of Snapshot::pending is not decided; a job is named by its place
// there.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "core/availability/snapshot_index.hpp"
#include "core/model/snapshot.hpp"
#include "core/pass/state/marks.hpp"

namespace elastic::core {

class PendingJobs {
  public:
    // Both must outlive the pass; the index is the snapshot's.
    void begin(const Snapshot&, const SnapshotIndex&);

    bool is_anyone_waiting() const { return undecided_ > 0; }
    bool decided(std::uint32_t pending) const { return decided_[pending]; }
    // How many of its copies are not decided.
    int undecided_copies(std::uint32_t pending) const;
    // Nothing is to be decided any more for the job, or one of its copies.
    void decide(std::uint32_t pending);

    // A job of this id waits for victims, or is to by this plan.  Agreements say for whom they are
    // by that id, which the elements of a job array share: one of them waits at a time.
    bool has_claim(JobId) const;
    void claim(std::uint32_t pending) { claimants_.push_back(snapshot_->pending[pending].id); }

    bool has_backfilled() const { return backfilled_; }
    void note_backfill() { backfilled_ = true; }

  private:
    void mark(std::uint32_t pending);

    const Snapshot* snapshot_ = nullptr;
    const SnapshotIndex* index_ = nullptr;
    Marks decided_;  // starts, or has a claim, and so have all its copies
    std::map<std::uint32_t, int> decided_copies_;  // of a job that has any; if some are left
    int undecided_ = 0;                            // jobs of the queue
    std::vector<JobId> claimants_;                 // that wait for victims
    bool backfilled_ = false;
};

}  // namespace elastic::core
