// SPDX-License-Identifier: MIT
// A program with restart files in an elastic job: stopped for each resize, started again after it.
#pragma once

#include "libelastic/elastic.h"
#include "selastic-run/options.hpp"

namespace elastic::tools {

// The program's exit status.
int run_with_checkpoints(elastic_handle* job, const RunOptions& options);

}  // namespace elastic::tools
