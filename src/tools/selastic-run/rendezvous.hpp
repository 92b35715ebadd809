// SPDX-License-Identifier: MIT
// Where the worlds of a program connect: process 0 of each.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "common/fd.hpp"
#include "common/time.hpp"
#include "runtime/channel.hpp"

namespace elastic::tools {

class Rendezvous {
  public:
    Rendezvous();  // on a free port of all addresses; throws std::system_error

    const std::string& secret() const { return secret_; }
    std::uint16_t port() const { return port_; }
    int fd() const { return epoll_.get(); }

    struct Received {
        int from;  // a connection; numbers are not used again
        runtime::Message message;
    };
    // What has come.  The first message of each connection is a hello with the secret.
    std::vector<Received> receive();
    void send(int to, const runtime::Message& message);
    void close(int connection) { connections_.erase(connection); }

  private:
    struct Connection {
        runtime::Channel channel;
        Time since;
        bool known = false;
    };

    void accept_all();
    bool may_stay(const Connection& connection) const;

    Fd listening_, epoll_;
    std::uint16_t port_ = 0;
    std::string secret_;
    std::map<int, Connection> connections_;
    int next_ = 1;
};

}  // namespace elastic::tools
