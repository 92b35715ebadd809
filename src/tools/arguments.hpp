// SPDX-License-Identifier: MIT
// Checks of what is given on a command line, with errors that people can read.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>

namespace elastic::tools {

CLI::Validator whole_number(std::int64_t least, std::int64_t most);
CLI::Validator number(double least, double most);

}  // namespace elastic::tools
