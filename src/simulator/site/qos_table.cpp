// SPDX-License-Identifier: MIT
// Of the many limits of a QOS those that keep jobs waiting while nodes are idle: what jobs may have
// at a time.  Limits on a single job's size or time were kept when it was submitted.
#include "simulator/site/qos_table.hpp"

#include <algorithm>

#include "common/limits.hpp"
#include "common/text.hpp"
#include "simulator/logs/sacct_values.hpp"

namespace elastic::simulator {

namespace {

class QosReader {
  public:
    explicit QosReader(std::string_view name) : name_(printable(name, 200)) {}

    Result<std::vector<Qos>> read(std::string_view text) {
        for (const std::string_view line : split(text, '\n')) {
            ++line_;
            if (trim(line).empty()) continue;
            const auto cells = split(trim(line), '|');
            if (columns_.empty()) {
                columns_.assign(cells.begin(), cells.end());
                if (place("Name") == cells.size()) break;
                continue;
            }
            if (cells.size() != columns_.size())
                return error("{}:{}: {} columns, where the first line names {}", name_, line_,
                             cells.size(), columns_.size());
            if (auto ok = add(cells); !ok) return ok.error();
        }
        if (columns_.empty() || place("Name") == columns_.size())
            return error("{}: no column Name among those the first line names; print it with: {}",
                         name_, kQosCommand);
        return std::move(found_);
    }

  private:
    using Cells = std::vector<std::string_view>;

    std::size_t place(std::string_view column) const {
        return static_cast<std::size_t>(
            std::ranges::find_if(
                columns_,
                [&](std::string_view name) { return equal_ignoring_case(trim(name), column); }) -
            columns_.begin());
    }

    std::string_view cell(const Cells& cells, std::string_view column) const {
        const std::size_t at = place(column);
        return at < cells.size() ? trim(cells[at]) : std::string_view();
    }

    Result<double> number(const Cells& cells, std::string_view column) const {
        const std::string_view text = cell(cells, column);
        if (text.empty()) return 0.0;
        const auto value = parse_number(text);
        if (!value || *value < 0)
            return error("{}:{}: {}: '{}' is no number", name_, line_, column, printable(text));
        return *value;
    }

    Result<void> add(const Cells& cells) {
        Qos qos;
        qos.name = cell(cells, "Name");
        const auto priority = number(cells, "Priority");
        if (!priority) return priority.error();
        qos.priority = *priority;
        constexpr struct {
            Cap::Of of;
            std::string_view tres, jobs;
        } kCaps[] = {{Cap::Of::all, "GrpTRES", "GrpJobs"},
                     {Cap::Of::user, "MaxTRESPU", "MaxJobsPU"},
                     {Cap::Of::account, "MaxTRESPA", "MaxJobsPA"}};
        for (const auto& [of, column, jobs_column] : kCaps) {
            const Tres tres = parse_tres(cell(cells, column));
            const auto jobs = number(cells, jobs_column);
            if (!jobs) return jobs.error();
            const Cap cap{
                of,        tres.nodes,  tres.processors,
                tres.gpus, tres.memory, static_cast<int>(std::min<double>(*jobs, kMaxNodes))};
            if (cap.is_set()) qos.caps.push_back(cap);
        }
        found_.push_back(std::move(qos));
        return {};
    }

    std::string name_;
    int line_ = 0;
    std::vector<std::string_view> columns_;
    std::vector<Qos> found_;
};

}  // namespace

Result<std::vector<Qos>> parse_qos(std::string_view text, std::string_view name) {
    return QosReader(name).read(text);
}

}  // namespace elastic::simulator
