// SPDX-License-Identifier: MIT
// Lists of nodes as sets of names.
#pragma once

#include <algorithm>
#include <iterator>
#include <set>
#include <string>

#include "common/hostlist.hpp"

namespace elastic::libelastic {

using Names = std::set<std::string>;

// A list that cannot be read counts as empty: lists come from the controller or Slurm, and what
// they are compared for is only whether something has changed.
inline Names names_of(const std::string& list) {
    const auto names = expand_hostlist(list);
    return names ? Names(names->begin(), names->end()) : Names();
}

inline std::string list_of(const Names& names) {
    return compress_hostlist({names.begin(), names.end()});
}

inline Names minus(const Names& from, const Names& what) {
    Names rest;
    std::ranges::set_difference(from, what, std::inserter(rest, rest.end()));
    return rest;
}

}  // namespace elastic::libelastic
