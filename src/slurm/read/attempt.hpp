// SPDX-License-Identifier: GPL-2.0-or-later
// The ways in which Slurm tries to start one job.  Its queue names a job once for each: for each of
// the job's partitions, for each of its QOS, for each reservation that it may use, and with the
// features that it prefers as well as with those that it needs.
#pragma once

#include <optional>
#include <string>

#include "slurm/compat/compat.hpp"

namespace elastic::slurm {

struct Attempt {
    std::string partition;
    // One of several that the job named, or one that draws jobs without being named (MAGNETIC);
    // empty: as the job asked.
    std::string reservation;
    bool preferred = false;  // on nodes with the features that it prefers
    std::uint32_t qos = 0;   // the id of one of several that the job named; 0: its only one

    bool operator==(const Attempt&) const = default;
};

// What an attempt names, as long as the lock is held.
struct FoundAttempt {
    part_record_t* partition = nullptr;
    slurmctld_resv_t* reservation = nullptr;  // if it has one
    bool preferred = false;
    std::uint32_t qos = 0;

    bool operator==(const FoundAttempt&) const = default;
};

// Nothing if the partition or the reservation is gone.  Needs ControllerLock.
std::optional<FoundAttempt> find(const Attempt&);

// Sets the job's record to an attempt as Slurm's own loop does, for as long as this lives.  Needs
// ControllerLock.
class Trying {
  public:
    Trying(job_record_t* job, const FoundAttempt&);
    ~Trying();
    Trying(const Trying&) = delete;
    Trying& operator=(const Trying&) = delete;

  private:
    job_record_t* job_;
    bool has_reservation_;
};

}  // namespace elastic::slurm
