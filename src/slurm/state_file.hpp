// SPDX-License-Identifier: GPL-2.0-or-later
// What must survive a controller: agreements in flight and what is known of
// running jobs, as one JSON file in StateSaveLocation, replaced atomically.
#pragma once

#include <string>

#include "slurm/context.hpp"

namespace elastic::slurm {

// An error names the file.  The file then still has the state before.
Result<void> save_state_file(const Context&);

// Fills the book and the table.  No file is no error; one that cannot be read is,
// and nothing has changed then.
Result<void> load_state_file(Context&);

}  // namespace elastic::slurm
