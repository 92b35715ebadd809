// SPDX-License-Identifier: MIT
// Who a connection belongs to is said by its hello, which the server has seen to come first.
#include "controller/dispatcher.hpp"

#include <utility>

namespace elastic::controller {

std::optional<bool> Dispatcher::take(Time now) {
    const auto incoming = server_.take();
    if (!incoming) return std::nullopt;
    if (!incoming->closed) {
        heard_.push_back(incoming->from);
        return deal_with(*incoming, now);
    }
    tools_.erase(incoming->from);
    queries_.on_closed(incoming->from);
    negotiation_.on_closed(incoming->from, now);
    return false;
}

bool Dispatcher::deal_with(const Incoming& incoming, Time now) {
    const auto* hello = std::get_if<protocol::Hello>(&incoming.message);
    if (hello && hello->role == protocol::Role::tool) tools_.insert(incoming.from);
    if (!tools_.contains(incoming.from)) return negotiation_.on_message(incoming, now);
    queries_.on_message(incoming, now);
    return false;
}

void Dispatcher::tell(Outbox out) {
    for (auto& [to, message] : out.messages) server_.send(to, std::move(message));
    for (ConnectionId id : out.to_close) server_.close(id);
    for (ConnectionId id : std::exchange(heard_, {})) server_.answered(id);
}

}  // namespace elastic::controller
