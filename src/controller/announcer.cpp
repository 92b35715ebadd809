// SPDX-License-Identifier: MIT
// What is told goes before all that has happened since the last saving, which may be on the new
// nodes; the end of the controller is behind all.
#include "controller/announcer.hpp"

namespace elastic::controller {

void Announcer::announce(journal::Controller::What what, Time now) {
    nodes_ = site_.nodes;
    auto& events = outbox_.events;
    const bool last = events.empty() || what == journal::Controller::What::stop;
    journal::Event event{last ? now : events.front().time,
                         journal::Controller{what, nodes_, config_.policy_name}};
    events.insert(last ? events.end() : events.begin(), std::move(event));
}

void Announcer::announce_other_nodes(Time now) {
    if (site_.nodes != nodes_) announce(journal::Controller::What::reconfigure, now);
}

}  // namespace elastic::controller
