// SPDX-License-Identifier: MIT
// The log is read once for each field: a reader numbers jobs by one rule, and reading is short
// beside a simulation.
#include "simulator/trust/grouping.hpp"

#include <cstdint>
#include <unordered_map>
#include <utility>

#include "simulator/logs/reader.hpp"

namespace elastic::simulator {
namespace {

Grouping by_field(TypeField field, const Workload& workload, Log&& log) {
    std::unordered_map<std::int64_t, int> types;
    for (const LogJob& job : log.jobs) types.emplace(job.id, job.type);
    Grouping grouping{field, {}, std::move(log.types)};
    grouping.types.reserve(workload.jobs.size());
    for (const Job& job : workload.jobs) {
        const auto found = types.find(job.id);
        grouping.types.push_back(found == types.end() ? -1 : found->second);
    }
    return grouping;
}

}  // namespace

std::vector<Grouping> group_jobs(std::string_view text, std::string_view name, bool lenient,
                                 const Workload& workload) {
    std::vector<Grouping> groupings;
    for (std::size_t f = 0; f < kTypeFields; ++f) {
        const auto field = static_cast<TypeField>(f);
        // A log without the field is an error of the reader's.
        Result<Log> log = parse_log(text, name, lenient, {field});
        if (log && !log->types.empty())
            groupings.push_back(by_field(field, workload, *std::move(log)));
    }
    return groupings;
}

}  // namespace elastic::simulator
