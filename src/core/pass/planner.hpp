// SPDX-License-Identifier: MIT
// plan(snapshot, policy, rng) -> Plan, the heart of the project.
//
// [lina] algorithm 1: evolving requests, initial allocation with backfilling, shrinking for pending
// jobs, expanding.  Pure: no I/O, no clock, no threads.
//
// Always holds for every plan (test/property asserts it):
//  - no node is given twice;
//  - every job stays inside [min, max] and on an allowed size;
//  - a job's reservation is not delayed by anything the plan does after the evolving requests,
//    which come before pending jobs ([lina] section 4): with the plan carried out, and every job
//    ending by its estimate, the reserved nodes are free at the reserved time;
//  - a victim keeps the node its batch script runs on;
//  - the same snapshot, policy and seed give the same plan.
#pragma once

#include <memory>

#include "core/availability/cluster.hpp"
#include "core/model/plan.hpp"
#include "core/model/policy.hpp"
#include "core/model/rng.hpp"
#include "core/model/snapshot.hpp"

namespace elastic::core {

class Planner {
  public:
    // What a plan says besides who starts and who is resized.
    enum class Detail {
        all,
        // For who has nothing to choose: no spare nodes, and under a policy that resizes nobody and
        // bounds no delay only those reservations by which it is known who can start now.
        needed,
    };

    explicit Planner(Detail = Detail::all);
    ~Planner();

    // The snapshot has passed validate().  The plan stays valid until the next call.  Keeps its
    // scratch memory between calls, so one planner a thread.
    const Plan& plan(const Snapshot&, const Policy&, Rng&);
    const Plan& plan(const Cluster&, const Policy&, Rng&);

  private:
    const Plan& pass(const Snapshot&, const SnapshotIndex&, const Policy&, Rng&);

    struct Scratch;
    std::unique_ptr<Scratch> scratch_;
    const Detail detail_;
};

}  // namespace elastic::core
