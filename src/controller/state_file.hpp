// SPDX-License-Identifier: MIT
// What must survive a controller: agreements in flight and what is known of running jobs, as one
// JSON file in StateSaveLocation, replaced atomically.
#pragma once

#include <string>
#include <string_view>

#include "controller/state.hpp"

namespace elastic::controller {

// What the file holds.
std::string state_text(const State&);
// The state becomes what the text says; ids of operations go on behind those of both.  An error
// names the key, the limit and what was found; nothing has changed then.
Result<void> read_state(std::string_view text, State&);

// An error names the file, which still has the state before.
Result<void> save_state_file(const std::string& path, const State&);
// As read_state(), and the error names the file. No file is no error.
Result<void> load_state_file(const std::string& path, State&);

}  // namespace elastic::controller
