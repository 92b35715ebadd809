// SPDX-License-Identifier: MIT
// Slurm gives each element of an array a number, too, but shows it to nobody who does not ask; so
// "12_3" is taken wherever "12" is.
#include "selastic/job_argument.hpp"

#include "common/text.hpp"

namespace elastic::tools {

std::string JobArgument::text() const {
    return task == protocol::kNoTask ? std::to_string(number) : fmt::format("{}_{}", number, task);
}

Result<JobArgument> parse_job(std::string_view text) {
    const std::size_t line = text.find('_');
    const auto number = parse_unsigned(text.substr(0, line));
    JobArgument job;
    bool is_job = number && *number >= 1 && *number <= UINT32_MAX;
    if (is_job) job.number = static_cast<JobId>(*number);
    if (line != std::string_view::npos) {
        const auto task = parse_unsigned(text.substr(line + 1));
        is_job = is_job && task && *task <= UINT32_MAX;
        if (is_job) job.task = static_cast<std::int64_t>(*task);
    }
    if (is_job) return job;
    return error("'{}' is no job: 12 is one, and 12_3 is the element 3 of the array 12", text);
}

}  // namespace elastic::tools
