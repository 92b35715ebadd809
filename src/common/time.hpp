// SPDX-License-Identifier: MIT
// Durations as people write them.  Points in time are seconds as double everywhere: since the epoch
// in a live cluster, since the log's zero in the simulator.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "common/result.hpp"

namespace elastic {

using Time = double;      // seconds
using Duration = double;  // seconds

inline constexpr Time kNever = 1e18;
inline constexpr Duration kYear = 365.0 * 86400;

// "MM:SS", "HH:MM:SS", "D-HH", "D-HH:MM", "D-HH:MM:SS".  Only the first field may exceed its clock.
std::optional<Duration> parse_slurm_time(std::string_view);

// "90" or "0.5" (seconds) or a Slurm time.  A bare number is seconds, unlike Slurm's own options
// (minutes): the keys that use this say so.  Refuses negatives and more than a year (365 days).
Result<Duration> parse_duration(std::string_view text);

// "1-02:03:04", "02:03:04", to the nearest second; "never" from kNever on.
std::string format_duration(Duration seconds);

}  // namespace elastic
