// SPDX-License-Identifier: GPL-2.0-or-later
// Reads Slurm's records into the core's Snapshot.
//
// Pools are made here: two nodes are in one pool if every job known may use
// either both or neither (partitions, features, reservations, excluded nodes,
// hardware).  So the core needs to know none of these, and a plan is as good
// with overlapping partitions as with one.
#pragma once

#include <array>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "controller/refusals.hpp"
#include "core/model/config.hpp"
#include "core/model/snapshot.hpp"
#include "core/model/supply.hpp"
#include "slurm/nodes.hpp"
#include "slurm/read/agreed_nodes.hpp"
#include "slurm/read/queue.hpp"
#include "slurm/records.hpp"

namespace elastic::slurm {

// What a site says of a set of nodes, and which these are.
struct SupplySet {
    core::Terms terms;
    NodeSet nodes;
};

struct View {
    core::Snapshot snapshot;
    // Beside the snapshot's entries, by the same index:
    std::vector<NodeSet> pools;        // the nodes a pool consists of
    std::vector<Queue::Place> places;  // of pending entries
    // Groups that have not begun, by the number of the entry that stands for all of its jobs.
    std::map<JobId, controller::WaitingGroup> groups;
    std::set<JobId> extended;   // entries that stand for more nodes of the group that starts them
    std::set<JobId> in_groups;  // running jobs, by groups of which others wait
    std::vector<Queue::Place> unasked;  // places of requests that Slurm has not been asked about
    std::size_t looked_at = 0;          // places of the queue, in all views, whether there are such
    std::set<JobId> heterogeneous;      // leaders of jobs that wait and cannot be started
    int nodes_in_all = 0;               // that exist
    int node_records = 0;               // in Slurm's table, which may have some to spare
    bool private_jobs = true;           // PrivateData has "jobs"
    std::vector<SupplySet> supply;      // as far as Slurm knows the nodes
    std::vector<std::string> supply_errors;  // what of the supply cannot be in force, and why
    time_t read = 0;                         // when; Slurm's marks of change have this resolution

    // Slurm was reconfigured with other nodes: indices mean something else now.
    bool is_stale() const { return node_records != node_record_count; }

    // Gives each claimed element of an array an entry of its own, before that of the others.
    void split_claimed();

    // The first of the pending entries of that job.
    std::optional<std::size_t> entry_of(JobId) const;

    // The nodes of the pools of which `counts` uses any.
    NodeSet nodes_of(const core::PoolCounts& counts) const;
    NodeSet nodes_of(core::EligibilityId) const;
    core::PoolCounts count(bitstr_t* nodes) const;
};

// Which places of the queue are left out of a view or marked in it; found out while a plan was
// carried out, for the rest of its pass.  Another attempt of the same job may succeed.
class Refusals {
  public:
    // Each of them returns whether that is news.
    bool refuse(const Queue::Place& place) { return hidden_.insert(key(place)).second; }
    bool refuse_more_than_asked(const Queue::Place& place) {
        return limited_to_request_.insert(key(place)).second;
    }
    // By a limit of accounting, which then bars the same user's jobs of as many nodes too: there
    // may be thousands, and only Slurm can say so, one by one.
    bool limit(const Queue::Place&, const job_record_t*, int nodes);
    bool has_limits() const { return !limited_.empty(); }
    // Whether it was not asked before about a job of the same account.
    bool is_first_of_account(const Queue::Place& place, const job_record_t* job) {
        return asked_.insert(account(place, job)).second;
    }

    bool hides(const Queue::Place&, const job_record_t*, int nodes) const;
    bool may_start_larger(const Queue::Place& place) const {
        return limited_to_request_.count(key(place)) == 0;
    }

  private:
    using Key = std::pair<JobId, std::uint32_t>;  // and the attempt's index
    // All that limits are set for: user, association, QOS, attempt (its partition).
    using Account = std::array<std::uint32_t, 4>;

    static Key key(const Queue::Place& place) { return {place.job, place.attempt}; }
    static Account account(const Queue::Place&, const job_record_t*);

    std::set<Key> hidden_;              // Slurm would not start it so now, for reasons of its own
    std::set<Key> limited_to_request_;  // not with more nodes than asked for
    std::map<Account, int> limited_;    // from so many nodes on
    std::set<Account> asked_;
};

// What is known besides Slurm's records.
struct Knowledge {
    const core::Config& config;
    const std::vector<core::Terms>& terms;  // of the supply, now
    const controller::GroupBook& groups;
    AgreedNodes& agreed;
    const std::set<JobId>& claimed;  // pending jobs that victims make room for
    controller::RefusalBook& answers;
};

// Fills all of `view` but promises, claims and requests, which the agreements add.
// Needs ControllerLock.  Jobs of the queue that do not wait any more are left out.
void read_cluster(Time now, const Knowledge&, controller::JobTable&, const Queue&, const Refusals&,
                  View& view);

}  // namespace elastic::slurm
