// SPDX-License-Identifier: MIT
// Node lists of the job that a handle is of.
#pragma once

#include <string>

#include "libelastic/elastic.h"

namespace elastic::tools {

std::string common_hosts(const std::string& one, const std::string& other);

// Gives those of the nodes back that the job still has; a refusal is a note.
void release_nodes(elastic_handle* job, const std::string& nodes);

}  // namespace elastic::tools
