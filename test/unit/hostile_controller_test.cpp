// SPDX-License-Identifier: MIT
// What a right controller never sends, out of a listening socket: each must cost the connection and
// nothing else.
//
// Both ends run in this one thread: `until` lets them take turns, so nothing depends on timing
// but a generous alarm.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <functional>

#include "libelastic/client.hpp"
#include "plain_seal.hpp"
#include "protocol/codec.hpp"
#include "protocol/frame.hpp"
#include "testing.hpp"

namespace elastic::libelastic {
namespace {

using namespace protocol;
using testing::PlainSeal;

constexpr uid_t kController = 64030;
constexpr JobId kJob = 77;

class Impostor {
  public:
    Impostor() : listener_(socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0)) {
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        socklen_t length = sizeof address;
        ck_assert_int_eq(bind(listener_.get(), reinterpret_cast<sockaddr*>(&address), length), 0);
        ck_assert_int_eq(listen(listener_.get(), 8), 0);
        getsockname(listener_.get(), reinterpret_cast<sockaddr*>(&address), &length);
        port = ntohs(address.sin_port);
        welcome.job = kJob;
        welcome.node_list = "n[1-4]";
        welcome.nodes = 4;
    }

    // Takes what has come; answers a Hello if `greets`.
    void step() {
        if (!peer_) {
            peer_.reset(accept4(listener_.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
            if (!peer_) return;
            reader_ = FrameReader(kMaxClientFrame);
            sequence_ = 0;
            ++connections;
        }
        char data[4096];
        const ssize_t size = recv(peer_.get(), data, sizeof data, 0);
        if (size == 0) return drop();
        if (size > 0) check_ok(reader_.feed(data, static_cast<std::size_t>(size)));
        while (auto bytes = reader_.next()) take(*bytes);
    }

    void send(const Message& message) { send_as(kController, message); }
    void send_as(uid_t uid, const Message& message, int skip = 0) {
        sequence_ += 1 + static_cast<unsigned>(skip);
        PlainSeal seal(uid);
        send_bytes(frame(*seal.seal(encode({session, sequence_, message}), 0)));
    }
    void send_bytes(const std::string& bytes) {
        ck_assert_int_eq(::send(peer_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL),
                         static_cast<ssize_t>(bytes.size()));
    }
    void drop() { peer_.reset(); }

    std::uint16_t port = 0;
    Welcome welcome;
    bool greets = true;
    std::string session = "s0";
    int connections = 0;
    int hellos = 0;

  private:
    void take(const std::string& bytes) {
        const auto envelope = decode(PlainSeal(0).open(bytes)->payload);
        check_ok(envelope);
        const auto* hello = std::get_if<Hello>(&envelope->message);
        if (hello) ++hellos;
        if (!hello || !greets) return;
        session = fmt::format("s{}", connections);
        welcome.session = session;
        welcome.nonce = hello->nonce;
        send(welcome);
    }

    Fd listener_, peer_;
    FrameReader reader_{kMaxClientFrame};
    std::uint32_t sequence_ = 0;
};

struct Stage {  // the two ends and what the application was told
    explicit Stage(bool greets = true) {
        alarm(30);
        controller.greets = greets;
        Surroundings around;
        around.job = kJob;
        around.view.nodes = 4;
        around.view.node_list = "n[1-4]";
        client = std::make_unique<Client>(
            around, Endpoint{{{"127.0.0.1", controller.port}}, kController, {}},
            std::make_unique<PlainSeal>(1000), LinkTimes{0.001, 0.01, 2});
        until([&] { return greets ? client->connected() : controller.hellos == 1; });
    }
    ~Stage() { controller.drop(); }  // or the client waits for it to take its leave

    void step() {
        controller.step();
        Event event;
        const int code = client->poll(1, event);
        ck_assert_int_ge(code, 0);
        if (code == 1) events.push_back(event);
    }
    void until(const std::function<bool()>& holds) {
        while (!holds()) step();
    }
    void offer_and_expect(OpId op, uid_t sender) {
        controller.send_as(sender, Offer{op, ResizeKind::shrink, 1, 3, "n4", 60, ""});
        until([&] { return !events.empty(); });
        check_eq(events.front().type, static_cast<int>(ELASTIC_EVENT_OFFER_SHRINK));
        check_eq(events.front().op, op);
    }

    Impostor controller;
    std::unique_ptr<Client> client;
    std::vector<Event> events;
};

void loses_connection(const std::function<void(Impostor&)>& attack) {
    Stage s;
    attack(s.controller);
    s.until([&] { return s.controller.connections == 2 && s.client->connected(); });
    check_that(s.events.empty());
    s.offer_and_expect(7, kController);
}

TEST(a_forged_sender_is_not_believed) {
    loses_connection([](Impostor& c) {
        c.send_as(1000, Offer{5, ResizeKind::shrink, 1, 3, "n4", 60, ""});
    });
}
TEST(root_is_believed) {
    Stage s;
    s.offer_and_expect(5, 0);
}
TEST(a_skipped_message_is_noticed) {
    loses_connection([](Impostor& c) {
        c.send_as(kController, Offer{5, ResizeKind::shrink, 1, 3, "n4", 60, ""}, 1);
    });
}
TEST(a_message_of_another_session_is_refused) {
    loses_connection([](Impostor& c) {
        c.session = "other";
        c.send(Offer{5, ResizeKind::shrink, 1, 3, "n4", 60, ""});
    });
}
TEST(garbage_is_refused) {
    loses_connection([](Impostor& c) { c.send_bytes(frame("garbage")); });
    loses_connection([](Impostor& c) { c.send_bytes(frame("64030 {}")); });
    loses_connection([](Impostor& c) { c.send_bytes("\xff\xff\xff\xff"); });
    loses_connection([](Impostor& c) { c.send_bytes(std::string(4, '\0')); });
}

TEST(a_replayed_welcome_is_refused) {
    Stage s(false);
    s.controller.welcome.session = "s1";
    s.controller.welcome.nonce = "recorded";
    s.controller.send(s.controller.welcome);
    s.controller.greets = true;
    s.until([&] { return s.controller.connections >= 2 && s.client->connected(); });
}

}  // namespace
}  // namespace elastic::libelastic
