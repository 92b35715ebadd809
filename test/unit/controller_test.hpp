// SPDX-License-Identifier: MIT
// A controller without Slurm and without a network: what it is told goes in by say(), and what it
// tells comes out of its outbox.
#pragma once

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "controller/negotiation/negotiation.hpp"
#include "controller/queries.hpp"
#include "testing.hpp"

namespace elastic::testing {

using namespace elastic::controller;

inline constexpr uid_t kOwner = 1000, kStranger = 1001, kOperator = 500;

struct Room {
    Room() {
        config.grace_time = 60;
        config.back_off = 300;
        site.nodes = 16;
        site.idle = 8;
        site.private_jobs = false;
        site.is_operator = [](uid_t uid) { return uid == 0 || uid == kOperator; };
        site.user_name = [](uid_t uid) { return fmt::format("user{}", uid); };
        site.drain = [this](const std::string& nodes, uid_t) -> Result<Emptying> {
            drained = nodes;
            return emptying;
        };
        site.recorded_pass = [this] { return recording; };
    }

    // A running job of kOwner, malleable and evolving, that is not connected.
    Job& add(JobId id, const std::string& node_list = "n[1-4]", int nodes = 4) {
        Job& job = state.jobs.get(id);
        job.owner = kOwner;
        job.submitted = job.running = job.elastic = true;
        job.annotation.malleable = job.annotation.evolving = true;
        job.annotation.min = 1;
        job.annotation.pref = 4;
        job.annotation.max = 8;
        job.nodes = nodes;
        job.node_list = node_list;
        job.batch_host = node_list.starts_with("n[") ? "n" + node_list.substr(2, 1) : node_list;
        return job;
    }
    // The same, connected as the connection of its own number.
    Job& add_connected(JobId id, const std::string& node_list = "n[1-4]", int nodes = 4) {
        Job& job = add(id, node_list, nodes);
        hello(id, id);
        outbox = {};
        return job;
    }

    bool hello(ConnectionId from, JobId job, uid_t uid = kOwner) {
        protocol::Hello hello;
        hello.job = job;
        hello.nonce = "nonce";
        return say(from, hello, uid);
    }
    bool say(ConnectionId from, protocol::Message message, uid_t uid = kOwner) {
        return negotiation.on_message({from, uid, false, std::move(message)}, now);
    }
    void ask(ConnectionId from, protocol::Query query, uid_t uid) {
        queries.on_message({from, uid, false, std::move(query)}, now);
    }

    // What was told on a connection, oldest first; it is not there any more then.
    std::vector<protocol::Message> told(ConnectionId to) {
        std::vector<protocol::Message> found;
        std::erase_if(outbox.messages, [&](auto& one) {
            if (one.first == to) found.push_back(std::move(one.second));
            return one.first == to;
        });
        return found;
    }
    // The one message that was told, which must be of that type.
    template <class M>
    M only(ConnectionId to) {
        const auto messages = told(to);
        check_eq(messages.size(), 1U);
        check_that(std::holds_alternative<M>(messages.front()));
        return std::get<M>(messages.front());
    }
    std::string failure(ConnectionId to) {
        const auto failed = only<protocol::Failure>(to);
        return fmt::format("{}: {}", failed.code.text(), failed.message);
    }
    // What the journal is to be told, by name; it is not there any more then.
    std::string noted() {
        std::string names;
        for (const auto& event : std::exchange(outbox.events, {}))
            names += fmt::format("{}{}", names.empty() ? "" : " ", journal::name_of(event));
        return names;
    }
    bool closed(ConnectionId id) const {
        return std::ranges::find(outbox.to_close, id) != outbox.to_close.end();
    }

    Agreement& offer_shrink(Job& job, JobId beneficiary = 0) {
        return negotiation.offer_shrink(job, "n4", 1, beneficiary, "why", now);
    }

    core::Config config;
    State state;
    Outbox outbox;
    Site site;
    Negotiation negotiation{config, state, outbox};
    Queries queries{config, state, outbox, negotiation, site};
    Time now = 1000;
    std::string drained, recording;
    Emptying emptying;
};

}  // namespace elastic::testing
