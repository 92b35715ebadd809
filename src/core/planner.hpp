// SPDX-License-Identifier: MIT
// plan(snapshot, policy, rng) -> Plan, the heart of the project.
//
// [lina] algorithm 1: evolving requests, initial allocation with backfilling,
// shrinking for pending jobs, expanding.  Pure: no I/O, no clock, no threads.
//
// Always holds for every plan (test/property asserts it):
//  - no node is given twice;
//  - every job stays inside [min, max] and on an allowed size;
//  - the reservation of a head job is never later than without the plan;
//  - a victim keeps the node its batch script runs on;
//  - the same snapshot, policy and seed give the same plan.
#pragma once

#include <random>

#include "core/plan.hpp"
#include "core/policy.hpp"
#include "core/snapshot.hpp"

namespace elastic::core {

using Rng = std::mt19937_64;

class Planner {
  public:
    Planner();
    ~Planner();

    // The plan stays valid until the next call.  Keeps its scratch memory
    // between calls, so one planner a thread.
    const Plan& plan(const Snapshot&, const Policy&, Rng&);

  private:
    struct Scratch;
    Scratch* scratch_;
};

}  // namespace elastic::core
