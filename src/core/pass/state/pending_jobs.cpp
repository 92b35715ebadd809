// SPDX-License-Identifier: MIT
// A job stands in the queue once for all of its copies, and more than once where it may start in
// several partitions: a decision is about one copy, and about all alternatives.  Of jobs that start
// together the first place stands for all: about the others there is nothing to decide.
#include "core/pass/state/pending_jobs.hpp"

#include <algorithm>

namespace elastic::core {

void PendingJobs::begin(const Snapshot& snapshot, const SnapshotIndex& index) {
    snapshot_ = &snapshot;
    index_ = &index;
    decided_.reset(snapshot.pending.size());
    decided_copies_.clear();
    claimants_.clear();
    undecided_ = index.waiting;
    backfilled_ = false;
    for (const std::uint32_t follower : index.followers) mark(follower);
}

int PendingJobs::undecided_copies(std::uint32_t pending) const {
    if (decided_[pending]) return 0;
    const auto some = decided_copies_.find(pending);
    return snapshot_->pending[pending].copies - (some == decided_copies_.end() ? 0 : some->second);
}

void PendingJobs::mark(std::uint32_t pending) {
    if (!decided_[pending]) --undecided_;
    decided_.set(pending);
}

void PendingJobs::decide(std::uint32_t pending) {
    const std::vector<PendingJob>& queue = snapshot_->pending;
    if (undecided_copies(pending) > 1)
        ++decided_copies_[pending];
    else
        mark(pending);
    if (!index_->alternatives) return;
    for (std::uint32_t i = 0; i < queue.size(); ++i)
        if (queue[i].id == queue[pending].id &&
            (queue[i].alternative || queue[pending].alternative))
            mark(i);
}

bool PendingJobs::has_claim(JobId id) const {
    return std::ranges::find(claimants_, id) != claimants_.end();
}

}  // namespace elastic::core
