// SPDX-License-Identifier: MIT
// gnuplot, as a program of its own.
#pragma once

#include <string>
#include <string_view>

#include "common/result.hpp"

namespace elastic::studies {

// What it prints for these commands.  An error if it is not installed, or what it complains of.
Result<std::string> run_gnuplot(std::string_view commands);

}  // namespace elastic::studies
