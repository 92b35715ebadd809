// SPDX-License-Identifier: MIT
// Where selastic and selastic-sim put their results.
#pragma once

#include <string>
#include <string_view>

#include "common/result.hpp"

namespace elastic::tools {

// "-", or the name that systems have for it.
bool is_standard_output(std::string_view path);

// Replaces the file as a whole (write_file()), or writes to standard output (flush() throws) or
// standard error.  An error names the file and why.
Result<void> write_output(const std::string& path, std::string_view content);

// Columns of the terminal that standard output is; 80 if it is none.
int terminal_width();

}  // namespace elastic::tools
