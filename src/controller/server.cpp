// SPDX-License-Identifier: MIT
// An ordinary event loop (libev), one connection a job.  Credentials are opened
// and made in this thread: that asks the local munged and may block for a
// moment, which costs nobody but other applications.
//
// Defences: a connection that has not said a valid Hello within some seconds is
// dropped, and the oldest such one makes room for a new one, so that idle
// connections cannot keep others out; frames, queues and the numbers of
// connections are limited; every refusal is logged, each kind once a minute.
//
// Who sends without waiting for answers, or does not read them, is left to TCP's flow
// control: see may_read().  An inbox has at most one message and one end of each open
// connection, beside what is left of closed ones, which on_first() bounds.
#include "controller/server.hpp"

#include <ev++.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <deque>
#include <list>
#include <map>
#include <mutex>
#include <random>
#include <thread>
#include <unordered_map>
#include <vector>

#include "common/log.hpp"
#include "common/time.hpp"
#include "controller/listener.hpp"
#include "controller/session.hpp"
#include "protocol/codec.hpp"
#include "protocol/frame.hpp"

namespace elastic::controller {

namespace {

using namespace protocol;

constexpr double kHelloWithin = 10;           // seconds
constexpr double kFrameWithin = 30;           // seconds from a frame's first byte to its last
constexpr double kCloseWithin = 10;           // seconds for a peer to read what ends its connection
constexpr std::size_t kMaxStrangers = 64;     // connections without a valid Hello yet
constexpr std::size_t kMaxUnsent = 4u << 20;  // bytes queued for a peer that does not read
constexpr std::size_t kMaxInbox = 65536;      // messages not yet taken; then nobody new is let in

std::string random_token() {
    std::random_device device;
    return fmt::format("{:08x}{:08x}", device(), device());
}

}  // namespace

class Server::Loop {
  public:
    Loop(const ServerOptions& options, std::unique_ptr<Seal> seal, int listener,
         std::function<void()> wake)
        : options_(options),
          seal_(std::move(seal)),
          listener_(listener),
          wake_(std::move(wake)),
          loop_(EVFLAG_NOENV),
          accept_watcher_(loop_),
          async_watcher_(loop_),
          sweep_watcher_(loop_) {
        accept_watcher_.set<Loop, &Loop::on_accept>(this);
        accept_watcher_.start(listener_, ev::READ);
        async_watcher_.set<Loop, &Loop::on_commands>(this);
        async_watcher_.start();
        sweep_watcher_.set<Loop, &Loop::on_sweep>(this);
        sweep_watcher_.start(1, 1);
        thread_ = std::thread([this] { loop_.run(0); });
    }

    ~Loop() {
        post({0, {}, Command::stop, {}});
        thread_.join();
        connections_.clear();
        ::close(listener_);
    }

    std::optional<Incoming> take() {
        std::lock_guard guard(mutex_);
        if (inbox_.empty()) return std::nullopt;
        Incoming oldest = std::move(inbox_.front());
        inbox_.pop_front();
        return oldest;
    }
    void answered(ConnectionId id) { post({id, {}, Command::answered, {}}); }

    void send(ConnectionId to, Message message) {
        post({to, std::move(message), Command::send, {}});
    }
    void close(ConnectionId id) { post({id, {}, Command::close, {}}); }
    // `listener` and `seal` where they change; -1 and null where not.
    void reconfigure(const ServerOptions& options, int listener, std::unique_ptr<Seal> seal) {
        auto change = std::make_unique<Change>(Change{options, listener, std::move(seal)});
        post({0, {}, Command::reconfigure, std::move(change)});
    }

  private:
    struct Change {
        ServerOptions options;
        int listener;
        std::unique_ptr<Seal> seal;
    };

    struct Command {
        ConnectionId to;
        Message message;
        enum What { send, answered, close, reconfigure, stop } what;
        std::unique_ptr<Change> change;
    };

    struct Connection {
        Connection(ev::dynamic_loop& loop, int socket)
            : fd(socket), watcher(loop), reader(kMaxClientFrame) {}
        ~Connection() {
            watcher.stop();
            ::close(fd);
        }

        ConnectionId id = 0;
        int fd;
        ev::io watcher;
        FrameReader reader;
        Result<void> readable;  // an error when the stream holds no frames any more
        std::string unsent;
        Session session{random_token()};
        bool counted = false;  // among its user's connections
        bool waiting = false;  // for the answer to its message
        bool closing = false;
        ev_tstamp since = 0;  // accepted, the present frame began, or closing began
    };

    void post(Command command) {
        {
            std::lock_guard guard(mutex_);
            commands_.push_back(std::move(command));
        }
        async_watcher_.send();
    }

    void deliver(Incoming incoming) {
        {
            std::lock_guard guard(mutex_);
            inbox_.push_back(std::move(incoming));
        }
        wake_();
    }

    // ---- connections

    void on_accept(ev::io&, int) {
        const int fd = accept_connection(listener_);
        if (fd < 0) {
            if (errno != EMFILE && errno != ENFILE) return;
            quiet_.complain("files", "a connection: no file descriptors left");
            accept_watcher_.stop();  // or this would be called without a pause, until on_sweep()
            return;
        }
        if (connections_.size() >= static_cast<std::size_t>(options_.max_connections)) {
            quiet_.complain("max", fmt::format("a connection: {} are open already (MaxConnections)",
                                               connections_.size()));
            ::close(fd);
            return;
        }
        make_room_for_stranger();
        admit(fd);
    }

    void admit(int fd) {
        auto connection = std::make_unique<Connection>(loop_, fd);
        connection->id = ++last_id_;
        connection->since = loop_.now();
        connection->watcher.data = connection.get();
        connection->watcher.set<Loop, &Loop::on_ready>(this);
        connection->watcher.set(fd, ev::READ);
        connection->watcher.start();
        by_fd_[fd] = connection->id;
        strangers_.push_back(connection->id);
        connections_[connection->id] = std::move(connection);
    }

    void make_room_for_stranger() {
        if (strangers_.size() < kMaxStrangers) return;
        quiet_.complain("strangers",
                        fmt::format("a connection that has not introduced itself: more than {}",
                                    kMaxStrangers));
        drop(strangers_.front());
    }

    void on_ready(ev::io& watcher, int events) {
        auto found = by_fd_.find(watcher.fd);
        if (found == by_fd_.end()) return;
        ConnectionId id = found->second;
        if (events & ev::WRITE) write_unsent(id);
        if (events & ev::READ) read_available(id);
    }

    Connection* find(ConnectionId id) {
        auto found = connections_.find(id);
        return found == connections_.end() ? nullptr : found->second.get();
    }

    void drop(ConnectionId id) {
        Connection* connection = find(id);
        if (!connection) return;
        strangers_.remove(id);
        if (connection->counted) {
            const uid_t user = connection->session.user();
            if (--per_user_[user] == 0) per_user_.erase(user);
            deliver({id, user, true, {}});
        }
        by_fd_.erase(connection->fd);
        connections_.erase(id);
    }

    void refuse(ConnectionId id, const std::string& kind, const std::string& why) {
        quiet_.complain(kind, why);
        drop(id);
    }

    void on_sweep(ev::timer&, int) {
        accept_watcher_.start(listener_, ev::READ);
        std::vector<ConnectionId> late;
        for (const auto& [id, connection] : connections_) {
            if (!may_read(*connection)) connection->since = loop_.now();  // we let it wait
            if (loop_.now() - connection->since > patience_with(*connection)) late.push_back(id);
        }
        for (ConnectionId id : late) refuse(id, "slow", "a peer that began and did not go on");
    }

    // Seconds that it may stay as it is.
    static double patience_with(const Connection& connection) {
        if (connection.closing) return kCloseWithin;
        if (!connection.counted) return kHelloWithin;
        return connection.reader.partial() ? kFrameWithin : kNever;
    }

    // ---- reading

    // What one that is closing says is for nobody, but its end is to be seen.
    static bool may_read(const Connection& connection) {
        return connection.closing || (!connection.waiting && connection.unsent.empty());
    }

    static void watch(Connection& connection) {
        connection.watcher.set((may_read(connection) ? ev::READ : 0) |
                               (connection.unsent.empty() ? 0 : ev::WRITE));
    }

    void read_available(ConnectionId id) {
        char bytes[16384];
        Connection* connection = find(id);
        if (!connection) return;
        ssize_t size = ::recv(connection->fd, bytes, sizeof bytes, 0);
        if (size < 0 && (errno == EAGAIN || errno == EINTR)) return;
        if (size <= 0) return drop(id);
        if (connection->closing) return;
        if (connection->counted && !connection->reader.partial()) connection->since = loop_.now();
        connection->readable = connection->reader.feed(bytes, static_cast<std::size_t>(size));
        take_frames(id);
    }

    // Of what has been read, as far as may be now; then waits for more.
    void take_frames(ConnectionId id) {
        for (;;) {
            Connection* connection = find(id);
            if (!connection) return;
            if (connection->closing || !may_read(*connection)) return watch(*connection);
            auto credential = connection->reader.next();
            if (!credential && !connection->readable)
                return refuse(id, "frame", connection->readable.error().message);
            if (!credential) return watch(*connection);
            on_frame(id, *credential);
        }
    }

    void on_frame(ConnectionId id, const std::string& credential) {
        auto opened = seal_->open(credential);
        if (!opened) return refuse(id, "credential", opened.error().message);
        auto envelope = decode(opened->payload);
        Connection& connection = *find(id);
        if (!envelope) {
            quiet_.complain("malformed", fmt::format("a message of user {}: {}", opened->uid,
                                                     envelope.error().message));
            return fail(connection, FailureCode::malformed, envelope.error().message);
        }
        const bool is_first = !connection.session.has_begun();
        if (auto refusal = connection.session.check(opened->uid, *envelope))
            return refuse_message(connection, *refusal);
        if (is_first && !admit_user(connection)) return;
        connection.waiting = true;
        deliver({id, opened->uid, false, std::move(envelope->message)});
    }

    void refuse_message(Connection& connection, const Refusal& refusal) {
        if (refusal.code) return fail(connection, *refusal.code, refusal.message);
        quiet_.complain("sequence", refusal.message);
        drop(connection.id);
    }

    // False if the user has too many connections, or too much waits; then this one is over.
    bool admit_user(Connection& connection) {
        const uid_t user = connection.session.user();
        if (inbox_is_full()) {
            refuse(connection.id, "inbox", "a connection: too many wait");
            return false;
        }
        if (per_user_[user] >= options_.max_connections_per_user) {
            quiet_.complain("user", fmt::format("a connection of user {}: {} are open already "
                                                "(MaxConnectionsPerUser)",
                                                user, per_user_[user]));
            fail(connection, FailureCode::limit, "too many connections of this user");
            return false;
        }
        ++per_user_[user];
        connection.counted = true;
        strangers_.remove(connection.id);
        return true;
    }

    bool inbox_is_full() {
        std::lock_guard guard(mutex_);
        return inbox_.size() >= kMaxInbox;
    }

    // ---- writing

    void fail(Connection& connection, FailureCode code, std::string message) {
        if (enqueue(connection, Failure{0, code, std::move(message), true})) finish(connection);
    }

    // Closes when everything is written.
    void finish(Connection& connection) {
        connection.closing = true;
        connection.since = loop_.now();
        write_unsent(connection.id);
    }

    // False if that is impossible: the connection is dropped then, since the
    // peer must not miss a message without knowing it.
    bool enqueue(Connection& connection, Message message) {
        Envelope envelope = connection.session.outgoing(std::move(message));
        const uid_t reader =
            connection.session.has_begun() ? connection.session.user() : kAnyReader;
        auto sealed = seal_->seal(encode_for_client(std::move(envelope)), reader);
        if (!sealed) {
            refuse(connection.id, "seal",
                   fmt::format("a connection that cannot be answered: {}", sealed.error().message));
            return false;
        }
        connection.unsent += frame(*sealed);
        return true;
    }

    void write_unsent(ConnectionId id) {
        Connection* connection = find(id);
        if (!connection) return;
        while (!connection->unsent.empty()) {
            ssize_t size = ::send(connection->fd, connection->unsent.data(),
                                  connection->unsent.size(), MSG_NOSIGNAL);
            if (size < 0 && (errno == EAGAIN || errno == EINTR)) break;
            if (size <= 0) return drop(id);
            connection->unsent.erase(0, static_cast<std::size_t>(size));
        }
        if (connection->unsent.size() > kMaxUnsent)
            return refuse(id, "unread", "a peer that does not read what it is sent");
        if (connection->unsent.empty() && connection->closing) return drop(id);
        take_frames(id);  // which may have waited for that
    }

    void on_commands(ev::async&, int) {
        std::vector<Command> commands;
        {
            std::lock_guard guard(mutex_);
            commands = std::exchange(commands_, {});
        }
        for (Command& command : commands) carry_out(command);
    }

    void carry_out(Command& command) {
        if (command.what == Command::stop) return loop_.break_loop(ev::ALL);
        if (command.what == Command::reconfigure) return adopt(*command.change);
        Connection* connection = find(command.to);
        if (!connection || connection->closing) return;
        if (command.what == Command::close) return finish(*connection);
        if (command.what == Command::answered)
            connection->waiting = false;
        else if (!enqueue(*connection, std::move(command.message)))
            return;
        write_unsent(command.to);
    }

    void adopt(Change& change) {
        options_ = change.options;
        if (change.seal) seal_ = std::move(change.seal);
        if (change.listener < 0) return;
        accept_watcher_.stop();
        ::close(std::exchange(listener_, change.listener));
        accept_watcher_.start(listener_, ev::READ);
    }

    ServerOptions options_;
    std::unique_ptr<Seal> seal_;
    int listener_;
    std::function<void()> wake_;

    ev::dynamic_loop loop_;
    ev::io accept_watcher_;
    ev::async async_watcher_;
    ev::timer sweep_watcher_;
    QuietLog quiet_;
    ConnectionId last_id_ = 0;
    std::unordered_map<ConnectionId, std::unique_ptr<Connection>> connections_;
    std::unordered_map<int, ConnectionId> by_fd_;
    std::list<ConnectionId> strangers_;  // oldest first
    std::map<uid_t, int> per_user_;

    std::mutex mutex_;  // for the two below
    std::deque<Incoming> inbox_;
    std::vector<Command> commands_;
    std::thread thread_;
};

Server::Server(std::function<void()> wake, MakeSeal make_seal)
    : wake_(std::move(wake)), make_seal_(std::move(make_seal)) {}
Server::~Server() = default;

Result<void> Server::start(const ServerOptions& options) {
    auto seal = make_seal_(options.munge_socket);
    if (!seal) return seal.error();
    auto listener = listen_on(options.port);
    if (!listener) return listener.error();
    port_ = port_of(*listener);
    loop_ = std::make_unique<Loop>(options, std::move(*seal), *listener, wake_);
    options_ = options;
    return {};
}

Result<void> Server::reconfigure(const ServerOptions& options) {
    if (options == options_) return {};
    std::unique_ptr<Seal> seal;
    if (options.munge_socket != options_.munge_socket) {
        auto made = make_seal_(options.munge_socket);
        if (!made) return made.error();
        seal = std::move(*made);
    }
    int listener = -1;
    if (options.port != options_.port) {
        auto made = listen_on(options.port);
        if (!made) return made.error();
        listener = *made;
        port_ = port_of(listener);
    }
    loop_->reconfigure(options, listener, std::move(seal));
    options_ = options;
    return {};
}

void Server::stop() {
    loop_.reset();
}

std::optional<Incoming> Server::take() {
    return loop_ ? loop_->take() : std::nullopt;
}

void Server::answered(ConnectionId id) {
    if (loop_) loop_->answered(id);
}

void Server::send(ConnectionId to, protocol::Message message) {
    if (loop_) loop_->send(to, std::move(message));
}

void Server::close(ConnectionId id) {
    if (loop_) loop_->close(id);
}

}  // namespace elastic::controller
