// SPDX-License-Identifier: MIT
// The snapshot of a cluster of equal nodes, or of a few kinds of them, with its index, kept up to
// date event by event, for who runs many passes over it: the simulator.  (The plugin reads Slurm's
// records into a new snapshot for each pass.)
//
// Times never go back.  Job ids are small and dense: arrays are indexed by them.  Errors of the
// caller (an id that is unknown, a size that is not there) are assertions, not results.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "core/availability/snapshot_index.hpp"
#include "core/model/snapshot.hpp"

namespace elastic::core {

class Cluster {
  public:
    explicit Cluster(int nodes) : Cluster(PoolCounts(1, nodes)) {}
    // Every job may use all pools, in this order.
    explicit Cluster(const PoolCounts& nodes);
    // Which pools jobs may use, by their `eligible`, in the order of pools.  They take the lightest
    // first, of these those that the fewest of the eligibilities of present jobs have.
    Cluster(const PoolCounts& nodes, std::vector<Eligibility> eligibilities,
            std::vector<std::uint32_t> weights);

    // The queue has holes where jobs have started; the index knows them.
    const Snapshot& snapshot() const { return snapshot_; }
    const SnapshotIndex& index() const { return index_; }
    int idle() const { return snapshot_.idle(); }
    int waiting() const { return index_.waiting; }

    void advance(Time now) { snapshot_.now = now; }
    // Joins the end of the queue.  Jobs that start together arrive one behind
    // the other, and all of them start before the next pass, or none.
    void arrive(PendingJob&& job);
    // Joins it before the first job that it comes before, if there is one.
    void arrive(PendingJob&& job, const std::function<bool(JobId)>& comes_before);
    // Several, in the order of the queue, each before those that it comes before.
    void arrive(std::vector<PendingJob>&&, const std::function<bool(JobId, JobId)>& comes_before);
    // Leaves the queue, for reasons of the caller's; it may arrive again.
    void withdraw(JobId);
    // The job waits, and has been said to start then; the first such word is kept until one comes
    // `anew`.
    void promise(JobId, Time start, bool anew = false);
    // From the queue to the running jobs; resizable at once.
    void start(JobId, const PoolCounts& nodes, Time estimated_end);
    void start(JobId id, int nodes, Time estimated_end) {
        start(id, PoolCounts(1, nodes), estimated_end);
    }
    // Books gain, expansions, shrinks and last_resize.
    void resize(JobId, const PoolCounts& held, Time estimated_end);
    void resize(JobId id, int nodes, Time estimated_end) {
        resize(id, PoolCounts(1, nodes), estimated_end);
    }
    // The most that a running job may have from now on; it prefers `pref` nodes, or as many as
    // that.
    void bound(JobId, int most, int pref);
    // What is left of a profile from now on, and when its job ends, which moves while a step waits.
    // A job has a profile for as long as it runs, or never.
    void follow_profile(JobId, EvolutionProfile&& left, Time estimated_end);
    void end(JobId);

    // From the queue onto nodes of which the caller says by share() when they come free.
    void start_on_parts(JobId id) { withdraw(id); }
    // When a node of the pool comes free that jobs share, until now and from now on; nothing where
    // it is idle.
    void share(PoolId, std::optional<Time> before, std::optional<Time> after);
    bool has_shared() const { return !snapshot_.shared_until.empty(); }
    // The job has no room before then, whatever is free.
    void defer(JobId id, Time until) { snapshot_.pending[place_[id]].not_before = until; }

    // With eligibilities of the caller's, whose next number it gets.
    void add_eligibility(const Eligibility&);
    // Of a job that waits or runs.
    void set_eligible(JobId, EligibilityId);
    // Idle ones; a number below 0 takes so many away.
    void add_nodes(PoolId, int nodes);

    void ask(const GrowthRequest& request) { snapshot_.requests.push_back(request); }
    // What nodes of each pool cost from now on, and how many may be used.  For a cluster all of
    // whose pools every job may use.
    void set_supply(const std::vector<double>& prices, std::vector<Budget> budgets);
    // Who may end whom in the next pass; places move with each change of the queue.
    void set_preemptors(std::vector<Preemptor> preemptors) {
        snapshot_.preemptors = std::move(preemptors);
    }
    void forget_requests() { snapshot_.requests.clear(); }

    const RunningJob& running(JobId id) const { return snapshot_.running[place_[id]]; }
    const PendingJob& pending(JobId id) const { return snapshot_.pending[place_[id]]; }

  private:
    PendingJob& leave_queue(JobId);
    void add_shared(PoolId, Time until, int nodes);
    void begin(const PoolCounts& nodes);
    void count(EligibilityId, int jobs);
    void order_pools();
    void compact();
    void drop_holes();

    Snapshot snapshot_;
    SnapshotIndex index_;
    bool has_prices_ = false;
    // With eligibilities of the caller's: as they were given, how many jobs have each, and weights.
    std::vector<Eligibility> given_;
    std::vector<int> jobs_of_;
    std::vector<std::uint32_t> weights_;
    std::vector<std::uint32_t> place_;  // by job id: index into running or pending
};

}  // namespace elastic::core
