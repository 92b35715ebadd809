// SPDX-License-Identifier: MIT
// gnuplot, as a program of its own.
#pragma once

#include <string>
#include <string_view>

#include "common/result.hpp"

namespace elastic::studies {

// What gnuplot prints for these commands.  An error if gnuplot is not installed, or its own
// complaint.
Result<std::string> run_gnuplot(std::string_view commands);

}  // namespace elastic::studies
