// SPDX-License-Identifier: MIT
// What selastic-run has to know of a well-known program, in a small file: what its --as calls a
// profile.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "common/result.hpp"
#include "selastic-run/options.hpp"

namespace elastic::tools {

// Sets what the file says and `options` does not say yet.  A name is looked for in the folders of
// SELASTIC_PROFILES, then in the one that is installed; a name with a slash is a path.
Result<void> apply_program_settings(const std::string& name, RunOptions& options);

// "TERM" or "TERM@60" into options.stop_signal and stop_seconds.
Result<void> read_stop_signal(std::string_view text, RunOptions& options);

// The words of the restart command, by a shell's rules for quotes and variables, with %program and
// %checkpoint filled in; those of the program if there is none.
Result<Words> restart_words(const RunOptions& options);

struct Profile {
    std::string name, comment;  // its first line
};
// Those that have names, of each the one that is taken.
std::vector<Profile> known_profiles();

}  // namespace elastic::tools
