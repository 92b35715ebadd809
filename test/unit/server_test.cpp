// SPDX-License-Identifier: MIT
// The server against peers that do not keep to the protocol, say too much or nothing at all: what
// they cost, and that others do not notice.
#include "controller/server.hpp"
#include "controller/listener.hpp"

#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <condition_variable>
#include <mutex>

#include "plain_seal.hpp"
#include "protocol/codec.hpp"
#include "protocol/frame.hpp"
#include "reserved_port.hpp"
#include "testing.hpp"

using namespace elastic;
using namespace elastic::controller;
using namespace elastic::protocol;
using elastic::testing::PlainSeal;
using elastic::testing::ReservedPort;

namespace {

constexpr uid_t kUser = 1000;

// A server whose messages can be waited for.
class Served {
  public:
    explicit Served(int max = 64, int max_per_user = 64) {
        alarm(30);
        options_ = {0, {}, max, max_per_user};
        check_ok(server.start(options_));
    }
    ~Served() { server.stop(); }

    // The next thing that comes.
    Incoming next() {
        std::unique_lock guard(mutex_);
        std::optional<Incoming> incoming;
        come_.wait(guard, [&] { return (incoming = server.take()).has_value(); });
        return *incoming;
    }

    Server server{[this] {
                      std::lock_guard guard(mutex_);
                      come_.notify_all();
                  },
                  [](const protocol::Authentication&) {
                      return Result<std::unique_ptr<Seal>>(std::make_unique<PlainSeal>(64030));
                  }};

  private:
    ServerOptions options_;
    std::mutex mutex_;
    std::condition_variable come_;
};

// A socket that says whatever the test wants.
class Peer {
  public:
    explicit Peer(const Served& served) : fd_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        address.sin_port = htons(static_cast<std::uint16_t>(served.server.port()));
        ck_assert_int_eq(connect(fd_, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
    }
    ~Peer() { close(fd_); }
    Peer(const Peer&) = delete;
    Peer& operator=(const Peer&) = delete;

    void send_bytes(const std::string& bytes) {
        // The server may have gone away over what was sent before.
        (void)!::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    }
    void send(const Message& message, uid_t uid = kUser, int skip = 0) {
        sequence_ += 1 + static_cast<unsigned>(skip);
        send_bytes(frame(*PlainSeal(uid).seal(encode({session_, sequence_, message}), 0)));
    }
    // The next message; nothing at the end of the connection.
    std::optional<Message> receive() {
        for (;;) {
            if (const auto credential = reader_.next()) {
                const auto envelope = decode(PlainSeal(0).open(*credential)->payload);
                check_ok(envelope);
                if (const auto* welcome = std::get_if<Welcome>(&envelope->message))
                    session_ = welcome->session;
                return envelope->message;
            }
            char bytes[4096];
            const ssize_t size = recv(fd_, bytes, sizeof bytes, 0);
            if (size <= 0) return std::nullopt;
            check_ok(reader_.feed(bytes, static_cast<std::size_t>(size)));
        }
    }
    // Of the failure that ends the connection, the code; "" if it ends without a word.
    std::string last_words() {
        std::string code;
        while (const auto message = receive())
            if (const auto* failure = std::get_if<Failure>(&*message)) code = failure->code.text();
        return code;
    }

  private:
    int fd_;
    std::uint32_t sequence_ = 0;
    std::string session_;
    FrameReader reader_{kMaxReplyFrame};
};

// Introduces itself; its connection's number.
ConnectionId greet(Served& served, Peer& peer, uid_t uid = kUser) {
    peer.send(Hello{}, uid);
    const Incoming hello = served.next();
    check_that(std::holds_alternative<Hello>(hello.message));
    check_eq(hello.uid, uid);
    served.server.send(hello.from, Welcome{});
    served.server.answered(hello.from);
    check_that(std::holds_alternative<Welcome>(*peer.receive()));
    return hello.from;
}

}  // namespace

TEST(a_message_names_its_connection_and_its_user) {
    Served served;
    Peer first(served), second(served);
    const ConnectionId one = greet(served, first), other = greet(served, second, kUser + 1);
    check_that(one != other);
    second.send(Accept{9}, kUser + 1);
    const Incoming incoming = served.next();
    check_eq(incoming.from, other);
    check_eq(incoming.uid, kUser + 1);
    check_eq(std::get<Accept>(incoming.message).op, 9);
}

TEST(who_breaks_the_protocol_loses_the_connection_and_nobody_else_does) {
    Served served;
    Peer bystander(served);
    const ConnectionId other = greet(served, bystander, kUser + 1);
    const auto ends = [&](const char* code, auto attack) {
        Peer peer(served);
        const ConnectionId id = greet(served, peer);
        attack(peer);
        check_eq(peer.last_words(), code);
        const Incoming end = served.next();
        check_that(end.closed);
        check_eq(end.from, id);
    };
    ends("", [](Peer& peer) { peer.send(Accept{9}, kUser + 1); });  // whoever that is
    ends("", [](Peer& peer) { peer.send(Accept{9}, kUser, 1); });
    ends("", [](Peer& peer) { peer.send_bytes(frame("garbage")); });
    ends("", [](Peer& peer) { peer.send_bytes("\xff\xff\xff\xff"); });
    ends("malformed", [](Peer& peer) { peer.send(Hello{}); });
    ends("malformed", [](Peer& peer) { peer.send_bytes(frame("1000 {}")); });
    bystander.send(Accept{9}, kUser + 1);
    check_eq(served.next().from, other);
}

TEST(who_does_not_introduce_itself_is_not_heard) {
    Served served;
    const auto refused = [&](const char* code, const Message& message) {
        Peer peer(served);
        peer.send(message);
        check_eq(peer.last_words(), code);
    };
    refused("malformed", Accept{9});
    Hello old;
    old.version = 0;
    refused("version", old);
    check_that(!served.server.take());
}

// The second is not even read before the first is answered, and so they come in their order.
TEST(who_does_not_wait_for_answers_has_to) {
    Served served;
    Peer talker(served), other(served);
    const ConnectionId id = greet(served, talker);
    for (OpId op = 1; op <= 100; ++op) talker.send(Accept{op});
    for (OpId op = 1; op <= 100; ++op) {
        check_eq(std::get<Accept>(served.next().message).op, op);
        if (op == 50) greet(served, other, kUser + 1);  // who comes in between, and is the next
        check_that(!served.server.take());
        served.server.answered(id);
    }
}

TEST(more_connections_than_a_user_may_have_are_refused) {
    Served served(64, 1);
    Peer second(served);
    {
        Peer first(served);
        greet(served, first);
        second.send(Hello{});
        check_eq(second.last_words(), "limit");
        Peer another(served);
        greet(served, another, kUser + 1);
    }
    check_that(served.next().closed && served.next().closed);
    Peer third(served);
    greet(served, third);
}

TEST(more_connections_than_there_may_be_are_refused) {
    Served served(1, 64);
    Peer first(served);
    greet(served, first);
    Peer second(served);
    check_eq(second.last_words(), "");
    first.send(Accept{9});
    check_that(!served.next().closed);
}

TEST(who_says_nothing_makes_room_for_others) {
    Served served(100, 64);
    Peer silent(served);
    std::vector<std::unique_ptr<Peer>> many;
    for (int i = 0; i < 64; ++i) many.push_back(std::make_unique<Peer>(served));
    check_eq(silent.last_words(), "");  // the oldest goes
    greet(served, *many.back());
}

TEST(a_reply_that_is_too_large_becomes_a_failure) {
    Served served;
    Peer peer(served);
    const ConnectionId id = greet(served, peer);
    served.server.send(id, Reply{5, Json(std::string(kMaxReplyPayload, 'x'))});
    const auto failure = std::get<Failure>(*peer.receive());
    check_eq(failure.token, 5);
    check_eq(failure.code.text(), "limit");
}

TEST(what_was_sent_before_the_end_arrives) {
    Served served;
    Peer peer(served);
    const ConnectionId id = greet(served, peer);
    served.server.send(id, Accepted{9, 1});
    served.server.close(id);
    check_eq(std::get<Accepted>(*peer.receive()).op, 9);
    check_that(!peer.receive());
    check_that(served.next().closed);
    served.server.send(id, Accepted{9, 1});  // to nobody
}

TEST(connections_stay_when_the_port_changes) {
    Served served;
    Peer before(served);
    greet(served, before);
    const int port = served.server.port();
    const ReservedPort other;
    check_ok(served.server.reconfigure({other.number(), {}, 64, 64}));
    check_eq(served.server.port(), other.number());
    check_that(other.number() != port);
    before.send(Accept{9});
    check_that(std::holds_alternative<Accept>(served.next().message));
    Peer after(served);
    greet(served, after);
}

TEST(interfaces_have_the_same_port_apart) {
    const auto first = listen_on(0, "127.0.0.1");
    check_that(static_cast<bool>(first));
    const int port = port_of(first->get());
    check_that(static_cast<bool>(listen_on(port, "127.0.0.2")));
    const std::string taken = "cannot listen on port " + std::to_string(port) + " (ListenPort)";
    check_eq(listen_on(port, "127.0.0.1").error().message,
             taken + " of 127.0.0.1: Address already in use");
    check_eq(listen_on(port, "").error().message, taken + ": Address already in use");
}

TEST(a_port_that_is_taken_is_named_and_changes_nothing) {
    Served first, second;
    const int port = second.server.port();
    const std::string why = fmt::format(
        "cannot listen on port {} (ListenPort): Address already in use", first.server.port());
    check_error(second.server.reconfigure({first.server.port(), {}, 64, 64}), why.c_str());
    check_eq(second.server.port(), port);
    Peer peer(second);
    greet(second, peer);
}
