// SPDX-License-Identifier: MIT
// What selastic prints.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "common/json.hpp"
#include "common/time.hpp"
#include "program.hpp"

namespace elastic::tools {

// Exit codes besides those of program.hpp (selastic(1)).
inline constexpr int kExitNo = 1;  // timeout; violations found; refused
inline constexpr int kExitNotElastic = 3;

// Left-aligned columns, two blanks apart; the first row is the heading.  Cells are made printable.
std::string table(const std::vector<std::vector<std::string>>& rows);

// A word that a POSIX shell reads as exactly `value`.
std::string shell_quote(std::string_view value);

// "2026-11-21 10:49:48" in local time, or seconds where `time` does not count from the epoch (a
// simulation).
std::string time_text(Time time);

}  // namespace elastic::tools
