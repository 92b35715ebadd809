// SPDX-License-Identifier: MIT
// What a connection may say, in which order, and that nobody else can say it.
#include "controller/session.hpp"

#include "testing.hpp"

using namespace elastic;
using namespace elastic::controller;
using namespace elastic::testing;

namespace {

constexpr uid_t kUser = 1000;

protocol::Envelope hello(std::uint32_t sequence = 1) {
    return {"", sequence, protocol::Hello{}};
}

protocol::Envelope accept(const std::string& session, std::uint32_t sequence) {
    return {session, sequence, protocol::Accept{}};
}

std::string code_of(const std::optional<Refusal>& refusal) {
    if (!refusal) return "taken";
    return refusal->code ? std::string(to_string(*refusal->code)) : "";
}

// One that has begun, and whose peer knows its name.
Session begun() {
    Session session("name");
    (void)session.check(kUser, hello());
    (void)session.outgoing(protocol::Welcome{});
    return session;
}

}  // namespace

TEST(a_session_begins_with_a_hello) {
    Session session("name");
    check_eq(code_of(session.check(kUser, accept("", 1))), "malformed");
    check_eq(code_of(session.check(kUser, hello(2))), "malformed");
    check_eq(code_of(session.check(kUser, {"name", 1, protocol::Hello{}})), "malformed");
    protocol::Envelope old = hello();
    std::get<protocol::Hello>(old.message).version = 0;
    check_eq(code_of(session.check(kUser, old)), "version");
    check_that((!session.has_begun()));
    check_eq(code_of(session.check(kUser, hello())), "taken");
    check_that((session.has_begun()));
    check_eq(session.user(), kUser);
}

TEST(messages_come_in_their_order_and_once) {
    Session session = begun();
    check_eq(code_of(session.check(kUser, accept("name", 2))), "taken");
    check_eq(code_of(session.check(kUser, accept("name", 2))), "");
    check_eq(code_of(session.check(kUser, accept("name", 4))), "");
    check_eq(code_of(session.check(kUser, accept("name", 3))), "taken");
}

TEST(nobody_else_speaks_in_a_session) {
    Session session = begun();
    check_eq(code_of(session.check(kUser + 1, accept("name", 2))), "");
    check_eq(code_of(session.check(kUser, accept("other", 2))), "");
    check_eq(code_of(session.check(kUser, accept("", 2))), "");
    check_eq(code_of(session.check(kUser, accept("name", 2))), "taken");
}

TEST(a_second_hello_is_refused) {
    Session session = begun();
    check_eq(code_of(session.check(kUser, {"name", 2, protocol::Hello{}})), "malformed");
}

TEST(the_peer_learns_the_name_with_its_welcome) {
    Session session("name");
    (void)session.check(kUser, hello());
    const protocol::Envelope welcome = session.outgoing(protocol::Welcome{});
    check_eq(welcome.session, "");
    check_eq(welcome.sequence, 1u);
    check_eq(std::get<protocol::Welcome>(welcome.message).session, "name");
    const protocol::Envelope next = session.outgoing(protocol::Accepted{});
    check_eq(next.session, "name");
    check_eq(next.sequence, 2u);
}
