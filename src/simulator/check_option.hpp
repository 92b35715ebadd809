// SPDX-License-Identifier: MIT
// Checks of options, worded alike.
#pragma once

#include <initializer_list>

#include "common/result.hpp"

namespace elastic::simulator {

// "OPTION: must be LIMIT" unless it `holds`.
inline Result<void> check_option(bool holds, const char* option, const char* limit) {
    if (holds) return {};
    return error("{}: must be {}", option, limit);
}

inline Result<void> first_error(std::initializer_list<Result<void>> checks) {
    for (const Result<void>& check : checks) {
        if (!check) return check;
    }
    return {};
}

}  // namespace elastic::simulator
