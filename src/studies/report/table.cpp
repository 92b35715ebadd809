// SPDX-License-Identifier: MIT
// Cells are text from the start: who fills a table knows how exact a number is.
#include "studies/report/table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <cmath>

#include "common/text.hpp"

namespace elastic::studies {
namespace {

std::string quoted(const std::string& cell) {
    if (cell.find_first_of(",\"\r\n") == std::string::npos) return cell;
    std::string text = "\"";
    for (const char c : cell) text += c == '"' ? std::string("\"\"") : std::string(1, c);
    return text + '"';
}

bool is_number(const std::string& cell) {
    return cell.empty() || parse_number(cell).has_value();
}

}  // namespace

void Table::add(std::vector<std::string> cells) {
    assert(cells.size() == columns_.size());
    rows_.push_back(std::move(cells));
}

std::string Table::csv() const {
    std::string text = csv_line(columns_) + '\n';
    for (const auto& row : rows_) text += csv_line(row) + '\n';
    return text;
}

std::string Table::text() const {
    std::vector<std::size_t> widths;
    std::vector<bool> to_the_right;
    for (std::size_t c = 0; c < columns_.size(); ++c) {
        std::size_t width = columns_[c].size();
        for (const auto& row : rows_) width = std::max(width, row[c].size());
        widths.push_back(width);
        to_the_right.push_back(
            std::ranges::all_of(rows_, [&](const auto& row) { return is_number(row[c]); }));
    }
    std::string text;
    const auto put = [&](const std::vector<std::string>& cells) {
        std::string line;
        for (std::size_t c = 0; c < cells.size(); ++c)
            line += to_the_right[c] ? fmt::format("{:>{}}  ", cells[c], widths[c])
                                    : fmt::format("{:<{}}  ", cells[c], widths[c]);
        line.erase(line.find_last_not_of(' ') + 1);
        text += line + '\n';
    };
    put(columns_);
    for (const auto& row : rows_) put(row);
    return text;
}

Json to_json(const Table& table) {
    Json rows = Json::array();
    for (const std::vector<std::string>& cells : table.rows()) {
        Json row = Json::object();
        for (std::size_t i = 0; i < cells.size(); ++i)
            if (const auto number = parse_number(cells[i]))
                row.set(table.columns()[i], *number);
            else
                row.set(table.columns()[i], cells[i]);
        rows.push(row);
    }
    return rows;
}

std::string fixed(double value, int decimals) {
    return std::isfinite(value) ? fmt::format("{:.{}f}", value, decimals) : "";
}

std::string exact(double value) {
    return std::isfinite(value) ? fmt::format("{}", value) : "";
}

std::string csv_line(const std::vector<std::string>& cells) {
    std::string line;
    for (std::size_t i = 0; i < cells.size(); ++i) line += (i > 0 ? "," : "") + quoted(cells[i]);
    return line;
}

}  // namespace elastic::studies
