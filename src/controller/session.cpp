// SPDX-License-Identifier: MIT
// A credential says who sealed a message, not for which connection: so each carries the session's
// name, which only the peer was told, and its number in the sequence.
//
// Always holds: after a Hello every message taken was sealed by the user of that Hello, for this
// session, and came next.
#include "controller/session.hpp"

#include <fmt/format.h>

namespace elastic::controller {

using namespace protocol;

std::optional<Refusal> Session::check(uid_t uid, const Envelope& envelope) {
    if (!has_begun()) return begin(uid, envelope);
    if (uid != user_ || envelope.session != token_ || envelope.sequence != received_ + 1)
        return Refusal{
            std::nullopt,
            fmt::format("a message of user {} that does not belong to the connection of user {}",
                        uid, user_)};
    ++received_;
    if (std::holds_alternative<Hello>(envelope.message))
        return Refusal{FailureCode::malformed, "hello is the first message only"};
    return std::nullopt;
}

std::optional<Refusal> Session::begin(uid_t uid, const Envelope& envelope) {
    const auto* hello = std::get_if<Hello>(&envelope.message);
    if (!hello || envelope.sequence != 1)
        return Refusal{FailureCode::malformed, "the first message must be hello"};
    if (!envelope.session.empty())
        return Refusal{FailureCode::malformed, "hello begins a session and belongs to none"};
    if (hello->version != kVersion)
        return Refusal{FailureCode::version,
                       fmt::format("this controller speaks protocol version {}, not {}", kVersion,
                                   hello->version)};
    user_ = uid;
    received_ = 1;
    return std::nullopt;
}

Envelope Session::outgoing(Message message) {
    Envelope envelope{welcomed_ ? token_ : "", ++sent_, std::move(message)};
    if (auto* welcome = std::get_if<Welcome>(&envelope.message)) {
        welcome->session = token_;
        welcomed_ = true;
    }
    return envelope;
}

}  // namespace elastic::controller
