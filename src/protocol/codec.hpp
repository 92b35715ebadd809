// SPDX-License-Identifier: MIT
// Envelopes as JSON text, in both directions (doc/protocol.md, "Messages").
#pragma once

#include <string>
#include <string_view>

#include "common/limits.hpp"
#include "common/result.hpp"
#include "protocol/message.hpp"

namespace elastic::protocol {

// Limits on what a field may hold, besides kMaxNodes.  A decoder refuses what is beyond them.
inline constexpr std::size_t kMaxNodeList = 256 * 1024;  // characters of a node list
inline constexpr std::size_t kMaxText = 1024;            // characters of a reason or message
inline constexpr std::size_t kMaxName = 255;             // characters of a host name or a word
inline constexpr double kMaxSeconds = 10.0 * 366 * 86400;
inline constexpr int kMaxTail = 100'000;  // journal events of one Query

// One line of JSON.  Never fails: texts for humans (reason, message) are cut at kMaxText and their
// control characters become spaces, seconds are clamped to [0, kMaxSeconds].  Everything else is
// the caller's to keep within the limits, or the peer will refuse it.
std::string encode(const Envelope&);
// The same, but a Reply that fits into no frame becomes a Failure that says so.
std::string encode_for_client(Envelope);

// Strict: every field of the message must be there with its type and within its limits, texts hold
// no control characters, an unknown "type" is an error.  Unknown fields are ignored, so that a
// later minor revision can add some.  The error is one line and names the field.
Result<Envelope> decode(std::string_view json);

}  // namespace elastic::protocol
