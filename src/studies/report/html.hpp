// SPDX-License-Identifier: MIT
// Pages of plain HTML without scripts, for all that is written for people.
#pragma once

#include <string>
#include <string_view>

#include "studies/report/table.hpp"

namespace elastic::studies {

// `body` and what its head has besides are HTML; the title is text, and stands on the page, too.
std::string html_page(std::string_view title, std::string_view body, std::string_view head = "");
// HTML behind a title that opens it.
std::string html_folded(std::string_view title, std::string_view body);
// A row for each of the table's, numbers to the right.
std::string html_table(const Table&);

}  // namespace elastic::studies
