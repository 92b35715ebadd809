// SPDX-License-Identifier: MIT
// The "system state" that the algorithms of [lina] section 4 hand on from one
// to the next: what the snapshot says, less what this plan has decided so far.
//
// The paper's p_c (idle processors) is profile().free_now, J_r is
// snapshot().running, J_p is what of snapshot().pending is not decided, and the
// agreement list A and the list of jobs to start J_s are the plan's actions.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "core/availability/claims.hpp"
#include "core/availability/holding.hpp"
#include "core/availability/profile.hpp"
#include "core/availability/snapshot_index.hpp"
#include "core/model/plan.hpp"
#include "core/model/policy.hpp"
#include "core/model/snapshot.hpp"
#include "core/pass/planner.hpp"

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
    PoolCounts nodes;
};

// A set of places that is emptied at no cost.
class Marks {
  public:
    void reset(std::size_t places) {
        if (marked_.size() < places) marked_.resize(places, 0);
        if (++round_ == 0) std::fill(marked_.begin(), marked_.end(), round_++);
    }
    void set(std::uint32_t place) { marked_[place] = round_; }
    bool operator[](std::uint32_t place) const { return marked_[place] == round_; }

  private:
    std::uint32_t round_ = 0;
    std::vector<std::uint32_t> marked_;  // the round in which it was
};

class SystemState {
  public:
    // All must outlive the pass; the index is that of the snapshot.
    void begin(const Snapshot&, const SnapshotIndex&, const Policy&, Rng&);

    const Snapshot& snapshot() const { return *snapshot_; }
    const Policy& policy() const { return *policy_; }
    const SnapshotIndex& index() const { return *index_; }
    Rng& rng() const { return *rng_; }
    Profile& profile() { return profile_; }
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
    bool may_resize(
        std::uint32_t running) const;  // malleable, takes part, no action or request, gap is over

    // With ReservedNodes=lent a reservation counts on what malleable jobs hold above their smallest
    // size as if it came free as soon as they may be resized.  When the job can give back nodes
    // that it takes now; its end if it is lent nothing.
    Time returns_at(std::uint32_t running) const;
    // What it holds now, and if it is resized now.
    Holding holding(std::uint32_t running) const;
    Holding holding_after(const Shrinkage&) const;
    Holding holding_after(std::uint32_t running, const PoolCounts& more) const;
    // Whether these nodes are free now, and all reservations stand if the job takes them.
    bool may_grow(std::uint32_t running, const PoolCounts& more);

    // Up to `nodes` eligible nodes that are free now and stay so until `end`.
    int available(EligibilityId, int nodes, Time end, PoolCounts& counts);
    int free_now(EligibilityId) const;
    int nodes_in(EligibilityId) const;  // idle or not
    int idle() const;                   // free now, of any pool
    int nodes() const;                  // of any pool
    Time next_end() const;              // the next estimated end of a job or of nodes' sharing
    // When that many eligible nodes are there if nobody is shrunk and nobody else takes them;
    // kNever if not by the estimates.
    Time free_without_shrinking(EligibilityId, int nodes) const;
    bool is_anyone_waiting() const { return undecided_ > 0; }
    bool has_backfilled() const { return backfilled_; }
    int equal_share() const;  // computed once (equal_share.hpp)
    bool touched(std::uint32_t running) const { return touched_[running]; }
    bool decided(std::uint32_t pending) const { return decided_[pending]; }
    const Claims& claims() const { return claims_; }
    int shared_nodes(PoolId pool) const { return shared_[pool]; }
    // Index of a running job by its id, snapshot().running.size() if there is none.
    std::uint32_t find_running(JobId) const;
    std::vector<Reservation>& reservations() { return reservations_; }
    Time first_reservation() const;

    // Books what has been promised, and marks a job for which nothing is to be decided any more.
    void book_growth(std::uint32_t running, const PoolCounts& more);
    void book_shrink(const Shrinkage&, Time beneficiary_end);
    void decide(std::uint32_t pending);

    // Decisions.  Each books the nodes, marks the jobs and adds to the plan.
    // `idle` are nodes that are free now.
    void start(std::uint32_t pending, const PoolCounts& idle, int size, Reason);
    void start_by_shrinking(std::uint32_t pending, const PoolCounts& idle, int size,
                            const std::vector<Shrinkage>&);
    void grant(const GrowthRequest&, std::uint32_t running, const PoolCounts& idle,
               const std::vector<Shrinkage>&);
    void deny(const GrowthRequest&, Reason);
    void expand(std::uint32_t running, const PoolCounts& idle, int size_after, Reason);
    void keep(const Promise& offer);
    void withdraw(const Promise& offer);
    void reserve(const Reservation&);
    void announce_reservations();  // as actions, once they are final

    // Moves withdrawals to the front: their nodes are given to others.
    const Plan& finish();

  private:
    void index_running_jobs();
    void count_on_returns();
    Holding hold(std::uint32_t running, const PoolCounts& nodes, Time end, Time resized) const;
    Time may_resize_from(const RunningJob&, Time resized) const;
    void shrink(const Shrinkage&, JobId beneficiary, Time beneficiary_end, Reason);
    Action& add(ActionKind, Reason, JobId, const PoolCounts& nodes);

    const Snapshot* snapshot_ = nullptr;
    const SnapshotIndex* index_ = nullptr;
    const Policy* policy_ = nullptr;
    Rng* rng_ = nullptr;
    Profile profile_;
    Plan plan_;
    Marks touched_;          // by running job: has its action
    Marks asks_;             // by running job: its request is its one agreement
    Marks decided_;          // by pending job: starts, or has a claim
    Marks returns_;          // by running job: reservations count on what it can give back
    PoolCounts returnable_;  // scratch
    bool withdraws_ = false;
    int undecided_ = 0;  // pending jobs
    bool backfilled_ = false;
    mutable int equal_share_ = -1;                                // not computed yet
    mutable std::vector<std::pair<int, int>> ranges_;             // its scratch: minima and maxima
    std::vector<int> shared_;                                     // by pool
    std::vector<std::pair<JobId, std::uint32_t>> running_by_id_;  // ascending; if needed at all
    Claims claims_;
    std::vector<Reservation> reservations_;
};

}  // namespace elastic::core
