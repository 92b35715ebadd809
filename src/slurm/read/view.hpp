// SPDX-License-Identifier: GPL-2.0-or-later
// Slurm's records as the core's Snapshot, and what is known of its entries beside that.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <vector>

#include "controller/pass_refusals.hpp"
#include "controller/refusal_book.hpp"
#include "controller/scheduler_parameters.hpp"
#include "core/model/config.hpp"
#include "core/model/snapshot.hpp"
#include "slurm/nodes.hpp"
#include "slurm/read/agreed_nodes.hpp"
#include "slurm/read/planned_starts.hpp"
#include "slurm/read/queue.hpp"
#include "slurm/read/supply_sets.hpp"
#include "slurm/records.hpp"

namespace elastic::slurm {

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
    std::vector<Time> free_from;    // by node, by the estimate of who has it; kNever: not to be had
    NodeSet planned;                // that Slurm's backfill has planned for jobs (Starts=slurm)
    bool stages_in = false;         // a job waits for its burst buffer to be filled
    bool wants_forecast = false;    // ... which begins when a start is expected of it
    int nodes_in_all = 0;           // that exist
    int node_records = 0;           // in Slurm's table, which may have some to spare
    bool private_jobs = true;       // PrivateData has "jobs"
    std::vector<SupplySet> supply;  // as far as Slurm knows the nodes
    std::vector<std::string> supply_errors;  // what of the supply cannot be in force, and why
    time_t read = 0;                         // when; Slurm's marks of change have this resolution

    // Slurm was reconfigured with other nodes: indices mean something else now.
    bool is_stale() const { return node_records != node_record_count; }

    // Gives each claimed element of an array an entry of its own, before that of the others.
    void split_claimed();

    // The first of the pending entries of that job.
    std::optional<std::size_t> index_of(JobId) const;

    // The nodes of the pools of which `counts` uses any.
    NodeSet nodes_of(const core::PoolCounts& counts) const;
    NodeSet nodes_of(core::EligibilityId) const;
    core::PoolCounts count(bitstr_t* nodes) const;
};

// What a view is made of besides Slurm's records.
struct Knowledge {
    Time now = 0;
    const core::Config& config;
    const controller::SchedulerParameters& parameters;
    const std::vector<core::Terms>& terms;  // of the supply, now
    const Queue& queue;
    const controller::PassRefusals& refusals;
    controller::RefusalBook& answers;
    controller::JobTable& jobs;
    const controller::GroupBook& groups;
    const core::Experience* experience;  // null: what jobs declare is believed
    AgreedNodes& agreed;
    PlannedStarts& planned;
    const std::set<JobId>& claimed;  // pending jobs that victims make room for
};

// Fills all of `view` but promises, claims and requests, which the agreements add. Needs
// ControllerLock.  Jobs of the queue that do not wait any more are left out.
void read_cluster(const Knowledge&, View& view);

}  // namespace elastic::slurm
