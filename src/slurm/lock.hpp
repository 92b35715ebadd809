// SPDX-License-Identifier: GPL-2.0-or-later
// slurmctld's locks as scopes.
//
// Rules: hold them briefly; never wait for a peer, a file or another thread
// inside; never nest.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>

#include "slurm/compat.hpp"

namespace elastic::slurm {

// How long something took, for `selastic jobs --json` and the benchmarks.
struct LockTimes {
    double last = 0, longest = 0, sum = 0;  // seconds
    std::uint64_t count = 0;
    std::array<double, 256> recent{};  // the last ones, in no order

    void add(double seconds);
    // Of the recent ones: the least time that a share `q` of them did not exceed.
    double quantile(double q) const;
};

// Adds its life time to the times.
class Stopwatch {
  public:
    explicit Stopwatch(LockTimes& times)
        : times_(times), since_(std::chrono::steady_clock::now()) {}
    ~Stopwatch() { times_.add(seconds()); }
    Stopwatch(const Stopwatch&) = delete;
    Stopwatch& operator=(const Stopwatch&) = delete;
    double seconds() const {
        return std::chrono::duration<double>(std::chrono::steady_clock::now() - since_).count();
    }

  private:
    LockTimes& times_;
    std::chrono::steady_clock::time_point since_;
};

// Processor time of this thread: what a hold costs where others take the processors away.
double processor_seconds();

struct LockStatistics {
    LockTimes held;
    LockTimes processor;  // of these holds
};

// Job and node records for writing, the rest for reading.
class ControllerLock {
  public:
    explicit ControllerLock(LockStatistics& times);
    ~ControllerLock();
    ControllerLock(const ControllerLock&) = delete;
    ControllerLock& operator=(const ControllerLock&) = delete;

    double held() const;  // seconds so far

  private:
    LockStatistics& times_;
    std::chrono::steady_clock::time_point since_;
    double processor_;
};

}  // namespace elastic::slurm
