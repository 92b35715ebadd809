// SPDX-License-Identifier: MIT
// The words that every layer uses when it speaks of jobs and of what happens to their size.
#pragma once

#include <cstdint>
#include <string_view>

namespace elastic {

using JobId = std::uint32_t;  // Slurm's; 0 is no job
using OpId = std::int64_t;    // of an agreement or request; never repeats; 0 is none

enum class ResizeKind { shrink, expand };

constexpr std::string_view to_string(ResizeKind kind) {
    return kind == ResizeKind::shrink ? "shrink" : "expand";
}

}  // namespace elastic
