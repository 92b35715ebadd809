// SPDX-License-Identifier: MIT
// A resize by rebirth: what it is of, and how long each of its phases takes.
#pragma once

#include <cstdint>
#include <string>

#include "common/time.hpp"
#include "runtime/channel.hpp"

namespace elastic::tools {

// Instants are steady_now()'s.
struct Resize {
    std::int64_t op = 0;             // 0: there is no agreement, or none any more
    int kind = 0, from = 0, to = 0;  // nodes
    std::string leaving = {};        // nodes
    bool beside = true;              // the new world starts before the old one has left
    bool old_died = false;           // instead of leaving
    Duration negotiation = 0, start = 0, stop = 0;
    Time checkpointed = 0, told_to_leave = 0;
    runtime::Phases phases = {};
    Duration pause = 0;
};

// The line for people: [gupta] table II, and how long nobody computed.
std::string to_string(const Resize& resize, int number);

}  // namespace elastic::tools
