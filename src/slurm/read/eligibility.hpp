// SPDX-License-Identifier: GPL-2.0-or-later
// Which nodes a job may use by its constraints: partition, features, hardware, excluded and
// required nodes, reservations.  All of this needs ControllerLock.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/model/snapshot.hpp"
#include "slurm/nodes.hpp"

namespace elastic::slurm {

// Up and not drained, and those that have not reported since slurmctld started but have jobs.
NodeSet usable_nodes();

// Those that a job could start on at once: of no job, and of none or such as share them.
NodeSet idle_nodes();
NodeSet open_nodes();

// Since slurmctld started; their slurmd has not said yet what it is.
NodeSet unreported_nodes();

// Those of the usable nodes, held or not, that the job may use as its record is set: in
// job->part_ptr, with the features and the reservation in use (Trying).  What a running job may
// grow onto has to be awake: Slurm boots nodes for jobs that start only.
NodeSet eligible_nodes(job_record_t*, const NodeSet& usable);

// Whether no other job may use the nodes of this one while it runs.
bool has_whole_nodes(const job_record_t*);

// The sets of eligible nodes among many jobs, each made once and numbered.  Lives only as long as
// one hold of the lock: it refers to texts of Slurm's.
class Eligibilities {
  public:
    Eligibilities();

    struct Set {
        NodeSet nodes;
        NodeSet required;  // of them, which the user names: taken before the others
    };

    core::EligibilityId of(job_record_t*);
    core::EligibilityId none();

    const std::vector<Set>& sets() const { return sets_; }  // by EligibilityId
    // Of the smallest node in the set; 0 if it is empty.
    std::uint32_t least_processors(core::EligibilityId id) const { return least_processors_[id]; }
    const NodeSet& usable() const { return usable_; }

  private:
    // What decides which nodes a job may use: equal constraints, equal sets.
    struct Constraints {
        const part_record_t* partition = nullptr;
        std::string_view features, excluded, required, extra;
        int alternative = -1;  // of a matching OR, by the nodes that the job runs on
        std::uint64_t memory = 0, shape = 0;
        std::uint32_t processors = 0, disk = 0;
        std::uint32_t processor_share = 0;
        std::uint32_t nodes = 0;  // only with `required` or a share
        bool running = false;
        JobId only_of = 0;  // a job that some nodes are closed to alone

        // Only where there are reservations at all:
        std::size_t reservations_ahead = 0;  // that begin before its end
        bool has_limit = false;              // without one Slurm counts the partition's longest
        std::uint32_t whole_node = 0;
        std::uint32_t start_delay = 0;  // that it may cause a reservation, seconds
        std::uint32_t user = 0;         // these only with a reservation of its own
        std::string_view account;
        std::string reservation;  // a copy: a job that tries a magnetic one has its name no longer
        const slurmctld_resv_t* reservation_in_use = nullptr;

        auto operator<=>(const Constraints&) const = default;
    };

    Constraints constraints_of(const job_record_t*) const;
    void add_reservations(const job_record_t*, Constraints&) const;
    template <class Make>
    core::EligibilityId intern(const Constraints&, Make&&);

    NodeSet usable_;
    std::vector<time_t> reservation_begins_;  // ascending
    std::map<Constraints, core::EligibilityId> ids_;
    std::map<Constraints, core::EligibilityId>::iterator last_;
    std::vector<Set> sets_;
    std::vector<std::uint32_t> least_processors_;
};

}  // namespace elastic::slurm
