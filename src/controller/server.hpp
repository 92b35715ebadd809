// SPDX-License-Identifier: MIT
// Serves applications and tools over the network: accepts connections, checks who speaks, takes
// messages in and sends messages out.
//
// One thread of its own with an event loop.  It knows nothing of jobs and takes none of slurmctld's
// locks: what it has received is fetched with take() by the controller's thread, which it wakes.
//
// Always holds: a message given out by take() was sealed by the user it names, on a connection
// whose first message (Hello) that same user had sealed, and came next in its sequence.  Of a
// connection at most one message is in the hands of the controller's thread: the next is not even
// read before that one is answered and its answers are on their way.  So memory is bounded,
// whatever peers do, and those who say much wait for those who say little.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "common/result.hpp"
#include "controller/incoming.hpp"
#include "protocol/seal.hpp"

namespace elastic::controller {

struct ServerOptions {
    int port = 0;  // 0: any that is free
    protocol::Authentication authentication;
    int max_connections = 0;
    int max_connections_per_user = 0;
    std::string interface = {};  // to listen on: its numeric address, or "" for all
    friend bool operator==(const ServerOptions&, const ServerOptions&) = default;
};

using MakeSeal =
    std::function<Result<std::unique_ptr<protocol::Seal>>(const protocol::Authentication&)>;

class Server {
  public:
    // `wake` is called in the server's thread whenever there is something to take.
    explicit Server(std::function<void()> wake, MakeSeal make_seal = protocol::make_seal);
    ~Server();

    // Listens and starts the thread.  An error names the port and the reason.
    Result<void> start(const ServerOptions&);
    // Goes on with other options; connections stay.  On an error the old ones stay in force.
    Result<void> reconfigure(const ServerOptions&);
    void stop();
    bool is_started() const { return loop_ != nullptr; }
    int port() const { return port_; }  // where it listens

    // The oldest message; nothing if there is none.
    std::optional<Incoming> take();
    // Its message has been dealt with, and whatever there is to answer was sent.
    void answered(ConnectionId);
    // Thread-safe, never blocks; nothing happens if the connection is gone.
    void send(ConnectionId, protocol::Message);
    // After what has been sent before.
    void close(ConnectionId);

  private:
    class Loop;
    std::function<void()> wake_;
    MakeSeal make_seal_;
    ServerOptions options_;
    int port_ = 0;
    std::unique_ptr<Loop> loop_;
};

}  // namespace elastic::controller
