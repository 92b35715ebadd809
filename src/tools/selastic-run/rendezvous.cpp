// SPDX-License-Identifier: MIT
// Anybody can connect to a port, so what comes is nothing until it has named the secret, which is
// in the environment of the job's own processes.
//
// Always holds: there are few connections that have not named it, and none of them for long.
#include "selastic-run/rendezvous.hpp"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <system_error>

#include "runtime/store.hpp"
#include "selastic-run/job_step.hpp"

namespace elastic::tools {
namespace {

constexpr std::size_t kMostConnections = 64;
constexpr Duration kPatience = 10;  // for the secret

std::system_error failure(const char* what) {
    return {errno, std::generic_category(), what};
}

// Takes as long however much of them is alike.
bool same(const std::string& one, const std::string& other) {
    unsigned difference = one.size() == other.size() ? 0 : 1;
    for (std::size_t i = 0; i < std::min(one.size(), other.size()); ++i)
        difference |= static_cast<unsigned>(one[i] ^ other[i]);
    return difference == 0;
}

void watch(const Fd& epoll, int fd) {
    epoll_event wanted{};
    wanted.events = EPOLLIN;
    if (::epoll_ctl(epoll.get(), EPOLL_CTL_ADD, fd, &wanted) != 0) throw failure("epoll_ctl");
}

}  // namespace

Rendezvous::Rendezvous()
    : listening_(::socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)),
      epoll_(::epoll_create1(EPOLL_CLOEXEC)),
      secret_(runtime::random_name()) {
    sockaddr_in6 address{};
    address.sin6_family = AF_INET6;
    address.sin6_addr = in6addr_any;
    sockaddr_in plain{};
    plain.sin_family = AF_INET;
    const int off = 0;
    if (listening_) ::setsockopt(listening_.get(), IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off);
    if (!listening_ || ::bind(listening_.get(), reinterpret_cast<sockaddr*>(&address),
                              sizeof address) != 0) {  // a machine without IPv6
        listening_.reset(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
        if (::bind(listening_.get(), reinterpret_cast<sockaddr*>(&plain), sizeof plain) != 0)
            throw failure("bind");
    }
    sockaddr_storage bound{};
    socklen_t size = sizeof bound;
    if (::listen(listening_.get(), SOMAXCONN) != 0 ||
        ::getsockname(listening_.get(), reinterpret_cast<sockaddr*>(&bound), &size) != 0)
        throw failure("listen");
    port_ = ntohs(bound.ss_family == AF_INET6 ? reinterpret_cast<sockaddr_in6&>(bound).sin6_port
                                              : reinterpret_cast<sockaddr_in&>(bound).sin_port);
    watch(epoll_, listening_.get());
}

void Rendezvous::accept_all() {
    for (int fd; (fd = ::accept4(listening_.get(), nullptr, nullptr, SOCK_CLOEXEC)) >= 0;) {
        Fd socket(fd);
        if (connections_.size() >= kMostConnections) continue;
        const int on = 1;
        ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
        watch(epoll_, fd);
        connections_.emplace(next_++,
                             Connection{runtime::Channel(std::move(socket)), steady_now()});
    }
}

bool Rendezvous::may_stay(const Connection& connection) const {
    return connection.channel.open() &&
           (connection.known || steady_now() < connection.since + kPatience);
}

std::vector<Rendezvous::Received> Rendezvous::receive() {
    std::erase_if(connections_, [&](auto& item) { return !may_stay(item.second); });
    accept_all();
    std::vector<Received> received;
    for (auto& [number, connection] : connections_)
        while (auto message = connection.channel.receive(0)) {
            if (!connection.known &&
                (message->word != runtime::Verb::hello || !same(message->secret, secret_))) {
                connection.channel = runtime::Channel(Fd());
                break;
            }
            connection.known = true;
            received.push_back({number, std::move(*message)});
        }
    std::erase_if(connections_, [&](auto& item) { return !may_stay(item.second); });
    return received;
}

void Rendezvous::send(int to, const runtime::Message& message) {
    const auto found = connections_.find(to);
    if (found != connections_.end()) found->second.channel.send(message);
}

}  // namespace elastic::tools
