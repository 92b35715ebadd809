// SPDX-License-Identifier: MIT
// What Slurm's own accounting tells of the jobs of a site: the output of
// `sacct --parsable2` ('|' between columns) or the same as CSV (',' and quotes).
#pragma once

#include <string_view>

#include "common/result.hpp"
#include "simulator/workload.hpp"

namespace elastic::simulator {

// The command that gives the best input, for messages and manuals.
inline constexpr std::string_view kSacctCommand =
    "sacct --allusers --allocations --parsable2 "
    "--format=JobIDRaw,AllocCPUS,NNodes,Submit,Start,End,ElapsedRaw,Timelimit,State "
    "--starttime=YYYY-MM-DD";

// The first line names the columns, in any order and case; those not named here
// are ignored:
//   JobIDRaw or JobID         "7", "7_3" (task of an array), "7+1" (part of a
//                             heterogeneous job); lines of steps ("7.batch") are passed over
//   AllocCPUS or NCPUS, NNodes  the size; one of the two is enough
//   Submit                    "2024-05-01T10:00:00", or seconds since the epoch
//   ElapsedRaw (seconds), Elapsed ("1-02:03:04"), or Start and End
//   Timelimit                 "1-02:03:04"; "UNLIMITED" and "Partition_Limit" are no estimate,
//   or TimelimitRaw           minutes; without one, the run time is the estimate
//   State                     what is not over is skipped
// Times are taken as they stand, without a time zone; the earliest submit time of
// a job that is used is the log's zero.  Jobs that never ran ("Unknown", "None",
// no size, no run time) are counted as skipped.
//
// An error is "NAME:LINE: Submit: 'x' is no time" or the like; a column that is
// missing is named together with kSacctCommand.  If `lenient`, such lines (but
// not the first) are left out and counted as malformed.
Result<Log> read_sacct(std::string_view text, std::string_view name, bool lenient);

}  // namespace elastic::simulator
