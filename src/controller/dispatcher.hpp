// SPDX-License-Identifier: MIT
// Between the server and those who answer: applications speak with the negotiation, tools with the
// queries.
//
// Always holds: a connection's next message is taken only after the answers to the one before are
// on their way.
#pragma once

#include <optional>
#include <unordered_set>
#include <vector>

#include "controller/negotiation/negotiation.hpp"
#include "controller/outbox.hpp"
#include "controller/queries.hpp"
#include "controller/server.hpp"

namespace elastic::controller {

class Dispatcher {
  public:
    Dispatcher(Server& server, Negotiation& negotiation, Queries& queries)
        : server_(server), negotiation_(negotiation), queries_(queries) {}

    // Deals with the oldest message. Nothing if there is none; otherwise whether a planning pass
    // should follow at once.
    std::optional<bool> take(Time now);
    // Deals with the messages of applications whose jobs were not known to run when these came, and
    // of tools that asked for a job not known at all: they are by now, or do not run.
    void take_early(Time now);
    // Tells applications and tools what there is for them, as the answers to all that was taken.
    void tell(Outbox);

  private:
    bool deal_with(const Incoming&, Time now);
    bool is_early(const Incoming&) const;

    Server& server_;
    Negotiation& negotiation_;
    Queries& queries_;
    std::unordered_set<ConnectionId> tools_;
    std::vector<Incoming> early_;
    std::vector<ConnectionId> heard_;  // whose messages are dealt with, but not yet answered
};

}  // namespace elastic::controller
