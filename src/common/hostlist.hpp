// SPDX-License-Identifier: MIT
// Node lists in Slurm's notation ("n[1-4,7],login") and as names.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "common/result.hpp"

namespace elastic {

inline constexpr std::size_t kMaxHosts = 100'000;

// The names in the order of the text.  Understands ranges with leading zeros
// and one bracket a name, as Slurm prints for one-dimensional clusters.
// Refuses more than kMaxHosts names, names over 255 characters and anything malformed.
Result<std::vector<std::string>> expand_hostlist(std::string_view text);

// The shortest such text for names in ascending order; "" for none.  Sorts
// numerically, so n2 stands before n10; duplicates are dropped.
std::string compress_hostlist(std::vector<std::string> names);

}  // namespace elastic
