// SPDX-License-Identifier: MIT
// When and where a job that waits would start, as a forecast says (core/pass/forecast.hpp).
#pragma once

#include <cstdint>

#include "core/model/types.hpp"

namespace elastic::core {

struct ExpectedStart {
    std::uint32_t place = 0;  // an index into Snapshot::pending
    Time from = 0, to = 0;    // by estimates; at snapshot.now it waits for nothing but its start
    PoolCounts nodes;
    bool is_reserved = false;  // others in the forecast start on other nodes, or later
};

}  // namespace elastic::core
