// SPDX-License-Identifier: GPL-2.0-or-later
// What sdiag shows of the scheduler.
#pragma once

#include <cstddef>

#include "core/model/plan.hpp"

namespace elastic::slurm {

// A planning pass, as Slurm's loops count their cycles.
struct Cycle {
    double length = 0;          // seconds
    std::size_t queue = 0;      // ways to start a job that Slurm's queue had
    std::size_t looked_at = 0;  // ... that were in the snapshot
    std::size_t decided = 0;    // ... that the plan starts or reserves for
    std::size_t reserved = 0;   // ... that it reserves for

    void count(const core::Plan&);
};

// As a cycle of Slurm's main loop and as one of its backfill: a pass does the work of both.
void count_cycle(const Cycle&);

// A job has started ahead of one that waits.
void count_backfilled();

}  // namespace elastic::slurm
