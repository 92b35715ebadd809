// SPDX-License-Identifier: MIT
// What must survive a controller: agreements in flight and what is known of
// running jobs, as one JSON file in StateSaveLocation, replaced atomically.
#pragma once

#include <string>

#include "controller/state.hpp"

namespace elastic::controller {

// An error names the file.  The file then still has the state before.
Result<void> save_state_file(const std::string& path, const State&);

// Fills the state.  No file is no error; one that cannot be read is,
// and nothing has changed then.
Result<void> load_state_file(const std::string& path, State&);

}  // namespace elastic::controller
