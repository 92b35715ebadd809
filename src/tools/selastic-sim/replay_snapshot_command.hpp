// SPDX-License-Identifier: MIT
// selastic-sim replay-snapshot: the plan the controller made, made again.
#pragma once

#include <string>

namespace elastic::tools {

struct ReplayOptions {
    std::string file;  // "-" for standard input
    bool json = false;
};

int replay_snapshot(const ReplayOptions&);

}  // namespace elastic::tools
