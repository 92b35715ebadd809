// SPDX-License-Identifier: MIT
// A connection that looks after itself.
//
// waiting --due--> connecting --> greeting --Welcome--> up; any trouble leads back to waiting, a
// refusal for good to off.  Everything happens inside wait(), driven by one epoll set of two
// descriptors: the socket, which changes, and a timer, which does not.  The epoll descriptor is
// what the application polls on, so it stays the same over reconnections, and a timer that has run
// out makes it readable.
//
// All addresses of all controllers are tried in turn without a pause, since the one that serves is
// not known; only after a round without success comes a pause, which doubles, with a random part so
// that the jobs of a cluster do not all come back at the same moment.  Looking up where the
// controller is blocks, and has longer pauses of its own.
//
// Always holds: a message reaches the user only if the controller's user sealed it and it is the
// next one of this session; there is a socket exactly in connecting, greeting and up.
#include "libelastic/link.hpp"

#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/random.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <ctime>
#include <system_error>
#include <utility>

#include "protocol/codec.hpp"

namespace elastic::libelastic {

using protocol::Envelope;
using protocol::Failure;
using protocol::FailureCode;
using protocol::Welcome;

namespace {

constexpr std::size_t kMaxAddresses = 64;
constexpr Duration kSettled = 10;  // a connection that held so long was a good one
constexpr int kReadsAtOnce = 16;   // then others have their turn; epoll reports the rest again
constexpr int kKeepAlive = 60;     // seconds of silence before TCP asks
constexpr int kDeadAfterMs = 30'000;

std::uint64_t random_bits() {
    std::uint64_t bits = 0;
    if (getrandom(&bits, sizeof bits, 0) != sizeof bits)
        throw std::system_error(errno, std::generic_category(), "getrandom");
    return bits;
}

Fd checked(int fd, const char* what) {
    if (fd < 0) throw std::system_error(errno, std::generic_category(), what);
    return Fd(fd);
}

void add_to(int epoll, int fd) {
    epoll_event interest{};
    interest.events = EPOLLIN;
    interest.data.fd = fd;
    if (epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &interest) != 0)
        throw std::system_error(errno, std::generic_category(), "epoll_ctl");
}

void set_option(int fd, int level, int name, int value) {
    // Each is an improvement only; a kernel without it still has a working connection.
    (void)setsockopt(fd, level, name, &value, sizeof value);
}

void tune(int fd) {
    set_option(fd, IPPROTO_TCP, TCP_NODELAY, 1);
    set_option(fd, SOL_SOCKET, SO_KEEPALIVE, 1);
    set_option(fd, IPPROTO_TCP, TCP_KEEPIDLE, kKeepAlive);
    set_option(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, kDeadAfterMs);
}

// Whether the same answer would come again.
bool is_final(const Failure& failure, bool welcomed_once) {
    // A controller that has just restarted may not know its jobs yet.
    if (failure.code == FailureCode::unknown_job) return !welcomed_once;
    constexpr std::array kFinal = {FailureCode::not_elastic, FailureCode::denied,
                                   FailureCode::version, FailureCode::replaced};
    return std::ranges::find(kFinal, failure.code.known()) != kFinal.end();
}

}  // namespace

Time monotonic_now() {
    timespec now{};
    clock_gettime(CLOCK_MONOTONIC, &now);
    return static_cast<Time>(now.tv_sec) + static_cast<Time>(now.tv_nsec) * 1e-9;
}

Link::Link(protocol::Endpoint endpoint, std::unique_ptr<protocol::Seal> seal, LinkUser& user,
           LinkTimes times, Locate locate)
    : endpoint_(std::move(endpoint)),
      seal_(std::move(seal)),
      user_(user),
      times_(times),
      locate_(std::move(locate)),
      epoll_(checked(epoll_create1(EPOLL_CLOEXEC), "epoll_create1")),
      timer_(
          checked(timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC), "timerfd_create")),
      pause_(times.first_pause) {
    add_to(epoll_.get(), timer_.get());
    arm();
}

// Files and names are looked up in the application's time, of which a resolver may take seconds:
// not while a controller answers, and less and less often while none does.
void Link::look_up() {
    if (!addresses_.empty() && !missed_) return;
    if (monotonic_now() < look_up_due_) return;
    if (missed_) locate_again();
    if (addresses_.empty()) resolve();
    look_up_pause_ = std::clamp(2 * look_up_pause_, times_.first_pause, times_.longest_look_up);
    look_up_due_ = monotonic_now() + look_up_pause_;
}

void Link::resolve() {
    addrinfo hints{};
    hints.ai_socktype = SOCK_STREAM;
    for (const auto& at : endpoint_.controllers) {
        addrinfo* found = nullptr;
        const auto port = std::to_string(at.port);
        if (const int code = getaddrinfo(at.host.c_str(), port.c_str(), &hints, &found);
            code != 0) {
            trouble_ = fmt::format("{}: {}", at.host, gai_strerror(code));
            continue;
        }
        for (auto* one = found; one && addresses_.size() < kMaxAddresses; one = one->ai_next) {
            Address address;
            address.length = one->ai_addrlen;
            std::memcpy(&address.storage, one->ai_addr, one->ai_addrlen);
            addresses_.push_back(address);
        }
        freeaddrinfo(found);
    }
}

// The port may have changed since the application began.
void Link::locate_again() {
    if (!locate_) return;
    auto found = locate_();
    if (!found || found->slurm_user != endpoint_.slurm_user ||
        found->controllers == endpoint_.controllers)
        return;
    endpoint_.controllers = std::move(found->controllers);
    addresses_.clear();
    next_address_ = 0;
}

void Link::connect_next() {
    if (tried_ == 0) look_up();
    if (addresses_.empty()) return lose(trouble_.empty() ? "no controller" : trouble_);
    const Address& address = addresses_[next_address_ % addresses_.size()];
    Fd fd(socket(address.storage.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
    if (!fd) return lose(std::strerror(errno));
    tune(fd.get());
    const auto* to = reinterpret_cast<const sockaddr*>(&address.storage);
    if (connect(fd.get(), to, address.length) != 0 && errno != EINPROGRESS)
        return lose(std::strerror(errno));
    add_to(epoll_.get(), fd.get());
    socket_ = std::move(fd);
    state_ = State::connecting;
    due_ = monotonic_now() + times_.patience;
    watch(true);
}

void Link::greet() {
    int code = 0;
    socklen_t length = sizeof code;
    getsockopt(socket_.get(), SOL_SOCKET, SO_ERROR, &code, &length);
    if (code != 0) return lose(std::strerror(code));
    state_ = State::greeting;
    session_.clear();
    nonce_ = fmt::format("{:016x}{:016x}", random_bits(), random_bits());
    auto hello = user_.hello();
    hello.nonce = nonce_;
    queue(hello);
    flush();
}

bool Link::wait(int timeout_ms) {
    flush();
    arm();
    std::array<epoll_event, 2> ready;
    const int count = epoll_wait(epoll_.get(), ready.data(), ready.size(), timeout_ms);
    const bool interrupted = count < 0 && errno == EINTR;
    for (int i = 0; i < count; ++i) {
        if (ready[i].data.fd == timer_.get()) {
            std::uint64_t times = 0;
            (void)!read(timer_.get(), &times, sizeof times);
        } else if (socket_ && ready[i].data.fd == socket_.get()) {
            on_socket(ready[i].events);
        }
    }
    check_times();
    flush();
    arm();
    return !interrupted;
}

void Link::on_socket(std::uint32_t events) {
    if (state_ == State::connecting) return greet();
    if (events & (EPOLLIN | EPOLLHUP | EPOLLERR)) receive();
}

void Link::check_times() {
    if (state_ == State::up || state_ == State::off || monotonic_now() < due_) return;
    if (state_ == State::waiting) return connect_next();
    lose("the controller does not answer");
}

void Link::receive() {
    std::array<char, 16384> data;
    for (int i = 0; i < kReadsAtOnce && connected(); ++i) {
        const ssize_t size = recv(socket_.get(), data.data(), data.size(), 0);
        if (size < 0 && errno == EINTR) continue;
        if (size < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return;
        if (size < 0) return lose(std::strerror(errno));
        if (size == 0) return lose("the controller closed the connection");
        const auto fine = reader_.feed(data.data(), static_cast<std::size_t>(size));
        while (connected()) {
            const auto credential = reader_.next();
            if (!credential || !take_frame(*credential)) break;
        }
        if (!fine && connected()) return lose(fine.error().message);
    }
}

// False if the connection was lost over it.
bool Link::take_frame(const std::string& credential) {
    auto envelope = open(credential);
    if (!envelope) {
        lose(envelope.error().message);
        return false;
    }
    if (state_ == State::greeting) {
        take_greeting(*envelope);
    } else if (const auto* failure = std::get_if<Failure>(&envelope->message)) {
        on_failure(*failure);
    } else {
        user_.received(envelope->message);
    }
    return connected();
}

Result<Envelope> Link::open(const std::string& credential) {
    auto opened = seal_->open(credential);
    if (!opened) return opened.error();
    if (opened->uid != endpoint_.slurm_user && opened->uid != 0)
        return error("a message of user {}, not of the controller", opened->uid);
    auto envelope = protocol::decode(opened->payload);
    if (!envelope) return envelope.error();
    if (envelope->sequence != taken_ + 1)
        return error("message {} where {} was due", envelope->sequence, taken_ + 1);
    if (state_ == State::up && envelope->session != session_)
        return error("a message of another session");
    taken_ = envelope->sequence;
    return envelope;
}

void Link::take_greeting(const Envelope& envelope) {
    if (const auto* failure = std::get_if<Failure>(&envelope.message)) return on_failure(*failure);
    const auto* welcome = std::get_if<Welcome>(&envelope.message);
    if (!welcome) return lose("the controller did not welcome us");
    if (welcome->version != protocol::kVersion)
        return lose(fmt::format("the controller speaks version {}", welcome->version));
    if (welcome->nonce != nonce_ || welcome->job != user_.hello().job || welcome->session.empty())
        return lose("a welcome for somebody else");
    session_ = welcome->session;
    state_ = State::up;
    welcomed_once_ = true;
    up_since_ = monotonic_now();
    tried_ = 0;
    missed_ = false;
    look_up_due_ = look_up_pause_ = 0;
    user_.welcomed(*welcome);
}

void Link::on_failure(const Failure& failure) {
    // A failure that answers Hello has no session to go on with, whatever it says.
    if (!failure.fatal && state_ == State::up) return user_.received(failure);
    if (!is_final(failure, welcomed_once_)) return lose(failure.message);
    trouble_ = failure.message;
    switch_off();
    user_.refused(failure);
}

void Link::send(const protocol::Message& message) {
    if (up()) queue(message);
}

void Link::queue(const protocol::Message& message) {
    if (!broken_.empty()) return;
    const auto credential =
        seal_->seal(protocol::encode({session_, sent_ + 1, message}), endpoint_.slurm_user);
    if (!credential || credential->size() > protocol::kMaxClientFrame) {
        broken_ = credential ? "a message is too long" : credential.error().message;
        return;
    }
    ++sent_;
    outbox_ += protocol::frame(*credential);
}

void Link::flush() {
    if (!connected()) return;
    if (!broken_.empty()) return lose(std::exchange(broken_, {}));
    while (!outbox_.empty()) {
        const ssize_t size = ::send(socket_.get(), outbox_.data(), outbox_.size(), MSG_NOSIGNAL);
        if (size < 0 && errno == EINTR) continue;
        if (size < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) break;
        if (size < 0) return lose(std::strerror(errno));
        outbox_.erase(0, static_cast<std::size_t>(size));
    }
    watch(!outbox_.empty());
}

void Link::watch(bool for_writing) {
    if (for_writing == writing_) return;
    writing_ = for_writing;
    epoll_event interest{};
    interest.events = EPOLLIN;
    if (writing_) interest.events |= EPOLLOUT;
    interest.data.fd = socket_.get();
    epoll_ctl(epoll_.get(), EPOLL_CTL_MOD, socket_.get(), &interest);
}

void Link::wake_at(Time time) {
    if (time == user_due_) return;
    user_due_ = time;
    arm();
}

// The timer runs out at the earlier of the link's and the user's time.
void Link::arm() {
    Time due = user_due_;
    if (state_ != State::up && state_ != State::off) due = std::min(due, due_);
    itimerspec setting{};
    if (due < kNever) {
        // 0 would stop the timer; a time that has passed makes it run out at once.
        const Time at = std::max(due, 1e-9);
        setting.it_value.tv_sec = static_cast<time_t>(std::floor(at));
        setting.it_value.tv_nsec = static_cast<long>((at - std::floor(at)) * 1e9);
    }
    timerfd_settime(timer_.get(), TFD_TIMER_ABSTIME, &setting, nullptr);
}

void Link::close_socket() {
    socket_.reset();  // leaves the epoll set by being closed
    outbox_.clear();
    broken_.clear();
    writing_ = false;
    sent_ = taken_ = 0;
    reader_ = protocol::FrameReader(protocol::kMaxReplyFrame);
}

void Link::lose(std::string why) {
    const Time now = monotonic_now();
    const bool was_up = state_ == State::up;
    trouble_ = std::move(why);
    close_socket();
    state_ = State::waiting;
    if (was_up && now - up_since_ > kSettled) pause_ = times_.first_pause;
    if (!was_up) ++next_address_;
    if (!was_up && ++tried_ < addresses_.size()) {
        due_ = now;
        return;
    }
    tried_ = 0;
    missed_ |= !was_up;
    const double part = 0.5 + 0.5 * static_cast<double>(random_bits() >> 11) * 0x1p-53;
    due_ = now + pause_ * part;
    pause_ = std::min(pause_ * 2, times_.longest_pause);
}

void Link::switch_off() {
    close_socket();
    state_ = State::off;
}

void Link::finish(Duration most) {
    const Time end = monotonic_now() + most;
    const auto left_ms = [&] {
        return static_cast<int>(std::ceil(std::max(0.0, end - monotonic_now()) * 1000));
    };
    flush();
    while (up() && !outbox_.empty() && left_ms() > 0) wait(left_ms());
    if (up()) {
        // Closing with unread bytes would make TCP reset the connection, and the controller lose
        // what was just sent: read until it closes its side.
        shutdown(socket_.get(), SHUT_WR);
        while (up() && left_ms() > 0) wait(left_ms());
    }
    switch_off();
}

}  // namespace elastic::libelastic
