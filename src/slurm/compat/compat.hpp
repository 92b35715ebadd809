// SPDX-License-Identifier: GPL-2.0-or-later
// Slurm's internal headers, and everything that differs between its versions: chooses the header of
// the version that is built against.  Only files of this folder know a version number; the rest of
// src/slurm calls Slurm directly where the interface has not changed, and the functions of `compat`
// where it has.
#pragma once

#include <atomic>  // before Slurm's headers: they define macros that upset it
#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

extern "C" {
#include "config.h"

#include <slurm/slurm.h>
#include <slurm/slurm_errno.h>
}

// Whether this Slurm is of a release or of a later one.
#define SLURM_SINCE(year, month) (SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(year, month, 0))

#if SLURM_SINCE(22, 5) && !SLURM_SINCE(23, 2)
#include "slurm/compat/slurm_22_05.hpp"
#elif SLURM_SINCE(23, 11) && !SLURM_SINCE(26, 11)
#include "slurm/compat/slurm_23_11.hpp"
#else
#error "this Slurm is not supported yet: src/slurm/compat needs a header for its version"
#endif

// Slurm names functions like common C++ ones.
#undef error
#undef max
#undef min

namespace elastic::slurm {

inline constexpr char kBuiltForSlurm[] = SLURM_VERSION_STRING;

// The same in all versions so far.
namespace compat {

// Whether this slurmctld was executed by the one before, to be reconfigured; since 23.11 all are.
inline bool is_executed_anew() {
    return getenv("SLURMCTLD_RECONF") != nullptr;
}

// With which PreemptMode jobs preempt others by their priorities, too.
#ifdef PREEMPT_MODE_PRIORITY
inline constexpr std::uint32_t kPreemptsByPriority = PREEMPT_MODE_WITHIN | PREEMPT_MODE_PRIORITY;
#else
inline constexpr std::uint32_t kPreemptsByPriority = PREEMPT_MODE_WITHIN;
#endif

// When a reservation takes its nodes.  A floating one keeps its distance from now.
inline time_t begin_of(const slurmctld_resv_t* reservation, time_t now) {
    return reservation->flags & RESERVE_FLAG_TIME_FLOAT ? now + reservation->start_time
                                                        : reservation->start_time_first;
}

// Whether a reservation will take its nodes for maintenance or has them.  A floating one is always
// as far away.
inline bool is_maintenance(const slurmctld_resv_t* reservation, time_t now) {
    return (reservation->flags & RESERVE_FLAG_MAINT) && reservation->node_bitmap &&
           !(reservation->flags & RESERVE_FLAG_TIME_FLOAT) && reservation->end_time > now;
}

}  // namespace compat

}  // namespace elastic::slurm
