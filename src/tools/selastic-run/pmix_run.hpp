// SPDX-License-Identifier: MIT
// A program that asks for nodes, and gives some back, by PMIx.
#pragma once

#include "libelastic/elastic.h"
#include "selastic-run/options.hpp"

namespace elastic::tools {

// Runs the program to its end as a step on the nodes that the job has; its exit status.
int run_with_pmix(elastic_handle* job, const RunOptions& options);

}  // namespace elastic::tools
