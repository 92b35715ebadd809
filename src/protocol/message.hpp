// SPDX-License-Identifier: MIT
// The messages between a job (libelastic, selastic) and the controller.  doc/protocol.md specifies
// their order, codec.hpp their JSON; each says what the wire calls it: kName.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

#include "common/json.hpp"
#include "common/resize.hpp"
#include "protocol/open_word.hpp"

namespace elastic::protocol {

using elastic::to_string;

inline constexpr int kVersion = 3;

enum class Role { application, tool };
constexpr auto names(Role) {
    return std::to_array<std::string_view>({"application", "tool"});
}
// How far an agreement has come.  released: Done was received for a shrink; applied: an expand is
// in Slurm's books and its Done is awaited.
enum class Stage { offered, accepted, released, applied };
constexpr auto names(Stage) {
    return std::to_array<std::string_view>({"offered", "accepted", "released", "applied"});
}

// client -> controller, first on a connection
struct Hello {
    static constexpr std::string_view kName = "hello";
    int version = kVersion;
    Role role = Role::application;
    JobId job = 0;      // 0 for a tool
    std::string nonce;  // random; Welcome returns it, so that nobody can replay an old session
};

// controller -> client, answer to Hello
struct Welcome {
    static constexpr std::string_view kName = "welcome";
    int version = kVersion;
    std::string session;  // every further message of either side carries it
    JobId job = 0;
    bool malleable = false, evolving = false;
    int min = 0, max = 0;   // the job's range
    std::string node_list;  // the job's nodes now, Slurm's notation
    int nodes = 0;
    std::string batch_host;  // the node that can never be given up
    std::string nonce;       // Hello's
    // What is in flight, 0 for nothing; what else the client knows of is over.  For an `agreement`
    // an Offer follows, then an Accepted or Applied if `stage` is that; for a `request` a Queued
    // with token 0 follows.
    OpId agreement = 0;
    Stage stage = Stage::offered;
    OpId request = 0;
    std::string sizes = "any";  // that the job may have in its range, as sizes= has it
};

// controller -> application: a resize is offered
struct Offer {
    static constexpr std::string_view kName = "offer";
    OpId op = 0;
    ResizeKind kind = ResizeKind::shrink;
    int nodes = 0;  // how many more or fewer
    int size_after = 0;
    std::string node_list;  // shrink: the nodes to give up; expand: "" (not yet chosen)
    double deadline = 0;    // seconds from now to accept or decline
    std::string reason;
};

// application -> controller: yes to an offer, or to fewer nodes of it or of a request
struct Accept {
    static constexpr std::string_view kName = "accept";
    OpId op = 0;
    int count = 0;  // of the nodes of an expansion or a request, so many; 0: all
};
// application -> controller: no to an offer
struct Decline {
    static constexpr std::string_view kName = "decline";
    OpId op = 0;
    std::string reason;
};
// application -> controller: nothing of ours runs any more on the nodes of a shrink, or the new
// nodes of an expansion are in use
struct Done {
    static constexpr std::string_view kName = "done";
    OpId op = 0;
};

// controller -> application: accept was understood; for a shrink, move away now
struct Accepted {
    static constexpr std::string_view kName = "accepted";
    OpId op = 0;
    double deadline = 0;  // seconds from now to Done
};

// controller -> application: Slurm's allocation has changed
struct Applied {
    static constexpr std::string_view kName = "applied";
    OpId op = 0;
    ResizeKind kind = ResizeKind::shrink;
    std::string changed;    // nodes that came or went
    std::string node_list;  // all nodes now
    int nodes = 0;
};

// controller -> application: an agreement or request is over without effect
enum class Outcome { declined, expired, cancelled, denied };
constexpr auto names(Outcome) {
    return std::to_array<std::string_view>({"declined", "expired", "cancelled", "denied"});
}
struct Ended {
    static constexpr std::string_view kName = "ended";
    OpId op = 0;
    ResizeKind kind = ResizeKind::shrink;
    Outcome outcome = Outcome::cancelled;
    std::string reason;
};

// application -> controller: an evolving job asks for more
struct Request {
    static constexpr std::string_view kName = "request";
    std::int64_t token = 0;  // chosen by the client, returned in Queued
    int nodes = 0;           // how many more, >= 1
    int least = 0;           // be content with this many, 1 <= least <= nodes
    double timeout = 0;      // seconds to wait; 0: now or never
};
// controller -> application: the Request is an operation from now on
struct Queued {
    static constexpr std::string_view kName = "queued";
    std::int64_t token = 0;
    OpId op = 0;
};

// application -> controller: an evolving or malleable job gives nodes back, which are already empty
struct Release {
    static constexpr std::string_view kName = "release";
    std::int64_t token = 0;
    int nodes = 0;          // how many, if node_list is empty
    std::string node_list;  // which
};

// application -> controller: a request or offer that is not applied yet is wanted no more
struct Cancel {
    static constexpr std::string_view kName = "cancel";
    OpId op = 0;
};

// application -> controller: when the next step of its evolution profile begins, on how many nodes
struct Step {
    static constexpr std::string_view kName = "step";
    std::int64_t token = 0;  // random: what is said again after a reconnection is known by it
    int nodes = 0;           // 0: as many as the profile says
    double in = 0;           // seconds from now
};

// controller -> application: what the profile says now; with token 0 since a step has begun
struct Planned {
    static constexpr std::string_view kName = "planned";
    std::int64_t token = 0;
    int number = 0;  // of the present step, or the one that is waited for, from 1
    int nodes = 0;   // ... has so many
    bool waits = false;
    int next_nodes = 0;  // of the step after that; 0: there is none
    double next_in = 0;  // seconds from now until that is to begin
};

// application -> controller: what it knows better than its time limit
struct Progress {
    static constexpr std::string_view kName = "progress";
    double remaining = 0;  // seconds at its present size
};

// tool -> controller
enum class Question { jobs, journal, show, snapshot, shrink, expand, evacuate, nodes, metrics };
constexpr auto names(Question) {
    return std::to_array<std::string_view>({"jobs", "journal", "show", "snapshot", "shrink",
                                            "expand", "evacuate", "nodes", "metrics"});
}
inline constexpr std::int64_t kNoTask = -1;
struct Query {
    static constexpr std::string_view kName = "query";
    std::int64_t token = 0;
    OpenWord<Question> what = Question::jobs;
    JobId job = 0;
    std::int64_t task = kNoTask;  // of the array `job`, the element; kNoTask: the job itself
    int nodes = 0;                // shrink, expand: the size wanted
    std::string node;             // evacuate: a node list
    int tail = 0;                 // journal: the last so many events
    std::string after;  // journal: instead the next so many behind the `next` of a reply before
};

// controller -> tool
struct Reply {
    static constexpr std::string_view kName = "reply";
    std::int64_t token = 0;
    Json body;
};

enum class FailureCode {
    version,
    denied,
    unknown_job,
    not_elastic,
    replaced,
    malformed,
    limit,
    state
};
constexpr auto names(FailureCode) {
    return std::to_array<std::string_view>({"version", "denied", "unknown_job", "not_elastic",
                                            "replaced", "malformed", "limit", "state"});
}
// either: what was wrong with the peer's last message.  `fatal`: the connection is closed next.
struct Failure {
    static constexpr std::string_view kName = "failure";
    std::int64_t token = 0;
    OpenWord<FailureCode> code = FailureCode::state;
    std::string message;
    bool fatal = false;
    OpId op = 0;  // the size that was accepted of this operation is not possible; 0: not about that
};

using Message =
    std::variant<Hello, Welcome, Offer, Accept, Decline, Done, Accepted, Applied, Ended, Request,
                 Queued, Release, Cancel, Progress, Step, Planned, Query, Reply, Failure>;

// What a frame carries.  `sequence` counts from 1 in each direction of a connection; a receiver
// drops the connection when one is not the next.
struct Envelope {
    std::string session;  // "" in Hello and in a Failure that answers it
    std::uint32_t sequence = 0;
    Message message;
};

}  // namespace elastic::protocol
