// SPDX-License-Identifier: MIT
// Where selastic-sim puts its results.
#pragma once

#include <string>
#include <string_view>

#include "program.hpp"

namespace elastic::tools {

// Exit code besides those of program.hpp (selastic-sim(1)).
inline constexpr int kExitDiffers = 1;  // replay-snapshot: another plan than the recorded one

inline constexpr std::string_view kStandardOutput = "-";

// Replaces the file as a whole; "-" is standard output, and what is no regular
// file (a device, a pipe) is written to as it is.  An error names the file and why.
Result<void> write_output(const std::string& path, std::string_view content);

}  // namespace elastic::tools
