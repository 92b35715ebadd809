// SPDX-License-Identifier: MIT
// What the scheduler, the configuration and the protocol must agree on.
#pragma once

#include <cstdint>

namespace elastic {

// Of a job or a change.  More than any machine has; keeps sums of sizes within int.
inline constexpr int kMaxNodes = 1'000'000;

inline constexpr std::uint16_t kDefaultPort = 6821;  // ListenPort

}  // namespace elastic
