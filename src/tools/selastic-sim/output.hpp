// SPDX-License-Identifier: MIT
// What selastic-sim says, and where it puts its results.
#pragma once

#include <string>
#include <string_view>

#include "common/result.hpp"

namespace elastic::tools {

// Exit codes (selastic-sim(1)).
inline constexpr int kExitOk = 0;
inline constexpr int kExitDiffers = 1;  // replay-snapshot: another plan than the recorded one
inline constexpr int kExitError = 2;

// Prints "selastic-sim: error: MESSAGE"; returns kExitError.
int fail(const Error&);

inline constexpr std::string_view kStandardOutput = "-";

// Replaces the file as a whole; "-" is standard output, and what is no regular
// file (a device, a pipe) is written to as it is.  An error names the file and why.
Result<void> write_output(const std::string& path, std::string_view content);

}  // namespace elastic::tools
