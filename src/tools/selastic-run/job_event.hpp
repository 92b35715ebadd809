// SPDX-License-Identifier: MIT
// What the library tells of a job, kept: an elastic_event's texts go with the next one.
#pragma once

#include <cstdint>
#include <string>

#include "common/time.hpp"

namespace elastic::tools {

// An elastic_event that owns its texts.
struct JobEvent {
    int type = 0, kind = 0, nodes = 0, size = 0;
    std::int64_t op = 0;
    Duration deadline = 0;
    std::string node_list, reason;
    int outcome = 0;
};

}  // namespace elastic::tools
