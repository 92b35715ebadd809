// SPDX-License-Identifier: MIT
// An ordinary event loop (libev), one connection a job.  Credentials are opened and made in this
// thread: that asks the local munged and may block for a moment, which costs nobody but other
// applications.
//
// Defences: connections are limited (admission.hpp), and each of them in time and memory
// (connection.hpp); every refusal is logged, each kind once a minute.
//
// The inbox has at most one message and one end of each open connection, beside what is left of
// closed ones, which admit_user() bounds.
#include "controller/server.hpp"

#include <ev++.h>

#include <cerrno>
#include <random>
#include <thread>
#include <unordered_map>
#include <vector>

#include "common/log.hpp"
#include "controller/admission.hpp"
#include "controller/connection.hpp"
#include "controller/listener.hpp"
#include "controller/mailbox.hpp"
#include "protocol/codec.hpp"

namespace elastic::controller {

namespace {

using namespace protocol;

constexpr std::size_t kMaxInbox = 65536;  // messages not yet taken; then nobody new is let in

std::string random_token() {
    std::random_device device;
    return fmt::format("{:08x}{:08x}", device(), device());
}

}  // namespace

class Server::Loop {
  public:
    Loop(const ServerOptions& options, std::unique_ptr<Seal> seal, Fd listener,
         std::function<void()> wake);
    ~Loop();

    std::optional<Incoming> take() { return inbox_.take(); }
    void answered(ConnectionId id) { post({.to = id, .what = Command::answered}); }
    void send(ConnectionId to, Message message) {
        post({.to = to, .what = Command::send, .message = std::move(message)});
    }
    void close(ConnectionId id) { post({.to = id, .what = Command::close}); }
    // `listener` and `seal` where they change; nothing where not.
    void reconfigure(const ServerOptions& options, Fd listener, std::unique_ptr<Seal> seal) {
        std::unique_ptr<Change> change(new Change{options, std::move(listener), std::move(seal)});
        post({.what = Command::reconfigure, .change = std::move(change)});
    }

  private:
    struct Change {
        ServerOptions options;
        Fd listener;
        std::unique_ptr<Seal> seal;
    };
    struct Command {
        ConnectionId to = 0;
        enum What { send, answered, close, reconfigure, stop } what;
        Message message = {};
        std::unique_ptr<Change> change = {};
    };
    struct Watched {
        Watched(ev::dynamic_loop& loop, Connection accepted)
            : connection(std::move(accepted)), watcher(loop) {}
        Connection connection;
        ev::io watcher;  // which ends before the socket does
    };

    // Upon libev's events.
    void on_accept(ev::io&, int);
    void on_ready(ev::io& watcher, int events);
    void on_sweep(ev::timer&, int);
    void on_commands(ev::async&, int);

    void admit(Fd socket);
    bool admit_user(Connection& connection);
    Watched* find(ConnectionId id);
    void drop(ConnectionId id);
    void refuse(ConnectionId id, const std::string& kind, const std::string& why);

    void read_available(ConnectionId id);
    void take_frames(ConnectionId id);
    void on_frame(Connection& connection, const std::string& credential);
    void on_message(Connection& connection, uid_t user, Envelope envelope);
    void refuse_message(Connection& connection, const Refusal& refusal);
    void deliver(Incoming incoming);

    bool enqueue(Connection& connection, Message message);
    void fail(Connection& connection, FailureCode code, std::string message);
    void finish(Connection& connection);
    void write_unsent(ConnectionId id);

    void post(Command command);
    void carry_out(Command& command);
    void adopt(Change& change);

    std::unique_ptr<Seal> seal_;
    Fd listener_;
    std::function<void()> wake_;

    ev::dynamic_loop loop_;
    ev::io accept_watcher_;
    ev::async async_watcher_;
    ev::timer sweep_watcher_;
    QuietLog quiet_;
    ConnectionId last_id_ = 0;
    Admission admission_;
    std::unordered_map<ConnectionId, std::unique_ptr<Watched>> connections_;
    std::unordered_map<int, ConnectionId> by_fd_;

    Mailbox<Incoming> inbox_;
    Mailbox<Command> commands_;
    std::thread thread_;
};

Server::Loop::Loop(const ServerOptions& options, std::unique_ptr<Seal> seal, Fd listener,
                   std::function<void()> wake)
    : seal_(std::move(seal)),
      listener_(std::move(listener)),
      wake_(std::move(wake)),
      loop_(EVFLAG_NOENV),
      accept_watcher_(loop_),
      async_watcher_(loop_),
      sweep_watcher_(loop_),
      admission_(options.max_connections, options.max_connections_per_user) {
    accept_watcher_.set<Loop, &Loop::on_accept>(this);
    accept_watcher_.start(listener_.get(), ev::READ);
    async_watcher_.set<Loop, &Loop::on_commands>(this);
    async_watcher_.start();
    sweep_watcher_.set<Loop, &Loop::on_sweep>(this);
    sweep_watcher_.start(1, 1);
    thread_ = std::thread([this] { loop_.run(0); });
}

Server::Loop::~Loop() {
    post({.what = Command::stop});
    thread_.join();
    connections_.clear();
}

// ---- connections

void Server::Loop::on_accept(ev::io&, int) {
    Fd socket(accept_connection(listener_.get()));
    if (!socket) {
        if (errno != EMFILE && errno != ENFILE) return;
        quiet_.complain("files", "a connection: no file descriptors left");
        accept_watcher_.stop();  // or this would be called without a pause, until on_sweep()
        return;
    }
    if (admission_.is_full()) {
        quiet_.complain("max", fmt::format("a connection: {} are open already (MaxConnections)",
                                           admission_.count()));
        return;
    }
    if (const auto oldest = admission_.one_stranger_too_many())
        refuse(*oldest, "strangers",
               fmt::format("a connection that has not introduced itself: more than {}",
                           kMaxStrangers));
    admit(std::move(socket));
}

void Server::Loop::admit(Fd socket) {
    const ConnectionId id = ++last_id_;
    const int fd = socket.get();
    auto watched = std::make_unique<Watched>(
        loop_, Connection(id, std::move(socket), random_token(), loop_.now()));
    watched->watcher.set<Loop, &Loop::on_ready>(this);
    watched->watcher.start(fd, ev::READ);
    admission_.add_stranger(id);
    by_fd_[fd] = id;
    connections_[id] = std::move(watched);
}

void Server::Loop::on_ready(ev::io& watcher, int events) {
    const auto found = by_fd_.find(watcher.fd);
    if (found == by_fd_.end()) return;
    const ConnectionId id = found->second;
    if (events & ev::WRITE) write_unsent(id);
    if (events & ev::READ) read_available(id);
}

Server::Loop::Watched* Server::Loop::find(ConnectionId id) {
    const auto found = connections_.find(id);
    return found == connections_.end() ? nullptr : found->second.get();
}

void Server::Loop::drop(ConnectionId id) {
    const Watched* watched = find(id);
    if (!watched) return;
    const Connection& connection = watched->connection;
    if (connection.introduced()) {
        admission_.remove_one_of(connection.session().user());
        deliver({id, connection.session().user(), true, {}});
    } else {
        admission_.remove_stranger(id);
    }
    by_fd_.erase(connection.fd());
    connections_.erase(id);
}

void Server::Loop::refuse(ConnectionId id, const std::string& kind, const std::string& why) {
    quiet_.complain(kind, why);
    drop(id);
}

void Server::Loop::on_sweep(ev::timer&, int) {
    accept_watcher_.start(listener_.get(), ev::READ);
    std::vector<ConnectionId> late;
    for (const auto& [id, watched] : connections_)
        if (watched->connection.is_late(loop_.now())) late.push_back(id);
    for (ConnectionId id : late) refuse(id, "slow", "a peer that began and did not go on");
}

// ---- reading

void Server::Loop::read_available(ConnectionId id) {
    Watched* watched = find(id);
    if (!watched) return;
    if (!watched->connection.read(loop_.now())) return drop(id);
    take_frames(id);
}

// Of what has been read, as far as may be now; then waits for more.
void Server::Loop::take_frames(ConnectionId id) {
    for (;;) {
        Watched* watched = find(id);
        if (!watched) return;
        Connection& connection = watched->connection;
        const auto credential = connection.next();
        if (!credential) return refuse(id, "frame", credential.error().message);
        if (!*credential)
            return watched->watcher.set((connection.may_read() ? ev::READ : 0) |
                                        (connection.has_unsent() ? ev::WRITE : 0));
        on_frame(connection, **credential);
    }
}

void Server::Loop::on_frame(Connection& connection, const std::string& credential) {
    auto opened = seal_->open(credential);
    if (!opened) return refuse(connection.id(), "credential", opened.error().message);
    auto envelope = decode(opened->payload);
    if (envelope) return on_message(connection, opened->uid, std::move(*envelope));
    quiet_.complain("malformed",
                    fmt::format("a message of user {}: {}", opened->uid, envelope.error().message));
    fail(connection, FailureCode::malformed, envelope.error().message);
}

void Server::Loop::on_message(Connection& connection, uid_t user, Envelope envelope) {
    if (const auto refusal = connection.session().check(user, envelope))
        return refuse_message(connection, *refusal);
    if (!connection.introduced() && !admit_user(connection)) return;
    connection.set_waiting(true);
    deliver({connection.id(), user, false, std::move(envelope.message)});
}

void Server::Loop::refuse_message(Connection& connection, const Refusal& refusal) {
    if (refusal.code) return fail(connection, *refusal.code, refusal.message);
    refuse(connection.id(), "sequence", refusal.message);
}

// False if the user has too many connections, or too much waits; then this one is over.
bool Server::Loop::admit_user(Connection& connection) {
    const uid_t user = connection.session().user();
    if (inbox_.size() >= kMaxInbox) {
        refuse(connection.id(), "inbox", "a connection: too many wait");
        return false;
    }
    if (!admission_.introduce(connection.id(), user)) {
        quiet_.complain("user", fmt::format("a connection of user {}: {} are open already "
                                            "(MaxConnectionsPerUser)",
                                            user, admission_.count_of(user)));
        fail(connection, FailureCode::limit, "too many connections of this user");
        return false;
    }
    connection.introduce();
    return true;
}

void Server::Loop::deliver(Incoming incoming) {
    inbox_.put(std::move(incoming));
    wake_();
}

// ---- writing

void Server::Loop::fail(Connection& connection, FailureCode code, std::string message) {
    if (enqueue(connection, Failure{0, code, std::move(message), true})) finish(connection);
}

// Closes when everything is written.
void Server::Loop::finish(Connection& connection) {
    connection.begin_closing(loop_.now());
    write_unsent(connection.id());
}

// False if that is impossible: the connection is dropped then, since the peer must not miss a
// message without knowing it.
bool Server::Loop::enqueue(Connection& connection, Message message) {
    Session& session = connection.session();
    Envelope envelope = session.outgoing(std::move(message));
    const uid_t reader = session.has_begun() ? session.user() : kAnyReader;
    auto sealed = seal_->seal(encode_for_client(std::move(envelope)), reader);
    if (sealed)
        connection.put(*sealed);
    else
        refuse(connection.id(), "seal",
               fmt::format("a connection that cannot be answered: {}", sealed.error().message));
    return static_cast<bool>(sealed);
}

void Server::Loop::write_unsent(ConnectionId id) {
    Watched* watched = find(id);
    if (!watched) return;
    if (!watched->connection.write()) return drop(id);
    if (watched->connection.has_too_much_unsent())
        return refuse(id, "unread", "a peer that does not read what it is sent");
    if (watched->connection.is_finished()) return drop(id);
    take_frames(id);  // which may have waited for that
}

// ---- the controller's thread

void Server::Loop::post(Command command) {
    commands_.put(std::move(command));
    async_watcher_.send();
}

void Server::Loop::on_commands(ev::async&, int) {
    for (Command& command : commands_.take_all()) carry_out(command);
}

void Server::Loop::carry_out(Command& command) {
    if (command.what == Command::stop) return loop_.break_loop(ev::ALL);
    if (command.what == Command::reconfigure) return adopt(*command.change);
    Watched* watched = find(command.to);
    if (!watched || watched->connection.closing()) return;
    if (command.what == Command::close) return finish(watched->connection);
    if (command.what == Command::answered)
        watched->connection.set_waiting(false);
    else if (!enqueue(watched->connection, std::move(command.message)))
        return;
    write_unsent(command.to);
}

void Server::Loop::adopt(Change& change) {
    admission_.set_limits(change.options.max_connections, change.options.max_connections_per_user);
    if (change.seal) seal_ = std::move(change.seal);
    if (!change.listener) return;
    accept_watcher_.stop();
    listener_ = std::move(change.listener);
    accept_watcher_.start(listener_.get(), ev::READ);
}

// ---- the server

Server::Server(std::function<void()> wake, MakeSeal make_seal)
    : wake_(std::move(wake)), make_seal_(std::move(make_seal)) {}
Server::~Server() = default;

Result<void> Server::start(const ServerOptions& options) {
    auto seal = make_seal_(options.authentication);
    if (!seal) return seal.error();
    auto listener = listen_on(options.port, options.interface);
    if (!listener) return listener.error();
    port_ = port_of(listener->get());
    loop_ = std::make_unique<Loop>(options, std::move(*seal), std::move(*listener), wake_);
    options_ = options;
    return {};
}

Result<void> Server::reconfigure(const ServerOptions& options) {
    if (!loop_) return start(options);
    if (options == options_) return {};
    std::unique_ptr<Seal> seal;
    if (options.authentication != options_.authentication) {
        auto made = make_seal_(options.authentication);
        if (!made) return made.error();
        seal = std::move(*made);
    }
    Fd listener;
    if (options.port != options_.port) {
        auto made = listen_on(options.port, options.interface);
        if (!made) return made.error();
        listener = std::move(*made);
        port_ = port_of(listener.get());
    }
    loop_->reconfigure(options, std::move(listener), std::move(seal));
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
