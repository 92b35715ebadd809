// SPDX-License-Identifier: GPL-2.0-or-later
// Reads Slurm's records into the core's Snapshot.
//
// Pools are made here: two nodes are in one pool if every job known may use
// either both or neither (partitions, features, reservations, excluded nodes,
// hardware).  So the core needs to know none of these, and a plan is as good
// with overlapping partitions as with one.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "core/snapshot.hpp"
#include "slurm/job_table.hpp"
#include "slurm/nodes.hpp"

namespace elastic::slurm {

struct View {
    core::Snapshot snapshot;
    // Beside the snapshot's entries, by the same index:
    std::vector<NodeSet> pools;           // the nodes a pool consists of
    std::vector<std::string> partitions;  // of pending jobs: where this entry would start
    int nodes_in_all = 0;
    // PrivateData has "jobs": users see their own only.  Kept here because slurm_conf, read without
    // the lock, is all zeros while slurmctld reads slurm.conf.
    bool private_jobs = true;
    time_t read = 0;  // when; Slurm's marks of change have this resolution

    // The nodes of the pools of which `counts` uses any.
    NodeSet nodes_of(const core::PoolCounts& counts) const;
    NodeSet nodes_of(core::EligibilityId) const;
    core::PoolCounts count(bitstr_t* nodes) const;
};

// Which jobs are left out of a view or marked in it; found out while a plan was
// carried out.
struct Refusals {
    std::set<core::JobId> hidden;  // Slurm would not start them now, for reasons of its own
    std::set<core::JobId> no_shared_room;
};

// The jobs that wait, in Slurm's order.  Making it is the larger part of reading the cluster and
// Slurm's own work, so it has a hold of the lock for itself: names and ids, no records, stay valid
// between two holds.
class Queue {
  public:
    struct Place {
        core::JobId job = 0;
        std::uint32_t partition = 0;  // index into partitions()
    };

    // Needs ControllerLock (Slurm splits job arrays while it sorts).
    void read();
    // Frees what Slurm made; to be called without the lock, for it takes a while.
    void free_records() { records_.reset(); }

    const std::vector<Place>& places() const { return places_; }
    const std::vector<std::string>& partitions() const { return partitions_; }

  private:
    struct FreeList {
        void operator()(xlist* list) const { FREE_NULL_LIST(list); }
    };

    std::unique_ptr<xlist, FreeList> records_;
    std::vector<Place> places_;
    std::vector<std::string> partitions_;
};

// Whether no other job may use the nodes of this one while it runs.
bool has_whole_nodes(const job_record_t*);

// The nodes in a partition that a job may use by its constraints, now: usable
// ones, held or not.  For jobs that a snapshot may not know yet.
NodeSet eligible_nodes(job_record_t* job, const part_record_t* partition);

// Fills all of `view` but promises and requests, which the agreements add.
// Needs ControllerLock.  Jobs of the queue that do not wait any more are left out.
void read_cluster(Time now, JobTable&, const Queue&, const Refusals&, View& view);

}  // namespace elastic::slurm
