// SPDX-License-Identifier: MIT
// A program of independent workers in an elastic job: they come and go with its nodes.
#pragma once

#include "libelastic/elastic.h"
#include "selastic-run/options.hpp"

namespace elastic::tools {

// The highest exit status of the workers that have ended by themselves.
int run_workers(elastic_handle* job, const RunOptions& options);

}  // namespace elastic::tools
