// SPDX-License-Identifier: MIT
// `Key=Value` lines, as in Slurm's configuration files.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "common/result.hpp"

namespace elastic {

inline constexpr std::size_t kMaxConfigFile = 1 << 20;  // bytes
inline constexpr std::size_t kMaxConfigLine = 4096;     // bytes

struct Setting {
    std::string key;    // as written
    std::string value;  // not empty
    int line = 0;       // from 1
};

// Prefixes a message with its place: "elastic.conf:12: MESSAGE".
Error at_line(std::string_view file_name, int line, std::string_view message);

// One setting a line; '#' begins a comment; blank lines and blanks around key and value are
// skipped.  An error names file and line: anything else on a line, a key that is not a word, an
// empty value, a key that stands twice (without regard to case), control characters, a file or line
// beyond its limit.
Result<std::vector<Setting>> parse_settings(std::string_view text, std::string_view file_name);

// The values of `key` in the text of a slurm.conf, in order; without regard to case, quotes
// removed.  Lenient, because slurm.conf is for Slurm to judge: what is not understood is passed
// over.  A line may hold several settings, but those behind NodeName= and its like belong to the
// node and are not found.
std::vector<std::string> slurm_conf_values(std::string_view text, std::string_view key);

}  // namespace elastic
