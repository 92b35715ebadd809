// SPDX-License-Identifier: MIT
// What selastic-run and process 0 of a program say to each other: JSON, one message a line.
//
//     program: hello   when it has started; the launcher answers with go, the first time at once,
//                      after a resize when there is a checkpoint
//              confirmed   all that was in the checkpoint is there again; answered with ok
//              checkpointed   upon resize: the checkpoint is complete; leave or proceed follows
//              refused     upon resize: why there is none; the program goes on
//              request     of more nodes, or fewer; answered only if nothing comes of it: a resize
//                          ends it, whatever that is for
//              closed      it has ended, and nothing of it is left in shared memory
//     launcher: resize     at the next point where it may happen
//               proceed    there will be no other world: go on as you are
//               answered   nothing comes of the request
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "common/fd.hpp"
#include "common/record.hpp"
#include "common/result.hpp"
#include "common/time.hpp"

namespace elastic::runtime {

enum class Verb {
    hello,
    go,
    confirmed,
    ok,
    resize,
    checkpointed,
    refused,
    leave,
    proceed,
    closed,
    request,
    answered,
};
constexpr auto names(Verb) {
    return std::to_array<std::string_view>({"hello", "go", "confirmed", "ok", "resize",
                                            "checkpointed", "refused", "leave", "proceed", "closed",
                                            "request", "answered"});
}

// Seconds that a resize takes ([gupta] table II).
struct Phases {
    Duration evacuation = 0, checkpoint = 0, reconnect = 0, rebalance = 0, restore = 0;
    friend bool operator==(const Phases&, const Phases&) = default;
};

struct Message {
    Verb word = Verb::hello;
    std::string secret = {};      // hello
    std::int64_t generation = 0;  // hello, resize: of the world after it
    int attempt = 0;              // hello
    int size = 0;                 // hello: processes of the world
    std::string spill = {};       // hello: where files are that found no place in memory
    std::string node_list = {};   // resize, in Slurm's notation
    int tasks_per_node = 0;       // resize
    int change = 0;               // request: nodes, fewer if negative; 0: it is withdrawn
    std::string reason = {};      // refused, proceed, answered
    Phases phases = {};           // checkpointed, confirmed
};

// A connection.  Throws nothing; one that fails is closed.
class Channel {
  public:
    explicit Channel(Fd socket) : socket_(std::move(socket)) {}

    int fd() const { return socket_.get(); }
    bool open() const { return static_cast<bool>(socket_); }
    void send(const Message& message);
    // The next message; nothing if there is none within the time (kNever: as long as it takes) or
    // the connection is over, see open().
    std::optional<Message> receive(Duration wait);

  private:
    bool read_more(Duration wait);

    Fd socket_;
    std::string text_;
};

// How a program finds its launcher: in the environment of its step.
struct Meeting {
    std::uint16_t port = 0;
    std::string id, secret;  // of the folders in shared memory; of the connection
    std::int64_t generation = 0;
    int attempt = 0;
};
inline constexpr const char* kMeetingVariable = "ELASTIC_RUN";
std::string to_string(const Meeting&);
std::optional<Meeting> parse_meeting(const std::string& text);

// To the launcher, which is where srun runs; SLURM_LAUNCH_NODE_IPADDR says where that is.
Result<Channel> connect_to(const Meeting&, const std::string& address);

}  // namespace elastic::runtime
