// SPDX-License-Identifier: MIT
// Sockets are made here rather than by the HTTP library, whose errors do not say what was wrong.
#include "selastic-serve/listening.hpp"

#include <arpa/inet.h>
#include <netdb.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>

#include "common/text.hpp"

namespace elastic::tools {
namespace {

constexpr int kBacklog = 256;

struct Place {
    std::string host, port;
};

// "host:port" and "[host]:port"; the port may be missing.
std::optional<Place> place_of(std::string_view text) {
    if (text.starts_with('[')) {
        const auto end = text.find(']');
        if (end == text.npos) return std::nullopt;
        const std::string_view rest = text.substr(end + 1);
        if (!rest.empty() && !rest.starts_with(':')) return std::nullopt;
        return Place{std::string(text.substr(1, end - 1)),
                     std::string(rest.empty() ? rest : rest.substr(1))};
    }
    const auto colon = text.find(':');
    if (colon == text.npos) return Place{std::string(text), ""};
    return Place{std::string(text.substr(0, colon)), std::string(text.substr(colon + 1))};
}

bool is_address(const std::string& host) {
    in6_addr address;
    return inet_pton(AF_INET, host.c_str(), &address) == 1 ||
           inet_pton(AF_INET6, host.c_str(), &address) == 1;
}

// getaddrinfo() takes the rest of a greater number.
bool is_port(const std::string& text) {
    const auto number = parse_integer(text);
    return number && *number >= 0 && *number <= UINT16_MAX;
}

Error failed(const std::string& what, const char* advice) {
    return error("cannot listen at {}: {}{}", what, std::strerror(errno), advice);
}

// What to do where an address cannot be had.
const char* advice(int error) {
    switch (error) {
        case EADDRINUSE:
            return "; --listen ADDRESS:PORT names another port, and port 0 is any that is free";
        case EACCES:
            return "; ports below 1024 are root's: --listen ADDRESS:PORT names another";
        case EADDRNOTAVAIL:
            return "; --listen takes an address of this host, or 0.0.0.0 for all of them";
        default:
            return "";
    }
}

// The same of a path.
const char* advice_on_path(int error) {
    switch (error) {
        case EADDRINUSE:
            return "; another server listens there, or it is no socket: --socket PATH names "
                   "another";
        case EACCES:
        case EROFS:
            return "; --socket PATH names one in a folder that this user may write to";
        case ENOENT:
        case ENOTDIR:
            return "; its folder has to be there";
        default:
            return "";
    }
}

int port_of(int socket) {
    sockaddr_storage address{};
    socklen_t size = sizeof address;
    getsockname(socket, reinterpret_cast<sockaddr*>(&address), &size);
    return ntohs(address.ss_family == AF_INET6 ? reinterpret_cast<sockaddr_in6&>(address).sin6_port
                                               : reinterpret_cast<sockaddr_in&>(address).sin_port);
}

// Whether a socket is there to which nobody listens.
bool is_left_over(const sockaddr_un& address) {
    struct stat found {};
    if (lstat(address.sun_path, &found) != 0 || !S_ISSOCK(found.st_mode)) return false;
    const Fd probe(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    return connect(probe.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 &&
           errno == ECONNREFUSED;
}

}  // namespace

Result<Listener> listen_at(const std::string& address) {
    const auto place = place_of(address);
    if (!place || !is_port(place->port) || !is_address(place->host))
        return error(
            "\"{}\" is not ADDRESS:PORT, an address in numbers and a port up to 65535, such as "
            "127.0.0.1:9821 or [::1]:9821",
            address);
    addrinfo hints{}, *found = nullptr;
    hints.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV | AI_PASSIVE;
    hints.ai_socktype = SOCK_STREAM;
    if (const int wrong = getaddrinfo(place->host.c_str(), place->port.c_str(), &hints, &found))
        return error("cannot listen at {}: {}", address, gai_strerror(wrong));
    const std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> first(found, freeaddrinfo);
    Fd fd(socket(first->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    const int yes = 1;
    if (!fd || setsockopt(fd.get(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes) != 0 ||
        bind(fd.get(), first->ai_addr, first->ai_addrlen) != 0 || listen(fd.get(), kBacklog) != 0)
        return failed(address, advice(errno));
    const std::string shown = first->ai_family == AF_INET6 ? '[' + place->host + ']' : place->host;
    const std::string url = fmt::format("http://{}:{}/", shown, port_of(fd.get()));
    return Listener{std::move(fd), url, ""};
}

Result<Listener> listen_at_path(const std::string& path) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    if (path.size() >= sizeof address.sun_path)
        return error("\"{}\" is too long for a socket's path: at most {} bytes are possible", path,
                     sizeof address.sun_path - 1);
    path.copy(address.sun_path, path.size());
    if (is_left_over(address)) unlink(path.c_str());
    Fd fd(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    if (!fd || bind(fd.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) != 0 ||
        listen(fd.get(), kBacklog) != 0)
        return failed(path, advice_on_path(errno));
    return Listener{std::move(fd), "unix:" + path, path};
}

bool may_be_host(std::string_view host, const std::vector<std::string>& names) {
    const auto place = place_of(host);
    if (!place || place->host.empty()) return false;
    if (is_address(place->host) || equal_ignoring_case(place->host, "localhost")) return true;
    return std::ranges::any_of(
        names, [&](const std::string& name) { return equal_ignoring_case(place->host, name); });
}

}  // namespace elastic::tools
