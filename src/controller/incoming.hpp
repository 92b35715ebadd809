// SPDX-License-Identifier: MIT
// What the server hands to the controller's thread.
#pragma once

#include <sys/types.h>

#include <cstdint>

#include "protocol/message.hpp"

namespace elastic::controller {

using ConnectionId = std::uint64_t;  // never reused; 0 is none

struct Incoming {
    ConnectionId from = 0;
    uid_t uid = 0;        // who sealed the message
    bool closed = false;  // the connection has ended; no message
    protocol::Message message;
};

}  // namespace elastic::controller
