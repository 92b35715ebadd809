// SPDX-License-Identifier: MIT
// Who sends without waiting for answers, or does not read them, is left to TCP's flow control: see
// may_read().
#include "controller/connection.hpp"

#include <sys/socket.h>

#include <cerrno>

namespace elastic::controller {
namespace {

constexpr Duration kHelloWithin = 10;
constexpr Duration kFrameWithin = 30;         // from a frame's first byte to its last
constexpr Duration kCloseWithin = 10;         // for a peer to read what ends its connection
constexpr std::size_t kMaxUnsent = 4u << 20;  // bytes

bool would_block(ssize_t size) {
    return size < 0 && (errno == EAGAIN || errno == EINTR);
}

}  // namespace

bool Connection::read(Time now) {
    char bytes[16384];
    const ssize_t size = ::recv(fd(), bytes, sizeof bytes, 0);
    if (size <= 0) return would_block(size);
    if (closing_) return true;
    if (introduced_ && !reader_.partial()) since_ = now;
    readable_ = reader_.feed(bytes, static_cast<std::size_t>(size));
    return true;
}

Result<std::optional<std::string>> Connection::next() {
    if (closing_ || !may_read()) return std::optional<std::string>();
    auto credential = reader_.next();
    if (!credential && !readable_) return readable_.error();
    return credential;
}

bool Connection::write() {
    while (!unsent_.empty()) {
        const ssize_t size = ::send(fd(), unsent_.data(), unsent_.size(), MSG_NOSIGNAL);
        if (size <= 0) return would_block(size);
        unsent_.erase(0, static_cast<std::size_t>(size));
    }
    return true;
}

bool Connection::has_too_much_unsent() const {
    return unsent_.size() > kMaxUnsent;
}

void Connection::begin_closing(Time now) {
    closing_ = true;
    since_ = now;
}

bool Connection::is_late(Time now) {
    if (!may_read()) since_ = now;  // we let it wait
    return now - since_ > patience();
}

Duration Connection::patience() const {
    if (closing_) return kCloseWithin;
    if (!introduced_) return kHelloWithin;
    return reader_.partial() ? kFrameWithin : kNever;
}

}  // namespace elastic::controller
