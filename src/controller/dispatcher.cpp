// SPDX-License-Identifier: MIT
// Who a connection belongs to is said by its hello, which the server has seen to come first.
//
// Slurm has no hook that tells of a start, so where its own loops start jobs (Starts=slurm) an
// application may say hello before its job is known to run; an answer to that would be final.  So
// may a tool that runs in a job ask for it.
#include "controller/dispatcher.hpp"

#include <utility>

namespace elastic::controller {

std::optional<bool> Dispatcher::take(Time now) {
    const auto incoming = server_.take();
    if (!incoming) return std::nullopt;
    if (!incoming->closed) {
        if (is_early(*incoming)) {
            early_.push_back(*incoming);
            return true;
        }
        heard_.push_back(incoming->from);
        return deal_with(*incoming, now);
    }
    std::erase_if(early_, [&](const Incoming& early) { return early.from == incoming->from; });
    tools_.erase(incoming->from);
    queries_.on_closed(incoming->from);
    negotiation_.on_closed(incoming->from, now);
    return false;
}

void Dispatcher::take_early(Time now) {
    for (const Incoming& incoming : std::exchange(early_, {})) {
        heard_.push_back(incoming.from);
        deal_with(incoming, now);
    }
}

bool Dispatcher::is_early(const Incoming& incoming) const {
    if (const auto* query = std::get_if<protocol::Query>(&incoming.message))
        return tools_.contains(incoming.from) && queries_.is_of_new_job(*query);
    const auto* hello = std::get_if<protocol::Hello>(&incoming.message);
    return hello && hello->role == protocol::Role::application && !negotiation_.runs(hello->job);
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
