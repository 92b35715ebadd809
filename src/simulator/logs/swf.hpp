// SPDX-License-Identifier: MIT
// The Standard Workload Format of the Parallel Workloads Archive: a job a line, 18 numbers,
// comments behind ';'.
#pragma once

#include <string_view>

#include "common/result.hpp"
#include "simulator/logs/job_type.hpp"
#include "simulator/logs/log.hpp"

namespace elastic::simulator {

inline constexpr std::size_t kMaxLogLine = 64 << 10;  // bytes
inline constexpr double kMaxLogTime = 1e11;           // seconds, three thousand years
inline constexpr std::int64_t kMaxProcessors = 1'000'000'000;

// Of each line the fields 1 (job), 2 (submit time), 4 (run time), 5 (processors used), 8
// (processors requested) and 9 (time requested) are used; the others must be numbers, and what
// stands behind the eighteenth is for others.  The size is field 5, else 8; the estimate is field
// 9, else the run time.  A job without a submit time, a size or a positive run time is counted as
// skipped.  By `rule` the fields 12 (user) to 16 (partition) are a job's type, where they are not
// negative.  Of the header, MaxProcs and MaxNodes are read: a whole number, with or without
// separators of thousands, and perhaps a remark in parentheses or behind ';'.  What else has digits
// in it is Log::unclear_size; other words say nothing.
//
// A comment "; elastic: JOB ANNOTATION", anywhere in the file, says that a job is elastic, with
// what follows --elastic= at submission: ours, since the format has no place for it.  What is wrong
// with the annotation, make_workload() says.  "rigid" in place of it says that it is none, and
// "with FIRST" that it starts together with the job FIRST: both are components of one heterogeneous
// job.
//
// An error is "NAME:LINE: field 4 (run time): 'x' is not a number" or the like: fewer than 18
// fields, not a number, out of range (negative, other than -1 for "unknown", counts as unknown), a
// line beyond kMaxLogLine.  If `lenient`, such lines are left out and counted as malformed.
Result<Log> read_swf(std::string_view text, std::string_view name, bool lenient,
                     const TypeRule& rule = {});

}  // namespace elastic::simulator
