// SPDX-License-Identifier: MIT
// The application library against a controller made of a listening socket and a script.
//
// Both ends run in this one thread: `until` lets them take turns, so nothing depends on timing
// but a generous alarm.
#include "libelastic/client.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <functional>

#include "protocol/codec.hpp"
#include "protocol/frame.hpp"
#include "testing.hpp"

namespace elastic::libelastic {
namespace {

using namespace protocol;

constexpr uid_t kController = 64030;
constexpr JobId kJob = 77;

// A seal that everybody can make: the sender's user before the payload.
class PlainSeal : public Seal {
  public:
    explicit PlainSeal(uid_t uid) : uid_(uid) {}
    Result<std::string> seal(std::string_view payload, uid_t) override {
        return fmt::format("{} {}", uid_, payload);
    }
    Result<Opened> open(std::string_view credential) override {
        const auto blank = credential.find(' ');
        if (blank == std::string_view::npos) return error("not sealed");
        return Opened{std::string(credential.substr(blank + 1)),
                      static_cast<uid_t>(std::stoul(std::string(credential.substr(0, blank))))};
    }

  private:
    uid_t uid_;
};

class Controller {
  public:
    Controller() : listener_(socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0)) {
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        socklen_t length = sizeof address;
        ck_assert_int_eq(bind(listener_.get(), reinterpret_cast<sockaddr*>(&address), length), 0);
        ck_assert_int_eq(listen(listener_.get(), 8), 0);
        getsockname(listener_.get(), reinterpret_cast<sockaddr*>(&address), &length);
        port = ntohs(address.sin_port);
        welcome.job = kJob;
        welcome.malleable = welcome.evolving = true;
        welcome.min = 1;
        welcome.max = 8;
        welcome.node_list = "n[1-4]";
        welcome.nodes = 4;
        welcome.batch_host = "n1";
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
    bool connected() const { return static_cast<bool>(peer_); }

    // The last message, if it is of that type.
    template <class M>
    const M* last() const {
        return taken.empty() ? nullptr : std::get_if<M>(&taken.back());
    }
    template <class M>
    int count() const {
        int n = 0;
        for (const auto& one : taken) n += std::holds_alternative<M>(one);
        return n;
    }

    std::uint16_t port = 0;
    Welcome welcome;
    bool greets = true;
    std::string session = "s0";
    std::vector<Message> taken;
    int connections = 0;

  private:
    void take(const std::string& bytes) {
        const auto envelope = decode(PlainSeal(0).open(bytes)->payload);
        check_ok(envelope);
        taken.push_back(envelope->message);
        const auto* hello = std::get_if<Hello>(&envelope->message);
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

struct Theatre {  // the two ends and what the application was told
    Theatre() { alarm(30); }
    ~Theatre() { controller.drop(); }  // or the client waits for it to take its leave

    Client& open(bool settle = true) {
        Surroundings around;
        around.job = kJob;
        around.view.nodes = 4;
        around.view.node_list = "n[1-4]";
        client = std::make_unique<Client>(
            around, Endpoint{{{"127.0.0.1", controller.port}}, kController, ""},
            std::make_unique<PlainSeal>(1000), LinkTimes{0.001, 0.01, 2});
        if (settle) until([&] { return client->connected(); });
        return *client;
    }

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
    // The next event, which must be of that type.
    Event expect(int type) {
        until([&] { return !events.empty(); });
        const Event event = events.front();
        events.erase(events.begin());
        check_eq(event.type, type);
        return event;
    }
    template <class M>
    M heard() {
        until([&] { return controller.last<M>() != nullptr; });
        return *controller.last<M>();
    }
    void offer_shrink(OpId op = 5) {
        controller.send(Offer{op, ResizeKind::shrink, 1, 3, "n4", 60, "for job 9"});
    }
    void reconnect() {
        controller.drop();
        const int before = controller.connections;
        until([&] { return controller.connections > before && client->connected(); });
    }

    Controller controller;
    std::unique_ptr<Client> client;
    std::vector<Event> events;
};

TEST(a_shrink_from_offer_to_applied) {
    Theatre s;
    auto& client = s.open();
    check_eq(client.view().max, 8);
    s.offer_shrink();
    const auto offer = s.expect(ELASTIC_EVENT_OFFER_SHRINK);
    check_eq(offer.op, 5);
    check_eq(offer.nodes, 1);
    check_eq(offer.size, 3);
    check_eq(offer.node_list, "n4");
    check_eq(offer.reason, "for job 9");
    check_eq(client.done(5), ELASTIC_ESTATE);
    check_eq(client.accept(5), ELASTIC_OK);
    check_eq(client.accept(5), ELASTIC_ESTATE);
    check_eq(client.decline(5, ""), ELASTIC_ESTATE);
    check_eq(s.heard<Accept>().op, 5);
    s.controller.send(Accepted{5, 30});
    check_eq(s.expect(ELASTIC_EVENT_ACCEPTED).deadline, 30.0);
    check_eq(client.done(5), ELASTIC_OK);
    check_eq(s.heard<Done>().op, 5);
    check_eq(client.view().nodes, 4);
    s.controller.send(Applied{5, ResizeKind::shrink, "n4", "n[1-3]", 3});
    const auto resized = s.expect(ELASTIC_EVENT_RESIZED);
    check_eq(resized.kind, static_cast<int>(ELASTIC_SHRINK));
    check_eq(resized.node_list, "n4");
    check_eq(client.view().nodes, 3);
    check_eq(client.view().node_list, "n[1-3]");
    check_eq(client.done(5), ELASTIC_ESTATE);
}

TEST(an_expansion_is_done_after_it_is_applied) {
    Theatre s;
    auto& client = s.open();
    s.controller.send(Offer{6, ResizeKind::expand, 2, 6, "", 60, ""});
    s.expect(ELASTIC_EVENT_OFFER_EXPAND);
    client.accept(6);
    check_eq(client.done(6), ELASTIC_ESTATE);
    s.heard<Accept>();
    s.controller.send(Accepted{6, 30});
    s.expect(ELASTIC_EVENT_ACCEPTED);
    s.controller.send(Applied{6, ResizeKind::expand, "n[5-6]", "n[1-6]", 6});
    check_eq(s.expect(ELASTIC_EVENT_RESIZED).op, 6);
    check_eq(client.view().nodes, 6);
    check_eq(client.done(6), ELASTIC_OK);
    check_eq(client.done(6), ELASTIC_ESTATE);
    s.heard<Done>();
}

TEST(a_declined_offer_ends) {
    Theatre s;
    auto& client = s.open();
    s.offer_shrink();
    s.expect(ELASTIC_EVENT_OFFER_SHRINK);
    check_eq(client.accept(0), ELASTIC_EINVAL);
    check_eq(client.accept(4), ELASTIC_ESTATE);
    check_eq(client.decline(5, "busy"), ELASTIC_OK);
    check_eq(s.heard<Decline>().reason, "busy");
    s.controller.send(Ended{5, ResizeKind::shrink, Outcome::declined, "busy"});
    check_eq(s.expect(ELASTIC_EVENT_ENDED).outcome, static_cast<int>(ELASTIC_DECLINED));
    check_eq(client.accept(5), ELASTIC_ESTATE);
}

TEST(a_request_is_queued_and_granted) {
    Theatre s;
    auto& client = s.open();
    check_eq(client.request(0, 0, 1), ELASTIC_EINVAL);
    check_eq(client.request(2, 3, 1), ELASTIC_EINVAL);
    check_eq(client.request(2, 1, -1), ELASTIC_EINVAL);
    check_eq(client.request(2, 1, 100), ELASTIC_OK);
    check_eq(client.request(1, 1, 1), ELASTIC_ESTATE);
    const auto asked = s.heard<Request>();
    check_eq(asked.nodes, 2);
    check_eq(asked.least, 1);
    check_that(asked.timeout > 90 && asked.timeout <= 100);
    s.controller.send(Queued{asked.token, 8});
    check_eq(s.expect(ELASTIC_EVENT_QUEUED).op, 8);
    s.controller.send(Applied{8, ResizeKind::expand, "n5", "n[1-5]", 5});
    check_eq(s.expect(ELASTIC_EVENT_RESIZED).op, 8);
    check_eq(client.done(8), ELASTIC_OK);
    check_eq(client.request(1, 1, 1), ELASTIC_OK);
}

TEST(a_request_is_denied) {
    Theatre s;
    auto& client = s.open();
    client.request(2, 1, 100);
    s.controller.send(Failure{s.heard<Request>().token, "state", "beyond max=4", false});
    const auto ended = s.expect(ELASTIC_EVENT_ENDED);
    check_eq(ended.outcome, static_cast<int>(ELASTIC_DENIED));
    check_eq(ended.reason, "beyond max=4");
    check_eq(client.request(1, 1, 0), ELASTIC_OK);
}

TEST(a_request_can_be_cancelled_before_its_number_is_known) {
    Theatre s;
    auto& client = s.open();
    check_eq(client.cancel(0), ELASTIC_ESTATE);
    client.request(2, 1, 100);
    const auto token = s.heard<Request>().token;
    check_eq(client.cancel(0), ELASTIC_OK);
    check_eq(s.controller.count<Cancel>(), 0);
    s.controller.send(Queued{token, 8});
    check_eq(s.heard<Cancel>().op, 8);
}

TEST(a_release_names_the_last_nodes) {
    Theatre s;
    s.controller.welcome.batch_host = "n4";
    auto& client = s.open();
    check_eq(client.release(4, nullptr), ELASTIC_EINVAL);
    check_eq(client.release(0, "n4"), ELASTIC_EINVAL);
    check_eq(client.release(0, "n9"), ELASTIC_EINVAL);
    check_eq(client.release(0, "n[1-4]"), ELASTIC_EINVAL);
    check_eq(client.release(0, "n["), ELASTIC_EINVAL);
    check_eq(client.release(2, nullptr), ELASTIC_OK);
    const auto release = s.heard<Release>();
    check_eq(release.node_list, "n[2-3]");
    s.controller.send(Queued{release.token, 9});
    s.expect(ELASTIC_EVENT_QUEUED);
    s.controller.send(Accepted{9, 1});  // nothing for the application to do
    s.controller.send(Applied{9, ResizeKind::shrink, "n[2-3]", "n[1,4]", 2});
    check_eq(s.expect(ELASTIC_EVENT_RESIZED).op, 9);
    check_eq(client.release(1, nullptr), ELASTIC_OK);
}

// Two messages come in one read; the application has been told of the first.
TEST(a_release_is_of_the_nodes_the_application_was_shown) {
    Theatre s;
    auto& client = s.open();
    s.offer_shrink();
    s.controller.send(Applied{0, ResizeKind::expand, "n[5-6]", "n[1-6]", 6});
    s.expect(ELASTIC_EVENT_OFFER_SHRINK);
    check_eq(client.view().node_list, "n[1-4]");
    check_eq(client.release(4, nullptr), ELASTIC_EINVAL);
    check_eq(client.release(0, "n5"), ELASTIC_EINVAL);
    check_eq(client.release(1, nullptr), ELASTIC_OK);
    check_eq(s.heard<Release>().node_list, "n4");
    s.expect(ELASTIC_EVENT_RESIZED);
    check_eq(client.view().node_list, "n[1-6]");
}

TEST(a_release_of_a_node_that_has_just_left_is_for_the_controller_to_deny) {
    Theatre s;
    auto& client = s.open();
    s.offer_shrink();
    s.controller.send(Applied{0, ResizeKind::shrink, "n4", "n[1-3]", 3});
    s.expect(ELASTIC_EVENT_OFFER_SHRINK);
    check_eq(client.release(1, nullptr), ELASTIC_OK);
    const auto release = s.heard<Release>();
    check_eq(release.node_list, "n4");
    s.controller.send(Failure{release.token, "denied", "job 77 does not hold n4", false});
    s.expect(ELASTIC_EVENT_RESIZED);
    check_eq(s.expect(ELASTIC_EVENT_ENDED).outcome, static_cast<int>(ELASTIC_DENIED));
    check_eq(client.release(1, nullptr), ELASTIC_OK);
    s.until([&] { return s.controller.count<Release>() == 2; });
    check_eq(s.heard<Release>().node_list, "n3");
}

TEST(what_is_said_while_away_is_sent_later) {
    Theatre s;
    auto& client = s.open();
    s.offer_shrink();
    s.expect(ELASTIC_EVENT_OFFER_SHRINK);
    s.controller.drop();
    s.until([&] { return !client.connected(); });
    check_eq(client.accept(5), ELASTIC_OK);
    check_eq(client.done(5), ELASTIC_OK);
    s.controller.welcome.agreement = 5;
    s.until([&] { return s.controller.count<Done>() == 1; });
    check_eq(s.controller.count<Accept>(), 1);
    check_eq(s.controller.count<Hello>(), 2);
}

TEST(look_ups_in_vain_become_rare) {
    alarm(30);
    const Endpoint nobody{{{"127.0.0.1", Controller().port}}, kController, ""};
    int look_ups = 0;
    const LinkTimes times{0.001, 0.001, 2};
    Client client({kJob, {}}, nobody, std::make_unique<PlainSeal>(1000), times, [&] {
        ++look_ups;
        return nobody;
    });
    const Time begin = monotonic_now();
    Event event;
    while (look_ups < 8) check_eq(client.poll(1, event), 0);
    check_that(monotonic_now() - begin >= 0.001 * 255);  // 1 + 2 + ... + 128
}

TEST(an_agreement_goes_on_after_a_reconnection) {
    Theatre s;
    auto& client = s.open();
    s.offer_shrink();
    s.expect(ELASTIC_EVENT_OFFER_SHRINK);
    client.accept(5);
    s.heard<Accept>();
    s.controller.welcome.agreement = 5;
    s.controller.welcome.stage = Stage::accepted;
    s.reconnect();
    s.offer_shrink();
    s.controller.send(Accepted{5, 30});
    s.expect(ELASTIC_EVENT_ACCEPTED);  // and no second offer before it
    check_eq(s.controller.count<Accept>(), 1);
    check_eq(client.done(5), ELASTIC_OK);
}

TEST(an_agreement_that_the_controller_lost_is_over) {
    Theatre s;
    s.open();
    s.offer_shrink();
    s.expect(ELASTIC_EVENT_OFFER_SHRINK);
    s.reconnect();
    const auto ended = s.expect(ELASTIC_EVENT_ENDED);
    check_eq(ended.op, 5);
    check_eq(ended.outcome, static_cast<int>(ELASTIC_CANCELLED));
}

TEST(an_agreement_applied_while_away_shows_in_the_nodes) {
    Theatre s;
    auto& client = s.open();
    s.offer_shrink();
    s.expect(ELASTIC_EVENT_OFFER_SHRINK);
    client.accept(5);
    client.done(5);
    s.heard<Done>();
    s.controller.welcome.node_list = "n[1-3]";
    s.controller.welcome.nodes = 3;
    s.reconnect();
    const auto resized = s.expect(ELASTIC_EVENT_RESIZED);
    check_eq(resized.op, 5);
    check_eq(resized.node_list, "n4");
    check_eq(client.view().nodes, 3);
    check_that(s.events.empty());
}

TEST(an_expansion_applied_while_away_is_told_once_and_can_be_done) {
    Theatre s;
    auto& client = s.open();
    client.request(1, 1, 100);
    s.controller.send(Queued{s.heard<Request>().token, 8});
    s.expect(ELASTIC_EVENT_QUEUED);
    s.controller.welcome.node_list = "n[1-5]";
    s.controller.welcome.nodes = 5;
    s.controller.welcome.agreement = 8;
    s.controller.welcome.stage = Stage::applied;
    s.reconnect();
    s.controller.send(Offer{8, ResizeKind::expand, 1, 5, "", 0, ""});
    s.controller.send(Applied{8, ResizeKind::expand, "n5", "n[1-5]", 5});
    s.controller.send(Offer{9, ResizeKind::expand, 1, 6, "", 60, ""});
    check_eq(s.expect(ELASTIC_EVENT_RESIZED).op, 8);
    check_eq(client.view().nodes, 5);
    check_eq(s.expect(ELASTIC_EVENT_OFFER_EXPAND).op, 9);
}

TEST(a_request_is_repeated_if_it_was_lost_and_not_if_it_waits) {
    Theatre s;
    auto& client = s.open();
    client.request(2, 2, 100);
    s.heard<Request>();
    s.reconnect();
    s.until([&] { return s.controller.count<Request>() == 2; });
    s.controller.welcome.request = 8;
    s.reconnect();
    s.controller.send(Queued{0, 8});
    check_eq(s.expect(ELASTIC_EVENT_QUEUED).op, 8);
    check_eq(s.controller.count<Request>(), 2);
    s.controller.welcome.request = 0;
    s.reconnect();
    check_eq(s.expect(ELASTIC_EVENT_ENDED).op, 8);
}

TEST(a_node_lost_while_away_is_told) {
    Theatre s;
    auto& client = s.open();
    s.controller.welcome.node_list = "n[1,3-5]";
    s.reconnect();
    const auto lost = s.expect(ELASTIC_EVENT_RESIZED);
    check_eq(lost.node_list, "n2");
    check_eq(lost.size, 3);
    check_eq(lost.op, 0);
    check_eq(client.view().node_list, "n[1,3-4]");
    check_eq(s.expect(ELASTIC_EVENT_RESIZED).node_list, "n5");
    check_eq(client.view().node_list, "n[1,3-5]");
}

TEST(a_later_process_learns_what_an_earlier_one_accepted) {
    Theatre s;
    s.controller.welcome.agreement = 5;
    s.controller.welcome.stage = Stage::accepted;
    auto& client = s.open();
    s.offer_shrink();
    s.controller.send(Accepted{5, 20});
    const auto accepted = s.expect(ELASTIC_EVENT_ACCEPTED);
    check_eq(accepted.node_list, "n4");
    check_eq(client.accept(5), ELASTIC_ESTATE);
    check_eq(client.done(5), ELASTIC_OK);
}

// Each of these must cost the connection and nothing else.
void loses_connection(const std::function<void(Controller&)>& attack) {
    Theatre s;
    auto& client = s.open();
    attack(s.controller);
    s.until([&] { return s.controller.connections == 2 && client.connected(); });
    check_that(s.events.empty());
    s.offer_shrink(7);
    check_eq(s.expect(ELASTIC_EVENT_OFFER_SHRINK).op, 7);
}

TEST(a_forged_sender_is_not_believed) {
    loses_connection([](Controller& c) {
        c.send_as(1000, Offer{5, ResizeKind::shrink, 1, 3, "n4", 60, ""});
    });
}
TEST(root_is_believed) {
    Theatre s;
    s.open();
    s.controller.send_as(0, Offer{5, ResizeKind::shrink, 1, 3, "n4", 60, ""});
    s.expect(ELASTIC_EVENT_OFFER_SHRINK);
}
TEST(a_skipped_message_is_noticed) {
    loses_connection([](Controller& c) {
        c.send_as(kController, Offer{5, ResizeKind::shrink, 1, 3, "n4", 60, ""}, 1);
    });
}
TEST(a_message_of_another_session_is_refused) {
    loses_connection([](Controller& c) {
        c.session = "other";
        c.send(Offer{5, ResizeKind::shrink, 1, 3, "n4", 60, ""});
    });
}
TEST(garbage_is_refused) {
    loses_connection([](Controller& c) { c.send_bytes(frame("garbage")); });
    loses_connection([](Controller& c) { c.send_bytes(frame("64030 {}")); });
    loses_connection([](Controller& c) { c.send_bytes("\xff\xff\xff\xff"); });
    loses_connection([](Controller& c) { c.send_bytes(std::string(4, '\0')); });
}

TEST(a_replayed_welcome_is_refused) {
    Theatre s;
    s.controller.greets = false;
    auto& client = s.open(false);
    s.until([&] { return s.controller.count<Hello>() == 1; });
    s.controller.welcome.session = "s1";
    s.controller.welcome.nonce = "recorded";
    s.controller.send(s.controller.welcome);
    s.controller.greets = true;
    s.until([&] { return s.controller.connections >= 2 && client.connected(); });
}

TEST(a_refusal_for_good_closes_the_handle) {
    Theatre s;
    s.controller.greets = false;
    auto& client = s.open(false);
    s.until([&] { return s.controller.count<Hello>() == 1; });
    s.controller.session.clear();
    s.controller.send(Failure{0, "not_elastic", "job 77 is not elastic", true});
    check_eq(s.expect(ELASTIC_EVENT_CLOSED).reason, "job 77 is not elastic");
    check_that(!client.elastic());
    check_eq(client.accept(5), ELASTIC_ENOTELASTIC);
    Event event;
    check_eq(client.poll(-1, event), ELASTIC_ENOTELASTIC);
    check_eq(client.poll(0, event), 0);
}

TEST(the_next_controller_is_tried) {
    Theatre s;
    Controller* standby = &s.controller;
    std::uint16_t closed = 0;
    { closed = Controller().port; }
    Surroundings around;
    around.job = kJob;
    around.view.node_list = "n[1-4]";
    s.client = std::make_unique<Client>(
        around, Endpoint{{{"127.0.0.1", closed}, {"127.0.0.1", standby->port}}, kController, ""},
        std::make_unique<PlainSeal>(1000), LinkTimes{0.001, 0.01, 2});
    s.until([&] { return s.client->connected(); });
}

TEST(the_descriptor_stays_and_is_ready_when_something_is_due) {
    Theatre s;
    auto& client = s.open();
    const int fd = client.fd();
    const auto ready = [&](int timeout) {
        pollfd one{fd, POLLIN, 0};
        return ::poll(&one, 1, timeout) == 1;
    };
    check_that(!ready(0));
    s.offer_shrink();
    s.controller.send(Ended{5, ResizeKind::shrink, Outcome::cancelled, ""});
    check_that(ready(5000));
    Event event;
    while (client.poll(0, event) == 0) check_that(ready(5000));
    // The second message may be in the library already: the descriptor must tell.
    check_that(ready(5000));
    check_eq(client.poll(100, event), 1);
    s.reconnect();
    check_eq(client.fd(), fd);
    check_that(!ready(0));
}

TEST(progress_is_sent_now_and_then) {
    Theatre s;
    auto& client = s.open();
    check_eq(client.progress(-1), ELASTIC_EINVAL);
    for (int i = 0; i < 100; ++i) check_eq(client.progress(1000 - i), ELASTIC_OK);
    check_eq(s.heard<Progress>().remaining, 1000.0);
    check_eq(s.controller.count<Progress>(), 1);
}

TEST(outside_a_job_everything_is_harmless) {
    Client client(JobView{}, "not inside a Slurm job");
    Event event;
    check_eq(client.poll(0, event), 0);
    check_eq(client.poll(-1, event), ELASTIC_ENOTELASTIC);
    check_eq(client.accept(1), ELASTIC_ENOTELASTIC);
    check_eq(client.request(1, 1, 0), ELASTIC_ENOTELASTIC);
    check_eq(client.release(1, nullptr), ELASTIC_ENOTELASTIC);
    check_eq(client.progress(1), ELASTIC_ENOTELASTIC);
    check_eq(client.view().nodes, 1);
    check_that(client.fd() >= 0);
}

}  // namespace
}  // namespace elastic::libelastic
