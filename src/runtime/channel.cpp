// SPDX-License-Identifier: MIT
// A message is small and seldom, so it is sent with a blocking socket.  What others send is bounded
// by a line's length, and who does not know the secret is not listened to (Launcher's Listener).
#include "runtime/channel.hpp"

#include <fmt/format.h>
#include <netdb.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>

#include <cerrno>
#include <cmath>
#include <system_error>

#include "common/text.hpp"
#include "runtime/store.hpp"

namespace elastic::runtime {
namespace {

constexpr std::size_t kLongestLine = std::size_t{1} << 20;
constexpr Number kSeconds{0, 1e9};

}  // namespace

template <class F>
void fields(F& f, Phases& phases) {
    f.optional("evacuation", phases.evacuation, kSeconds);
    f.optional("checkpoint", phases.checkpoint, kSeconds);
    f.optional("reconnect", phases.reconnect, kSeconds);
    f.optional("rebalance", phases.rebalance, kSeconds);
    f.optional("restore", phases.restore, kSeconds);
}

template <class F>
void fields(F& f, Message& message) {
    f.required("word", message.word);
    f.optional("secret", message.secret, Text{64});
    f.optional("generation", message.generation, Whole{0});
    f.optional("attempt", message.attempt, Whole{0, 1000});
    f.optional("size", message.size, Whole{0});
    f.optional("spill", message.spill, Text{4096});
    f.optional("nodes", message.node_list, Text{kLongestLine});
    f.optional("tasks_per_node", message.tasks_per_node, Whole{0, 1'000'000});
    f.optional("change", message.change, Whole{-1'000'000, 1'000'000});
    f.optional("reason", message.reason, Prose{1024});
    f.optional("phases", message.phases);
}

void Channel::send(const Message& message) {
    const std::string line = write_record(message).dump() + '\n';
    for (std::size_t sent = 0; open() && sent < line.size();) {
        const ssize_t count = ::send(fd(), line.data() + sent, line.size() - sent, MSG_NOSIGNAL);
        if (count >= 0)
            sent += static_cast<std::size_t>(count);
        else if (errno != EINTR)
            socket_.reset();
    }
}

bool Channel::read_more(Duration wait) {
    constexpr double kMs = 1000;
    pollfd ready{fd(), POLLIN, 0};
    if (::poll(&ready, 1, wait >= kNever ? -1 : static_cast<int>(std::ceil(wait * kMs))) <= 0)
        return false;
    char part[4096];
    const ssize_t count = ::recv(fd(), part, sizeof part, MSG_DONTWAIT);
    if (count > 0)
        text_.append(part, static_cast<std::size_t>(count));
    else if (count == 0 || (errno != EAGAIN && errno != EINTR))
        socket_.reset();
    return count > 0;
}

std::optional<Message> Channel::receive(Duration wait) {
    for (;;) {
        if (const std::size_t end = text_.find('\n'); end != std::string::npos) {
            const auto json = Json::parse(std::string_view(text_).substr(0, end));
            text_.erase(0, end + 1);
            Message message;
            if (json && read_record(*json, message)) return message;
            socket_.reset();
            return std::nullopt;
        }
        if (text_.size() > kLongestLine) socket_.reset();
        if (!open()) return std::nullopt;
        if (!read_more(wait) && wait < kNever) return std::nullopt;
    }
}

std::string to_string(const Meeting& meeting) {
    return fmt::format("{}:{}:{}:{}:{}", meeting.port, meeting.id, meeting.secret,
                       meeting.generation, meeting.attempt);
}

std::optional<Meeting> parse_meeting(const std::string& text) {
    const auto parts = split(text, ':');
    if (parts.size() != 5) return std::nullopt;
    const auto port = parse_integer(parts[0]), generation = parse_integer(parts[3]),
               attempt = parse_integer(parts[4]);
    const auto is_hexadecimal = [](std::string_view part) {
        return part.size() == 32 &&
               part.find_first_not_of("0123456789abcdef") == std::string_view::npos;
    };
    if (!port || *port < 1 || *port > UINT16_MAX || !generation || *generation < 0 || !attempt ||
        *attempt < 0 || *attempt > 1000 || !is_run_id(parts[1]) || !is_hexadecimal(parts[2]))
        return std::nullopt;
    return Meeting{static_cast<std::uint16_t>(*port), std::string(parts[1]), std::string(parts[2]),
                   *generation, static_cast<int>(*attempt)};
}

Result<Channel> connect_to(const Meeting& meeting, const std::string& address) {
    addrinfo hints{}, *found = nullptr;
    hints.ai_socktype = SOCK_STREAM;
    const std::string port = std::to_string(meeting.port);
    if (const int code = ::getaddrinfo(address.c_str(), port.c_str(), &hints, &found); code != 0)
        return error("{}: {}", printable(address), ::gai_strerror(code));
    Fd socket;
    int why = 0;
    for (const addrinfo* at = found; at && !socket; at = at->ai_next) {
        socket.reset(::socket(at->ai_family, at->ai_socktype | SOCK_CLOEXEC, 0));
        if (::connect(socket.get(), at->ai_addr, at->ai_addrlen) == 0) break;
        why = errno;
        socket.reset();
    }
    ::freeaddrinfo(found);
    if (!socket)
        return error("selastic-run at {} port {}: {}", printable(address), port,
                     std::generic_category().message(why));
    const int on = 1;
    ::setsockopt(socket.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    return Channel(std::move(socket));
}

}  // namespace elastic::runtime
