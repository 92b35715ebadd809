// SPDX-License-Identifier: MIT
// What selastic asks: answers, and the operator's own resizes.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "controller/negotiation/negotiation.hpp"
#include "controller/site.hpp"
#include "journal/event.hpp"

namespace elastic::controller {

class Queries {
  public:
    Queries(const core::Config& config, State& state, Outbox& outbox, Negotiation& negotiation,
            const Site& site)
        : config_(config), state_(state), outbox_(outbox), negotiation_(negotiation), site_(site) {}

    // Answers through the outbox.  Slurm's rules: a user sees and steers the user's own jobs, an
    // operator all (and everybody sees all unless PrivateData has `jobs`).
    void on_message(const Incoming&, Time now);
    // Whether it asks for a job that may have come since Slurm's records were read.
    bool is_of_new_job(const protocol::Query&) const;
    void on_closed(ConnectionId id) { recordings_.erase(id); }

  private:
    // Of a job that is to leave some nodes.
    struct Prospect {
        bool leaves = false;  // or will, if things go well
        std::string text;     // for people
    };

    Result<Json> answer(const protocol::Query&, const Incoming&, Time now);
    Result<Json> jobs(uid_t, Time now) const;
    Result<Json> nodes(uid_t) const;
    Json metrics(Time now) const;
    Result<Json> show(const protocol::Query&, uid_t, Time now) const;
    Result<Json> snapshot(const protocol::Query&, const Incoming&);
    Result<Json> journal(const protocol::Query&, uid_t) const;
    Result<Json> resize(const protocol::Query&, uid_t, Time now);
    Result<Json> evacuate(const protocol::Query&, uid_t, Time now);
    Result<Job*> steerable(const protocol::Query&, uid_t, Time now);
    Result<Agreement*> offer_leaving(Job&, const std::vector<std::string>& leaving,
                                     const std::string& reason, Time now);
    Prospect move_off(const Occupant&, int& idle, Time now);
    Prospect ask_to_leave(Job&, const std::string& nodes, int& idle, Time now);
    std::optional<std::string> obstacle(const Job&, const Occupant&, Time now) const;
    Result<protocol::Query> with_job(protocol::Query) const;
    Json names_in(const std::vector<journal::Event>&) const;
    bool may_see(const Job&, uid_t) const;

    const core::Config& config_;
    State& state_;
    Outbox& outbox_;
    Negotiation& negotiation_;
    const Site& site_;
    QuietLog quiet_;  // for what users can cause at will
    // The recorded passes that are being read, as text, by who reads them.
    std::map<ConnectionId, std::string> recordings_;
};

}  // namespace elastic::controller
