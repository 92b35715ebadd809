// SPDX-License-Identifier: MIT
// The words that every layer uses when it speaks of jobs and of what happens to their size.
#pragma once

#include <cstdint>

#include "common/names.hpp"

namespace elastic {

using JobId = std::uint32_t;  // Slurm's; 0 is no job
using OpId = std::int64_t;    // of an agreement or request; never repeats; 0 is none

enum class ResizeKind { shrink, expand };
constexpr auto names(ResizeKind) {
    return std::to_array<std::string_view>({"shrink", "expand"});
}

}  // namespace elastic
