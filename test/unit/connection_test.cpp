// SPDX-License-Identifier: MIT
// One connection of the server: what is read when, what is kept for a peer that does not read, and
// which peers are late.
#include "controller/connection.hpp"

#include <sys/socket.h>
#include <unistd.h>

#include <array>

#include "testing.hpp"

using namespace elastic;
using namespace elastic::controller;

namespace {

constexpr Time kBegin = 1000;

// A connection, and what its peer does.
struct Pair {
    Pair() {
        std::array<int, 2> ends{};
        ck_assert_int_eq(
            socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends.data()), 0);
        peer.reset(ends[1]);
        connection.emplace(1, Fd(ends[0]), "name", kBegin);
    }
    void say(const std::string& bytes) {
        check_eq(::send(peer.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL),
                 static_cast<ssize_t>(bytes.size()));
    }
    // All that has come to the peer.
    std::size_t hear() {
        char bytes[65536];
        std::size_t all = 0;
        for (ssize_t size; (size = ::recv(peer.get(), bytes, sizeof bytes, 0)) > 0;)
            all += static_cast<std::size_t>(size);
        return all;
    }
    // The next credential; "" for none.
    std::string next() {
        const auto credential = connection->next();
        check_ok(credential);
        return credential->value_or("");
    }

    Fd peer;
    std::optional<Connection> connection;
};

}  // namespace

TEST(the_second_message_is_taken_when_the_first_is_answered) {
    Pair pair;
    Connection& connection = *pair.connection;
    pair.say(protocol::frame("one") + protocol::frame("two"));
    check_that(connection.may_read());
    check_that(connection.read(kBegin));
    check_eq(pair.next(), "one");
    connection.set_waiting(true);
    check_that(!connection.may_read());
    check_eq(pair.next(), "");
    connection.set_waiting(false);
    connection.put("answer");
    check_that(!connection.may_read());  // the answer is not on its way
    check_eq(pair.next(), "");
    check_that(connection.write());
    check_eq(pair.next(), "two");
    check_eq(pair.next(), "");
}

TEST(frames_before_what_is_none_are_taken) {
    Pair pair;
    pair.say(protocol::frame("one") + "\xff\xff\xff\xff");
    check_that(pair.connection->read(kBegin));
    check_eq(pair.next(), "one");
    check_that(!pair.connection->next());
}

TEST(the_end_of_the_peer_is_seen) {
    Pair pair;
    check_that(pair.connection->read(kBegin));  // nothing, yet
    pair.peer.reset();
    check_that(!pair.connection->read(kBegin));
    pair.connection->put("to nobody");
    check_that(!pair.connection->write());
}

TEST(a_peer_that_does_not_read_is_kept_for_until_it_is_too_much) {
    Pair pair;
    Connection& connection = *pair.connection;
    const std::string large(1 << 20, 'x');
    connection.put(large);
    check_that(connection.write());
    check_that(connection.has_unsent());
    check_that(!connection.has_too_much_unsent());
    for (int i = 0; i < 4; ++i) connection.put(large);
    check_that(connection.write());
    check_that(connection.has_too_much_unsent());
    std::size_t heard = 0;
    while (connection.has_unsent()) {
        heard += pair.hear();
        check_that(connection.write());
    }
    heard += pair.hear();
    check_eq(heard, 5 * protocol::frame(large).size());
}

TEST(one_that_closes_ends_when_all_is_written_and_takes_nothing_more) {
    Pair pair;
    Connection& connection = *pair.connection;
    pair.say(protocol::frame("one"));
    check_that(connection.read(kBegin));
    connection.put("last words");
    connection.begin_closing(kBegin);
    check_that(!connection.is_finished());
    check_eq(pair.next(), "");
    check_that(connection.write());
    check_that(connection.is_finished());
    check_eq(pair.next(), "");
    check_that(connection.may_read());  // to see its end
}

TEST(who_does_not_say_who_it_is_is_late_soon) {
    Pair pair;
    Connection& connection = *pair.connection;
    check_that(!connection.is_late(kBegin + 10));
    check_that(connection.is_late(kBegin + 11));
    connection.introduce();
    check_that(!connection.is_late(kBegin + 1e6));
}

TEST(a_message_that_has_begun_is_to_end_in_time) {
    Pair pair;
    Connection& connection = *pair.connection;
    connection.introduce();
    pair.say(std::string("\0\0", 2));
    check_that(connection.read(kBegin + 100));
    check_that(!connection.is_late(kBegin + 130));
    pair.say(std::string("\0", 1));  // a little more is not enough
    check_that(connection.read(kBegin + 125));
    check_that(connection.is_late(kBegin + 131));
}

TEST(who_waits_for_us_is_not_late) {
    Pair pair;
    Connection& connection = *pair.connection;
    connection.introduce();
    pair.say(protocol::frame("one") + std::string("\0\0", 2));
    check_that(connection.read(kBegin));
    check_eq(pair.next(), "one");
    connection.set_waiting(true);
    check_that(!connection.is_late(kBegin + 1000));
    connection.set_waiting(false);
    check_that(!connection.is_late(kBegin + 1030));
    check_that(connection.is_late(kBegin + 1031));
}

TEST(one_that_closes_does_not_wait_for_ever_for_its_peer) {
    Pair pair;
    Connection& connection = *pair.connection;
    connection.introduce();
    connection.put("last words");
    connection.begin_closing(kBegin);
    check_that(!connection.is_late(kBegin + 10));
    check_that(connection.is_late(kBegin + 11));
}
