// SPDX-License-Identifier: MIT
// selastic-sim reproduce: the studies of the papers.
#pragma once

#include <string>

#include "studies/study.hpp"

namespace elastic::tools {

// `study` is "lina", "mebf", "gupta", "evolving" or "packet"; without --out the folder is named
// after it.
int reproduce(const std::string& study, studies::StudyOptions, bool json);

}  // namespace elastic::tools
