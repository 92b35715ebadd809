// SPDX-License-Identifier: MIT
// Any log: SWF or sacct's, plain or compressed, a file or standard input.
#pragma once

#include <string>
#include <string_view>

#include "common/result.hpp"
#include "simulator/logs/job_type.hpp"
#include "simulator/logs/log.hpp"

namespace elastic::simulator {

// `path` is "-" for standard input.  If `lenient`, malformed lines are counted instead of ending
// it.  A job number that stands twice (requeued jobs) is kept by the first of them; the others, and
// jobs without a number (tasks of an array), get numbers above all that the log has.  Errors as of
// text_source.hpp and the two readers; each names the file, and the line if it is one.
//
// Jobs get types by `rule`.
Result<Log> read_log(const std::string& path, bool lenient, const TypeRule& rule = {});

// The same of text at hand, not compressed; `name` is for errors.
Result<Log> parse_log(std::string_view text, std::string_view name, bool lenient,
                      const TypeRule& rule = {});

// The same for policies that learn of each program (program_rule): jobs have one where the log has
// the columns that name it, and none where it has not.
Result<Log> read_log_with_programs(const std::string& path, bool lenient);
Result<Log> parse_log_with_programs(std::string_view text, std::string_view name, bool lenient);

}  // namespace elastic::simulator
