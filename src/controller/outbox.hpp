// SPDX-License-Identifier: MIT
// What is to be told to the outside once slurmctld's locks are released: lines for the journal and
// messages for applications.
//
// Always holds: nothing is told before the state it speaks of is saved.
#pragma once

#include <utility>
#include <vector>

#include "controller/incoming.hpp"
#include "journal/event.hpp"

namespace elastic::controller {

struct Outbox {
    std::vector<journal::Event> events;
    std::vector<std::pair<controller::ConnectionId, protocol::Message>> messages;
    std::vector<controller::ConnectionId> to_close;
    bool changed = false;  // Slurm's records were, and are to be saved some time
    bool resized = false;  // what is told rests on Slurm's records: they must be saved before
    bool unsaved = false;  // an agreement has changed, and there may be no event that says so

    template <class What>
    void note(Time now, What what) {
        events.push_back({now, std::move(what)});
    }
    void send(controller::ConnectionId to, protocol::Message message) {
        if (to) messages.emplace_back(to, std::move(message));
    }
    void close(controller::ConnectionId id) {
        if (id) to_close.push_back(id);
    }
};

}  // namespace elastic::controller
