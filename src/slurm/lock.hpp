// SPDX-License-Identifier: GPL-2.0-or-later
// slurmctld's locks as scopes.
//
// Rules: hold them briefly; never wait for a peer, a file or another thread inside; never nest, but
// as it is said below.
#pragma once

#include <chrono>
#include <optional>

#include "controller/times.hpp"
#include "slurm/compat/compat.hpp"
#include "slurm/preemption.hpp"

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

// Job and node records for writing, the rest for reading; nothing is preempted by what is done
// inside. Only for the thread that plans and acts.
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
    std::optional<PreemptionScope> no_preemption_;
};

// slurm.conf for writing, and nothing else.
class ConfigurationLock {
  public:
    ConfigurationLock() {
        locks_.conf = WRITE_LOCK;
        lock_slurmctld(locks_);
    }
    ~ConfigurationLock() { unlock_slurmctld(locks_); }
    ConfigurationLock(const ConfigurationLock&) = delete;
    ConfigurationLock& operator=(const ConfigurationLock&) = delete;

  private:
    slurmctld_lock_t locks_{};
};

// Associations, QOS and the list of resources, the last for reading in any case; inside
// ControllerLock.
class AssociationLock {
  public:
    explicit AssociationLock(lock_level_t level) {
        locks_.assoc = locks_.qos = level;
        locks_.tres = READ_LOCK;
        assoc_mgr_lock(&locks_);
    }
    ~AssociationLock() { assoc_mgr_unlock(&locks_); }
    AssociationLock(const AssociationLock&) = delete;
    AssociationLock& operator=(const AssociationLock&) = delete;

  private:
    assoc_mgr_lock_t locks_{};
};

}  // namespace elastic::slurm
