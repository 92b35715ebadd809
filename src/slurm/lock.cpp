// SPDX-License-Identifier: GPL-2.0-or-later
// Everything that starts or resizes a job needs the job and node records for writing and the rest
// for reading; there is one set of locks for that, so that the order of locking can never differ
// between two places.
#include "slurm/lock.hpp"

#include <ctime>

#include "slurm/withheld_nodes.hpp"

namespace elastic::slurm {

double processor_seconds() {
    timespec time{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

LockStatistics& lock_statistics() {
    static LockStatistics statistics;
    return statistics;
}

ControllerLock::ControllerLock() {
    lock_slurmctld(compat::kLocks);
    since_ = std::chrono::steady_clock::now();
    processor_ = processor_seconds();
    withheld_nodes().show();
    no_preemption_.emplace(Preemption::never);
}

double ControllerLock::held() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - since_).count();
}

ControllerLock::~ControllerLock() {
    no_preemption_.reset();
    withheld_nodes().hide();
    double seconds = held(), processor = processor_seconds() - processor_;
    unlock_slurmctld(compat::kLocks);
    lock_statistics().held.add(seconds);
    lock_statistics().processor.add(processor);
}

}  // namespace elastic::slurm
