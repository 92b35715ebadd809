// SPDX-License-Identifier: MIT
// Of the many limits of a QOS those that keep jobs waiting while nodes are idle: what jobs may have
// at a time.  Limits on a single job's size or time were kept when it was submitted.
#include "simulator/site/qos_table.hpp"

#include <algorithm>

#include "common/limits.hpp"
#include "simulator/logs/sacct_values.hpp"
#include "simulator/site/accounting_table.hpp"

namespace elastic::simulator {

namespace {

constexpr struct {
    Cap::Of of;
    std::string_view tres, jobs;
} kCaps[] = {{Cap::Of::all, "GrpTRES", "GrpJobs"},
             {Cap::Of::user, "MaxTRESPU", "MaxJobsPU"},
             {Cap::Of::account, "MaxTRESPA", "MaxJobsPA"}};

Result<Qos> qos_of(const AccountingTable& table, std::size_t row) {
    Qos qos;
    qos.name = table.cell(row, "Name");
    const auto priority = table.number(row, "Priority");
    if (!priority) return priority.error();
    qos.priority = *priority;
    for (const auto& [of, column, jobs_column] : kCaps) {
        const Tres tres = parse_tres(table.cell(row, column));
        const auto jobs = table.number(row, jobs_column);
        if (!jobs) return jobs.error();
        const Cap cap{of,        tres.nodes,  tres.processors,
                      tres.gpus, tres.memory, static_cast<int>(std::min<double>(*jobs, kMaxNodes))};
        if (cap.is_set()) qos.caps.push_back(cap);
    }
    return qos;
}

}  // namespace

Result<std::vector<Qos>> parse_qos(std::string_view text, std::string_view name) {
    const auto table = AccountingTable::parse(text, name, {"Name"}, kQosCommand);
    if (!table) return table.error();
    std::vector<Qos> found;
    for (std::size_t row = 0; row < table->size(); ++row) {
        Result<Qos> qos = qos_of(*table, row);
        if (!qos) return qos.error();
        found.push_back(*std::move(qos));
    }
    return found;
}

}  // namespace elastic::simulator
