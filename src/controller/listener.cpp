// SPDX-License-Identifier: MIT
// The socket that the controller listens on, and the options of what it accepts.
//
// Always holds: no socket blocks, and none is left to programs that slurmctld starts.
#include "controller/listener.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstddef>
#include <cstring>

namespace elastic::controller {

namespace {

void set_option(int fd, int level, int name, int value) {
    setsockopt(fd, level, name, &value, sizeof value);
}

// A peer whose host has died is noticed by the kernel after about two minutes.
void keep_alive(int fd) {
    set_option(fd, SOL_SOCKET, SO_KEEPALIVE, 1);
    set_option(fd, IPPROTO_TCP, TCP_KEEPIDLE, 60);
    set_option(fd, IPPROTO_TCP, TCP_KEEPINTVL, 15);
    set_option(fd, IPPROTO_TCP, TCP_KEEPCNT, 4);
    set_option(fd, IPPROTO_TCP, TCP_NODELAY, 1);
}

struct Address {
    sockaddr_storage any{};
    socklen_t size = 0;
};

// `interface`: a numeric address of either family, or "" for all.
Address address_of(const std::string& interface, bool ipv6, int port) {
    Address address;
    if (ipv6) {
        const bool is_ipv4 = !interface.empty() && interface.find(':') == std::string::npos;
        const std::string text = interface.empty() ? "::" : (is_ipv4 ? "::ffff:" : "") + interface;
        auto* in6 = reinterpret_cast<sockaddr_in6*>(&address.any);
        in6->sin6_family = AF_INET6;
        in6->sin6_port = htons(static_cast<uint16_t>(port));
        inet_pton(AF_INET6, text.c_str(), &in6->sin6_addr);
        address.size = sizeof *in6;
    } else {
        auto* in4 = reinterpret_cast<sockaddr_in*>(&address.any);
        in4->sin_family = AF_INET;
        in4->sin_port = htons(static_cast<uint16_t>(port));
        inet_pton(AF_INET, interface.empty() ? "0.0.0.0" : interface.c_str(), &in4->sin_addr);
        address.size = sizeof *in4;
    }
    return address;
}

Fd stream_socket(int family) {
    return Fd(::socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
}

}  // namespace

Result<Fd> listen_on(int port, const std::string& interface) {
    Fd socket = stream_socket(AF_INET6);
    const bool ipv6 = static_cast<bool>(socket);
    if (!ipv6) socket = stream_socket(AF_INET);
    if (!socket) return error("cannot make a socket: {}", strerror(errno));
    set_option(socket.get(), SOL_SOCKET, SO_REUSEADDR, 1);
    if (ipv6) set_option(socket.get(), IPPROTO_IPV6, IPV6_V6ONLY, 0);
    const Address address = address_of(interface, ipv6, port);
    if (::bind(socket.get(), reinterpret_cast<const sockaddr*>(&address.any), address.size) != 0 ||
        ::listen(socket.get(), 128) != 0)
        return error("cannot listen on port {} (ListenPort){}: {}", port,
                     interface.empty() ? "" : " of " + interface, strerror(errno));
    return socket;
}

int port_of(int listener) {
    sockaddr_in6 address{};  // of IPv4 too the port is the second member
    static_assert(offsetof(sockaddr_in6, sin6_port) == offsetof(sockaddr_in, sin_port));
    socklen_t size = sizeof address;
    getsockname(listener, reinterpret_cast<sockaddr*>(&address), &size);
    return ntohs(address.sin6_port);
}

int accept_connection(int listener) {
    const int fd = accept4(listener, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (fd >= 0) keep_alive(fd);
    return fd;
}

}  // namespace elastic::controller
