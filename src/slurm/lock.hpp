// SPDX-License-Identifier: GPL-2.0-or-later
// slurmctld's locks as scopes.
//
// Rules: hold them briefly; never wait for a peer, a file or another thread
// inside; never nest.
#pragma once

#include <chrono>

#include "controller/times.hpp"
#include "slurm/compat/compat.hpp"

namespace elastic::slurm {

constexpr double kLongestHold = 0.002;  // seconds, of a series of changes; then others get a turn

// Processor time of this thread: what a hold costs where others take the processors away.
double processor_seconds();

struct LockStatistics {
    controller::Times held;
    controller::Times processor;  // of these holds
};

// Of all holds; only to be used by the thread that plans and acts.
LockStatistics& lock_statistics();

// Job and node records for writing, the rest for reading.
class ControllerLock {
  public:
    ControllerLock();
    ~ControllerLock();
    ControllerLock(const ControllerLock&) = delete;
    ControllerLock& operator=(const ControllerLock&) = delete;

    double held() const;  // seconds so far

  private:
    std::chrono::steady_clock::time_point since_;
    double processor_;
};

}  // namespace elastic::slurm
