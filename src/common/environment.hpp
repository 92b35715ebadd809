// SPDX-License-Identifier: MIT
// The environment of this process.
#pragma once

#include <cstdlib>
#include <string>

namespace elastic {

// The value of a variable; the fallback where that is empty, or there is none.
inline std::string variable(const char* name, const char* fallback = "") {
    const char* const value = std::getenv(name);
    return value && *value ? value : fallback;
}

}  // namespace elastic
