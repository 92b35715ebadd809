// SPDX-License-Identifier: MIT
// Results in rows and columns: as CSV, and as text for people.
#pragma once

#include <string>
#include <vector>

#include "common/json.hpp"

namespace elastic::studies {

class Table {
  public:
    explicit Table(std::vector<std::string> columns) : columns_(std::move(columns)) {}

    // As many cells as there are columns; "" where there is nothing to say.
    void add(std::vector<std::string> cells);

    const std::vector<std::string>& columns() const { return columns_; }
    const std::vector<std::vector<std::string>>& rows() const { return rows_; }

    // RFC 4180, lines ending in "\n" alone.
    std::string csv() const;
    // Columns aligned: numbers to the right, all else to the left.
    std::string text() const;

  private:
    std::vector<std::string> columns_;
    std::vector<std::vector<std::string>> rows_;
};

// An array with an object a row; cells that are numbers are numbers.
Json to_json(const Table&);

// For cells: with so many decimals; "" for what is not a number.
std::string fixed(double value, int decimals);
// With as few digits as it takes to read it back.
std::string exact(double value);
// One line of CSV without its end.
std::string csv_line(const std::vector<std::string>& cells);

}  // namespace elastic::studies
