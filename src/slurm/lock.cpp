// SPDX-License-Identifier: GPL-2.0-or-later
// Everything that starts or resizes a job needs the job and node records for
// writing and the rest for reading; there is one set of locks for that, so that
// the order of locking can never differ between two places.
#include "slurm/lock.hpp"

#include <algorithm>

namespace elastic::slurm {

namespace {

constexpr slurmctld_lock_t kLocks = {READ_LOCK, WRITE_LOCK, WRITE_LOCK, READ_LOCK, READ_LOCK};

}  // namespace

void LockTimes::add(double seconds) {
    last = seconds;
    longest = std::max(longest, seconds);
    sum += seconds;
    recent[count++ % recent.size()] = seconds;
}

double LockTimes::quantile(double q) const {
    auto size = std::min<std::size_t>(count, recent.size());
    if (size == 0) return 0;
    auto sorted = recent;
    auto at = sorted.begin() + static_cast<std::ptrdiff_t>(q * static_cast<double>(size - 1));
    std::nth_element(sorted.begin(), at, sorted.begin() + static_cast<std::ptrdiff_t>(size));
    return *at;
}

ControllerLock::ControllerLock(LockTimes& times) : times_(times) {
    lock_slurmctld(kLocks);
    since_ = std::chrono::steady_clock::now();
}

double ControllerLock::held() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - since_).count();
}

ControllerLock::~ControllerLock() {
    double seconds = held();
    unlock_slurmctld(kLocks);
    times_.add(seconds);
}

}  // namespace elastic::slurm
