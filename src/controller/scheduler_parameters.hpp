// SPDX-License-Identifier: MIT
// What slurm.conf's SchedulerParameters say to whoever is the scheduler.  Slurm has two loops that
// read them, each for itself; a planning pass does the work of both, so a bound of either loop is a
// bound of a pass.  doc/admin-guide.md has all of them, and which are not honoured, and why.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "common/time.hpp"

namespace elastic::controller {

struct SchedulerParameters {
    static constexpr int kUnbounded = 0;  // as Slurm writes it

    // So many ways to start a job are looked at in a pass, in the order of the queue; in all, and
    // of the jobs of one user, association, partition, and user in one partition.
    int most_tested = kUnbounded;                // bf_max_job_test
    int most_of_user = kUnbounded;               // bf_max_job_user
    int most_of_association = kUnbounded;        // bf_max_job_assoc
    int most_in_partition = kUnbounded;          // the less of bf_max_job_part, partition_job_depth
    int most_of_user_in_partition = kUnbounded;  // bf_max_job_user_part
    // Jobs that a pass starts: the less of bf_max_job_start and sched_max_job_start.
    int most_started = kUnbounded;

    Duration window = kNever;              // bf_window: reservations begin within it from now
    std::uint32_t reserving_priority = 0;  // bf_min_prio_reserve: jobs below have no reservation
    Duration reserving_age = 0;            // bf_min_age_reserve: nor have those that are younger
    bool one_reservation = false;          // bf_one_resv_per_job, of those with several partitions
    int most_reserved_tasks = kUnbounded;  // bf_max_job_array_resv: of one job array
    bool limits_stop = false;              // assoc_limit_stop

    int most_threads = kUnbounded;  // max_rpc_cnt: with so many of slurmctld's no pass begins
    Duration least_interval = 0;    // the more of batch_sched_delay and sched_min_interval

    // Where Slurm's loops start jobs: behind so many only the first jobs of each partition count.
    int deepest = kUnbounded;

    bool operator==(const SchedulerParameters&) const = default;
};

// What is left of them beside Slurm's loops: these look no further down the queue than
// bf_max_job_test for a job that could start now, but for the first jobs of partitions.
SchedulerParameters beside_slurm(const SchedulerParameters&);

struct ReadParameters {
    SchedulerParameters values;
    std::vector<std::string> errors;  // of values that are not taken, with key and value
};

// Keys without regard to case; of several with one key the first counts, as Slurm has it.
ReadParameters parse_scheduler_parameters(std::string_view text);

// Keys of Slurm's loops that this scheduler does not go by, in the order in which they stand, in
// lower case.
struct IgnoredParameters {
    std::vector<std::string> pointless;    // what they are about does not exist here
    std::vector<std::string> unsupported;  // what they ask for is not there
};
IgnoredParameters ignored_parameters(std::string_view text);

}  // namespace elastic::controller
