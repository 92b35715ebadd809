// SPDX-License-Identifier: MIT
// A program that uses libelastic-mpi in an elastic job: born again at each size.
#pragma once

#include "libelastic/elastic.h"
#include "selastic-run/options.hpp"

namespace elastic::tools {

// The program's exit status.
int run_with_rebirth(elastic_handle* job, const RunOptions& options);

// The options with what srun is told so that worlds can be beside each other.
RunOptions rebirth_options(const RunOptions& options);

}  // namespace elastic::tools
