// SPDX-License-Identifier: MIT
// A line of another number of columns than the first one's is an error: a value with a "|" in it
// would otherwise move all that stand behind it.
#include "simulator/site/accounting_table.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "simulator/logs/sacct_values.hpp"

namespace elastic::simulator {

Result<AccountingTable> AccountingTable::parse(std::string_view text, std::string_view name,
                                               std::initializer_list<std::string_view> required,
                                               std::string_view command) {
    AccountingTable table;
    table.name_ = printable(name, 200);
    int number = 0;
    for (const std::string_view line : split(text, '\n')) {
        ++number;
        if (trim(line).empty()) continue;
        const auto cells = split(trim(line), '|');
        Cells here(cells.begin(), cells.end());
        if (table.columns_.empty()) {
            table.columns_ = std::move(here);
            for (const std::string_view column : required)
                if (!table.has(column))
                    return error(
                        "{}: no column {} among those the first line names; print it "
                        "with: {}",
                        table.name_, column, command);
            continue;
        }
        if (here.size() != table.columns_.size())
            return error("{}:{}: {} columns, where the first line names {}", table.name_, number,
                         here.size(), table.columns_.size());
        table.rows_.push_back({number, std::move(here)});
    }
    if (table.columns_.empty())
        return error("{}: is empty; print it with: {}", table.name_, command);
    return table;
}

std::size_t AccountingTable::place(std::string_view column) const {
    return static_cast<std::size_t>(
        std::ranges::find_if(
            columns_,
            [&](std::string_view name) { return equal_ignoring_case(trim(name), column); }) -
        columns_.begin());
}

std::string_view AccountingTable::cell(std::size_t row, std::string_view column) const {
    return has(column) ? trim(rows_[row].cells[place(column)]) : std::string_view();
}

std::string_view AccountingTable::cell(std::size_t row, std::string_view column,
                                       std::string_view other) const {
    return cell(row, has(column) ? column : other);
}

Result<double> AccountingTable::number(std::size_t row, std::string_view column) const {
    const std::string_view text = cell(row, column);
    if (text.empty()) return 0.0;
    const auto value = parse_number(text);
    if (!value || *value < 0) return wrong(row, "{}: '{}' is no number", column, printable(text));
    return *value;
}

Result<std::optional<Time>> AccountingTable::time(std::size_t row, std::string_view column,
                                                  std::string_view other) const {
    const std::string_view text = cell(row, column, other);
    if (is_unknown(text)) return std::optional<Time>();
    const auto value = read_value(text, Form::time);
    if (!value)
        return wrong(row, "{}: '{}' {}", column, printable(text), what_is_wrong(Form::time));
    return std::optional<Time>(*value);
}

}  // namespace elastic::simulator
