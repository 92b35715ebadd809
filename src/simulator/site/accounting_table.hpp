// SPDX-License-Identifier: MIT
// What sacctmgr prints with --parsable2: a line that names the columns, then a line a record.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/result.hpp"
#include "common/text.hpp"
#include "common/time.hpp"

namespace elastic::simulator {

// Borrows the text that it was parsed from.
class AccountingTable {
  public:
    // Columns may be in any order, and more of them than are asked for.  An error is "NAME:LINE:
    // what is wrong"; where one that is required is not named, it tells the command that prints it.
    static Result<AccountingTable> parse(std::string_view text, std::string_view name,
                                         std::initializer_list<std::string_view> required,
                                         std::string_view command);

    std::size_t size() const { return rows_.size(); }
    // "" where the table has no such column.
    std::string_view cell(std::size_t row, std::string_view column) const;
    // The first of two columns that it has: sacctmgr's versions name some of them differently.
    std::string_view cell(std::size_t row, std::string_view column, std::string_view other) const;
    // 0 for "".
    Result<double> number(std::size_t row, std::string_view column) const;
    // In seconds, as sacct's; nothing where nobody knows.
    Result<std::optional<Time>> time(std::size_t row, std::string_view column,
                                     std::string_view other) const;

    template <class... Args>
    Error wrong(std::size_t row, fmt::format_string<Args...> format, Args&&... args) const {
        return error("{}:{}: {}", name_, rows_[row].line,
                     fmt::format(format, std::forward<Args>(args)...));
    }

  private:
    using Cells = std::vector<std::string_view>;
    struct Row {
        int line = 0;
        Cells cells;
    };

    std::size_t place(std::string_view column) const;
    bool has(std::string_view column) const { return place(column) < columns_.size(); }

    std::string name_;
    Cells columns_;
    std::vector<Row> rows_;
};

}  // namespace elastic::simulator
