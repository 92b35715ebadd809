// SPDX-License-Identifier: MIT
// What Slurm's own accounting tells of the jobs of a site: the output of `sacct --parsable2` ('|'
// between columns) or the same as CSV (',', ';' or tabs, and quotes), as other tools write it, too:
// sacct_values.hpp has what may stand in a cell.
#pragma once

#include <string_view>

#include "common/result.hpp"
#include "simulator/logs/job_type.hpp"
#include "simulator/logs/log.hpp"

namespace elastic::simulator {

// The command that gives the best input, for messages and manuals.
inline constexpr std::string_view kSacctCommand =
    "sacct --allusers --allocations --parsable2 "
    "--format=JobID,JobIDRaw,AllocCPUS,NNodes,Submit,Eligible,Start,End,ElapsedRaw,Timelimit,State,"
    "User,Account,Partition,QOS,Priority,Reservation,AllocTRES,NodeList,JobName "
    "--starttime=YYYY-MM-DD";

// The first line names the columns, in any order and case; those not named here are ignored.  In a
// name that people give the separator may stand, so what is too much in a line is part of the last
// column if that is JobName or SubmitLine:
//   JobIDRaw or JobID         "7", "7_3" (task of an array), "7+1" (component of a
//                             heterogeneous job), both without a number of their own; lines of
//                             steps ("7.batch") are passed over.  Components are known by JobID
//                             only, whether or not there is a JobIDRaw
//   AllocCPUS or NCPUS, NNodes  the size; one of the two is enough
//   Submit                    "2024-05-01T10:00:00", or seconds since the epoch
//   ElapsedRaw (seconds), Elapsed ("1-02:03:04"), or Start and End
//   Timelimit                 "1-02:03:04"; "UNLIMITED" and "Partition_Limit" are a year,
//   or TimelimitRaw           minutes; without one, the run time is the estimate
//   State                     what is not over is skipped
//   Eligible                  a job that had to wait for something else than nodes (a dependency, a
//                             begin time, a hold) arrives then
//   Partition, QOS, Account, User or UID, Reservation, Priority, AllocTRES, NodeList
//                             JobFacts, of which site.hpp makes the machine
//   SubmitLine                "sbatch --elastic=malleable,min=2 job.sh": elastic, and how
//   User or UID, Group or GID, JobName, QOS, Partition  the type, as far as `rule` names it: then
//                             the column must be there
// Times are taken as they stand, without a time zone, unless they all have an offset from UTC; the
// earliest submit time of a job that is used is the log's zero.  Sizes that sacct has rounded
// (--units) are counted, and a note of the log.  Jobs that never ran ("Unknown", "None", no size,
// no run time) are counted as skipped.
//
// Records of one job in state RESIZING and the one that follows them are joined: the size and the
// submit time are those of the first, the run time is such that the node-seconds (without NNodes:
// processor-seconds) are those of all, and the last one's time limit is converted by the same
// factor.  How many is a note of the log.
//
// An error is "NAME:LINE: Submit: 'x' is no time" or the like; a column that is missing is named
// together with kSacctCommand.  A last line without an end is malformed.  If `lenient`, such lines
// (but not the first) are left out and counted as malformed.
Result<Log> read_sacct(std::string_view text, std::string_view name, bool lenient,
                       const TypeRule& rule = {});

}  // namespace elastic::simulator
