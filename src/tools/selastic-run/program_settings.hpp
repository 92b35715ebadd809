// SPDX-License-Identifier: MIT
// Profiles: what selastic-run has to know of a well-known program, in small files.
#pragma once

#include <string>
#include <string_view>

#include "common/result.hpp"
#include "selastic-run/options.hpp"

namespace elastic::tools {

// Sets what the profile says and `options` does not say yet.  It is looked for in the folders of
// SELASTIC_PROFILES, then in the one that is installed; a name with a slash is a file.
Result<void> apply_profile(const std::string& name, RunOptions& options);

// The same from a file's text.
Result<void> apply_profile_text(std::string_view text, std::string_view file_name,
                                RunOptions& options);

// "TERM" or "TERM@60" into options.stop_signal and stop_seconds.
Result<void> read_stop_signal(std::string_view text, RunOptions& options);

// The words of the restart command, by a shell's rules for quotes and variables, with %program
// and %checkpoint filled in; those of the program if there is none.
Result<Words> restart_words(const RunOptions& options);

}  // namespace elastic::tools
