// SPDX-License-Identifier: MIT
// A program that is slow to read must not stop selastic-run, which has the controller to answer:
// what finds no room in the socket ends the connection, and the job goes on as without one.
//
// Always holds: the descriptor is not handed on to steps and commands; a line is at most as long as
// a node list may be.
#include "selastic-run/control.hpp"

#include <fcntl.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>

namespace elastic::tools {
namespace {

constexpr std::size_t kLongest = 1 << 22;

}  // namespace

Control::Control(int fd) : socket_(fd) {
    if (fd >= 0 && ::fcntl(fd, F_SETFD, FD_CLOEXEC) != 0) socket_.release();  // there is none
}

std::vector<std::string> Control::lines() {
    std::array<char, 4096> part;
    while (socket_) {
        const ssize_t got = ::recv(socket_.get(), part.data(), part.size(), MSG_DONTWAIT);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) break;
        if (got <= 0 || text_.size() > kLongest) socket_.reset();
        if (got > 0) text_.append(part.data(), static_cast<std::size_t>(got));
    }
    std::vector<std::string> found;
    for (std::size_t end; (end = text_.find('\n')) != std::string::npos; text_.erase(0, end + 1))
        found.push_back(text_.substr(0, end));
    return found;
}

void Control::tell(const std::string& line) {
    if (!socket_) return;
    const std::string text = line + '\n';
    const ssize_t sent =
        ::send(socket_.get(), text.data(), text.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
    if (sent != static_cast<ssize_t>(text.size())) socket_.reset();
}

}  // namespace elastic::tools
