// SPDX-License-Identifier: MIT
// A port on which nobody listens but who is told of it: a server that ends and is started anew at
// the same place must not find another test's server there in between.
#pragma once

#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "controller/listener.hpp"
#include "testing.hpp"

namespace elastic::testing {

class ReservedPort {
  public:
    // Bound and not listening: connections are refused, and a listener that asks for the port by
    // its number gets it, but nobody who asks for any.
    ReservedPort() : fd_(socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
        const int yes = 1;
        setsockopt(fd_, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
        sockaddr_in6 address{};
        address.sin6_family = AF_INET6;
        ck_assert_int_eq(bind(fd_, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
        number_ = controller::port_of(fd_);
    }
    ~ReservedPort() { close(fd_); }
    ReservedPort(const ReservedPort&) = delete;
    ReservedPort& operator=(const ReservedPort&) = delete;

    int number() const { return number_; }

  private:
    int fd_;
    int number_ = 0;
};

}  // namespace elastic::testing
