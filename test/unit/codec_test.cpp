// SPDX-License-Identifier: MIT
// The codec: every message comes back as it went, and nothing else is let in.
#include "protocol/codec.hpp"

#include <random>

#include "protocol/frame.hpp"
#include "testing.hpp"

namespace elastic::protocol {
namespace {

using Random = std::mt19937_64;

std::int64_t between(Random& random, std::int64_t low, std::int64_t high) {
    return std::uniform_int_distribution<std::int64_t>(low, high)(random);
}

int count(Random& random, int low = 0) {
    return static_cast<int>(between(random, low, kMaxNodes));
}
OpId op(Random& random) {
    return between(random, 1, (std::int64_t{1} << 53) - 1);
}
double seconds(Random& random) {
    return static_cast<double>(between(random, 0, 1 << 30)) / 1024;
}

std::string text(Random& random) {
    static const std::string kPieces[] = {"n[1-4,7]", "\"", "\\", "{", "ü", "", " ", "'", "/", "x"};
    std::string made;
    for (auto i = between(random, 0, 8); i > 0; --i) made += kPieces[between(random, 0, 9)];
    return made;
}

template <class Enum>
Enum one_of(Random& random, int last) {
    return static_cast<Enum>(between(random, 0, last));
}

// One random message of each type.
std::vector<Message> random_messages(Random& r) {
    const int most = count(r, 1);
    const auto kind = [&] { return one_of<ResizeKind>(r, 1); };
    return {
        Hello{count(r), one_of<Role>(r, 1), static_cast<JobId>(op(r)), "0123abc"},
        Welcome{count(r), "s-1", static_cast<JobId>(op(r)), between(r, 0, 1) == 1,
                between(r, 0, 1) == 1, count(r), count(r), text(r), count(r), text(r), "abc",
                op(r) - 1, one_of<Stage>(r, 3), op(r) - 1, text(r)},
        Offer{op(r), kind(), count(r, 1), count(r, 1), text(r), seconds(r), text(r)},
        Accept{op(r), count(r)},
        Decline{op(r), text(r)},
        Done{op(r)},
        Accepted{op(r), seconds(r)},
        Applied{op(r) - 1, kind(), text(r), text(r), count(r, 1)},
        Ended{op(r), kind(), one_of<Outcome>(r, 3), text(r)},
        Request{op(r), most, static_cast<int>(between(r, 1, most)), seconds(r)},
        Queued{op(r) - 1, op(r)},
        Release{op(r), count(r, 1), text(r)},
        Cancel{op(r)},
        Progress{seconds(r)},
        Step{op(r), count(r), seconds(r)},
        Planned{op(r) - 1, count(r), count(r), between(r, 0, 1) == 1, count(r), seconds(r)},
        Query{op(r), Question::evacuate, static_cast<JobId>(op(r)), between(r, -1, 9), count(r),
              text(r), 17, "12:345"},
        Reply{op(r), Json::object().set("a", Json::array().push(1).push("x"))},
        Failure{op(r) - 1, FailureCode::state, text(r), between(r, 0, 1) == 1, op(r) - 1},
    };
}

std::string wire(const std::string& fields) {
    return R"({"session":"s","sequence":1,)" + fields + "}";
}

Error refused(const std::string& text) {
    const auto result = decode(text);
    ck_assert_msg(!result, "accepted: %s", text.c_str());
    return result.error();
}

TEST(every_message_comes_back_as_it_went) {
    Random random(testing::seed());
    for (int round = 0; round < 200; ++round) {
        const auto messages = random_messages(random);
        check_eq(messages.size(), std::variant_size_v<Message>);
        for (std::size_t i = 0; i < messages.size(); ++i) {
            check_eq(messages[i].index(), i);
            const Envelope sent{
                text(random), static_cast<std::uint32_t>(between(random, 1, 1 << 30)), messages[i]};
            const auto once = encode(sent);
            const auto taken = decode(once);
            check_ok(taken);
            check_eq(encode(*taken), once);
            check_eq(taken->session, sent.session);
            check_eq(taken->sequence, sent.sequence);
            check_eq(taken->message.index(), i);
        }
    }
}

TEST(the_fields_land_where_they_belong) {
    const auto taken =
        decode(R"({"type":"offer","session":"s","sequence":7,"op":5,"kind":"expand","nodes":2,)"
               R"("size_after":6,"node_list":"n[1-2]","deadline":1.5,"reason":"idle"})");
    check_ok(taken);
    const auto& offer = std::get<Offer>(taken->message);
    check_eq(taken->sequence, 7u);
    check_eq(offer.op, 5);
    check_that(offer.kind == ResizeKind::expand);
    check_eq(offer.nodes, 2);
    check_eq(offer.size_after, 6);
    check_eq(offer.node_list, "n[1-2]");
    check_eq(offer.deadline, 1.5);
    check_eq(offer.reason, "idle");
}

TEST(unknown_fields_are_passed_over) {
    check_ok(decode(wire(R"("type":"accept","op":1,"colour":{"deep":[1]})")));
}

TEST(words_of_a_later_version_are_kept) {
    const std::string query =
        wire(R"("type":"query","token":1,"what":"dance","job":0,"nodes":0,"node":"","tail":0)");
    const auto asked = decode(query);
    check_ok(asked);
    check_that(!std::get<Query>(asked->message).what.known());
    check_that(encode(*asked).find(R"("what":"dance")") != std::string::npos);
    const auto failed =
        decode(wire(R"("type":"failure","token":0,"code":"weary","message":"","fatal":false)"));
    check_ok(failed);
    check_eq(std::get<Failure>(failed->message).code.text(), "weary");
}

TEST(known_words_are_words) {
    const auto failed =
        decode(wire(R"("type":"failure","token":0,"code":"replaced","message":"","fatal":true)"));
    check_ok(failed);
    check_that(std::get<Failure>(failed->message).code == FailureCode::replaced);
    const auto code = [](const std::string& text) {
        return refused(
            wire(R"("type":"failure","token":0,"message":"","fatal":true,"code":)" + text));
    };
    check_eq(code(R"("two\nlines")").message, "failure: code has control characters");
    check_eq(code('"' + std::string(33, 'a') + '"').message,
             "failure: code has 33 bytes, at most 32 are allowed");
    check_eq(code("1").message, "failure: code must be a string, not 1");
}

TEST(what_is_wrong_is_named) {
    check_that(refused(wire(R"("type":"dance")")).message.ends_with(R"(failure, not "dance")"));
    check_eq(refused(wire(R"("type":"accept")")).message, "accept: op is missing");
    check_eq(
        refused(wire(R"("type":"failure","token":0,"code":"x","message":"","fatal":1)")).message,
        "failure: fatal must be true or false, not 1");
    check_eq(refused(wire(R"("type":"request","token":1,"nodes":2,"least":3,"timeout":0)")).message,
             "request: least=3 is more than nodes=2");
    check_eq(
        refused(wire(R"("type":"ended","op":1,"kind":"sideways","outcome":"denied","reason":"")"))
            .message,
        R"(ended: kind must be one of shrink, expand, not "sideways")");
    check_eq(refused("[]").message, "must be an object, not an array");
}

TEST(values_beyond_their_limits_are_refused) {
    const std::string accept = R"("type":"accept","op":)";
    for (const char* bad : {"0", "-1", "9007199254740992", "1e300", "1.5", "\"1\"", "null", "true"})
        refused(wire(accept + bad));
    const std::string request = R"("type":"request","token":1,"least":1,)";
    for (const char* bad : {R"("nodes":0,"timeout":1)", R"("nodes":1000001,"timeout":1)",
                            R"("nodes":1,"timeout":-1)", R"("nodes":1,"timeout":1e12)"})
        refused(wire(request + bad));
    refused(wire(R"("type":"release","token":1,"nodes":0,"node_list":"")"));
    refused(wire(R"("type":"accept","op":1,"count":-1)"));
    refused(wire(R"("type":"accept","op":1,"count":1000001)"));
    refused(wire(R"("type":"accept","op":1,"count":"2")"));
    refused(R"({"type":"accept","session":"s","sequence":0,"op":1})");
    refused(R"({"type":"accept","session":"s","sequence":4294967296,"op":1})");
    refused(wire(R"("type":"decline","op":1,"reason":")" + std::string(kMaxText + 1, 'a') + "\""));
    refused(wire(R"("type":"decline","op":1,"reason":"a\nb")"));
    refused(wire(R"("type":"decline","op":1,"reason":"a\u0000b")"));
    refused(R"({"type":"accept","sequence":1,"op":1,"session":")" + std::string(65, 'a') + "\"}");
}

TEST(what_is_not_json_is_refused) {
    const auto good = encode({"s", 1, Accept{1}});
    for (std::size_t cut = 0; cut < good.size(); ++cut) refused(good.substr(0, cut));
    refused(good + good);
    refused(std::string(100'000, '['));
}

TEST(texts_for_humans_are_made_fit) {
    const auto taken = decode(encode({"s", 1, Decline{1, "two\nlines\x1b[31m"}}));
    check_ok(taken);
    check_eq(std::get<Decline>(taken->message).reason, "two lines [31m");
    // Cut between characters, not inside one.
    const auto cut = decode(encode({"s", 1, Decline{1, std::string(kMaxText - 1, 'a') + "ü"}}));
    check_ok(cut);
    check_eq(std::get<Decline>(cut->message).reason, std::string(kMaxText - 1, 'a'));
    // Each byte that is not UTF-8 becomes three.
    check_ok(decode(encode({"s", 1, Decline{1, std::string(kMaxText, '\xff')}})));
}

TEST(an_answer_that_is_too_long_is_a_failure) {
    const auto answer = [](std::size_t size) {
        const Reply reply{7, Json::object().set("text", std::string(size, 'x'))};
        return encode_for_client({"s", 3, reply});
    };
    check_that(std::holds_alternative<Reply>(decode(answer(kMaxReplyPayload - 200))->message));
    const auto long_one = decode(answer(kMaxReplyPayload));
    check_eq(long_one->sequence, 3u);
    const auto& failure = std::get<Failure>(long_one->message);
    check_eq(failure.token, 7);
    check_eq(failure.code.text(), "limit");
    check_that(!failure.fatal);
}

TEST(the_longest_place_in_a_journal_is_taken) {
    Query query;
    query.after = "18446744073709551615:9223372036854775807";
    const auto taken = decode(encode({"s", 1, query}));
    check_ok(taken);
    check_eq(std::get<Query>(taken->message).after, query.after);
}

TEST(seconds_are_brought_into_range) {
    for (const double far : {kMaxSeconds * 2, HUGE_VAL, -1.0, static_cast<double>(NAN)})
        check_ok(decode(encode({"s", 1, Accepted{1, far}})));
}

TEST(random_changes_never_crash) {
    Random random(testing::seed());
    for (int round = 0; round < 100; ++round) {
        for (const auto& message : random_messages(random)) {
            auto bytes = encode({"s", 1, message});
            for (auto i = between(random, 1, 4); i > 0; --i)
                bytes[static_cast<std::size_t>(
                    between(random, 0, static_cast<std::int64_t>(bytes.size()) - 1))] =
                    static_cast<char>(between(random, 0, 255));
            const auto taken = decode(bytes);
            if (taken) check_ok(decode(encode(*taken)));
        }
    }
}

}  // namespace
}  // namespace elastic::protocol
