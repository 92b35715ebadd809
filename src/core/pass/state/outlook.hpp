// SPDX-License-Identifier: MIT
// What can be asked in the middle of a pass: the "system state" that the algorithms of [lina]
// section 4 hand on from one to the next, which is what the snapshot says, less what this plan has
// decided so far.
//
// The paper's p_c (idle processors) is idle(), J_r is snapshot().running, and J_p is what of
// snapshot().pending is not decided.
//
// Nothing here changes anything: choices see an Outlook, and only stages have the Books behind it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "core/availability/holding.hpp"
#include "core/availability/occupation.hpp"
#include "core/availability/profile.hpp"
#include "core/availability/snapshot_index.hpp"
#include "core/model/policy.hpp"
#include "core/model/snapshot.hpp"
#include "core/pass/state/marks.hpp"

namespace elastic::core {

// A victim's part in an agreement: which nodes it gives up, how many of those by
// pool the beneficiary uses (an allowed size may free more), and what it keeps.
struct Shrinkage {
    std::uint32_t victim = 0;  // index into Snapshot::running
    PoolCounts nodes, used;
    int size_after = 0;
};

// A reservation in force, for Snapshot::pending[job].
struct Reservation {
    std::uint32_t job = 0;
    Time from = 0, to = 0;
    PoolCounts nodes;    // when it starts
    Occupations layers;  // all that it takes, `nodes` included, if that is more than those
};

// What is taken for the steps that a job with an evolution profile has before it.
struct LaterSteps {
    JobId job = 0;
    Occupations gains;
    Occupations given;  // its own nodes, which come free at `from` and not only at `to`
};

// Nodes that a job can have.
struct FreeNodes {
    int count = 0;  // of all pools
    PoolCounts by_pool;
};

class Outlook {
  public:
    const Snapshot& snapshot() const { return *snapshot_; }
    const Policy& policy() const { return *policy_; }
    const SnapshotIndex& index() const { return *index_; }
    const Profile& profile() const { return profile_; }
    const std::vector<Reservation>& reservations() const { return reservations_; }
    std::ptrdiff_t reservations_of(std::uint32_t pending) const;
    std::size_t pools() const { return snapshot_->pools.size(); }
    const Eligibility& eligible(EligibilityId id) const { return snapshot_->eligibilities[id]; }

    // When a job ends by its estimate: never before profile().soon().
    Time end_of(const RunningJob&) const;
    // If it starts now; it takes longer at less than its preferred size.
    Time end_of(const PendingJob&, int size) const;
    // With another size, the cost of the resize included.
    Time end_after_resize(const RunningJob&, int size_after) const;
    // After giving up nodes: it takes longer, and so does the resize itself.
    Time end_after_shrink(const RunningJob&, int size_after) const;
    // Malleable, takes part, no action or request, and its resize gap is over.
    bool may_resize(std::uint32_t running) const;
    // The same whether or not its gap is over: for what cannot wait.
    bool may_be_asked(std::uint32_t running) const;

    // With ReservedNodes=lent a reservation counts on what malleable jobs hold above their smallest
    // size as if it came free as soon as they may be resized.  When the job can give back nodes
    // that it takes now; its end if it is lent nothing.
    Time returns_at(std::uint32_t running) const;
    // What it holds now, and if it is resized now.
    Holding holding(std::uint32_t running) const;
    Holding holding_after(const Shrinkage&) const;
    Holding holding_after(std::uint32_t running, const PoolCounts& more) const;
    // Whether these nodes are free now, and all reservations stand if the job takes them.
    bool may_grow(std::uint32_t running, const PoolCounts& more) const;

    // Up to `nodes` eligible nodes that are free now and stay so until `end`.
    FreeNodes available(EligibilityId, int nodes, Time end) const;
    int free_now(EligibilityId) const;
    int nodes_in(EligibilityId) const;  // idle or not
    int idle() const;                   // free now, of any pool
    int nodes() const;                  // of any pool
    // Whether the job has no room yet, whatever is free (PendingJob::not_before).
    bool is_deferred(const PendingJob& job) const { return job.not_before > snapshot_->now; }
    Time next_end() const;  // the next estimated end of a job or of nodes' sharing
    // When that many eligible nodes are there if nobody is shrunk and nobody else takes them;
    // kNever if not by the estimates.  A job that has outrun its own may go on for any time, so its
    // nodes are not counted on.
    Time free_without_shrinking(EligibilityId, int nodes) const;
    int shared_nodes(PoolId pool) const { return shared_[pool]; }
    // Times at which nodes are taken that are free before: by reservations and by the later steps
    // of evolution profiles.  Between them nodes only come free.
    const std::vector<Time>& falls() const { return falls_; }
    Time first_fall() const;  // kNever if there is none
    bool has_later_steps() const {
        return std::ranges::any_of(later_, [](const auto& one) { return !one.gains.empty(); });
    }
    // How long a running job is to keep what it lacks of its present step: until the step that has
    // fewer nodes again, or its end.
    Time end_of_growth(const RunningJob&) const;
    int equal_share() const;  // computed once (equal_share.hpp)
    double even_use() const;  // of those that grow, computed once (even_use.hpp)

    bool is_anyone_waiting() const { return undecided_ > 0; }
    bool has_backfilled() const { return backfilled_; }
    bool touched(std::uint32_t running) const { return touched_[running]; }
    bool decided(std::uint32_t pending) const { return decided_[pending]; }
    // How many of its copies are not decided.
    int undecided_copies(std::uint32_t pending) const;
    // A job of this id waits for victims, or is to by this plan.  Agreements say for whom they are
    // by that id, which the elements of a job array share: one of them waits at a time.
    bool has_claim(JobId) const;
    // Index of a running job by its id, snapshot().running.size() if there is none.
    std::uint32_t find_running(JobId) const;

  protected:
    Outlook() = default;

    // The earliest time at which the job may be resized if it was last at `resized`.
    Time may_resize_from(const RunningJob&, Time resized) const;

    const Snapshot* snapshot_ = nullptr;
    const SnapshotIndex* index_ = nullptr;
    const Policy* policy_ = nullptr;
    Profile profile_;
    std::vector<Reservation> reservations_;
    Marks reserved_;  // by pending job: has, or had, a reservation
    std::vector<LaterSteps> later_;
    std::vector<Time> falls_;  // in no order
    Marks touched_;            // by running job: has its action
    Marks asks_;               // by running job: its request is its one agreement
    Marks decided_;            // by pending job: starts, or has a claim, and so have all its copies
    Marks returns_;            // by running job: reservations count on what it can give back
    std::map<std::uint32_t, int> decided_copies_;  // by pending job that has any; if some are left
    int undecided_ = 0;                            // entries of the queue
    std::vector<JobId> claimants_;                 // that wait for victims
    bool backfilled_ = false;
    std::vector<int> shared_;                                     // by pool
    std::vector<std::pair<JobId, std::uint32_t>> running_by_id_;  // ascending; if needed at all
    mutable int equal_share_ = -1;                                // not computed yet
    mutable double even_use_ = -1;                                // likewise
    mutable std::vector<std::pair<int, int>> ranges_;             // its scratch: minima and maxima

  private:
    Holding hold(std::uint32_t running, const PoolCounts& nodes, Time end, Time resized) const;
    Duration resize_gap(const RunningJob&) const;
};

}  // namespace elastic::core
