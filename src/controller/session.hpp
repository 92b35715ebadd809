// SPDX-License-Identifier: MIT
// What one connection has said and been told: its handshake and its sequence, by which nobody can
// put a message of another connection, or one once more, into it.  No sockets, no credentials, no
// clock.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>

#include "protocol/message.hpp"

namespace elastic::controller {

// Why a message is not taken.
struct Refusal {
    // For the peer, which is told and then dropped; without one it is dropped without a word.
    std::optional<protocol::FailureCode> code;
    std::string message;
};

class Session {
  public:
    explicit Session(std::string token) : token_(std::move(token)) {}

    // Nothing if the message is the next that this user may say here: first a Hello of our version,
    // then anything else. The first one that is in order makes its user the session's.
    std::optional<Refusal> check(uid_t, const protocol::Envelope&);

    // A message with its place in the sequence; a Welcome gets the session's name, which it tells
    // the peer.
    protocol::Envelope outgoing(protocol::Message);

    bool has_begun() const { return received_ > 0; }  // with a Hello
    uid_t user() const { return user_; }              // who has said it

  private:
    std::optional<Refusal> begin(uid_t, const protocol::Envelope&);

    std::string token_;
    bool welcomed_ = false;  // the peer knows the token
    uid_t user_ = 0;
    std::uint32_t received_ = 0, sent_ = 0;
};

}  // namespace elastic::controller
