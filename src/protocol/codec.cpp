// SPDX-License-Identifier: MIT
// The JSON of each message, written down once.
//
// `describe` lists a message's fields with their limits.  Two visitors walk that list: Writer
// makes JSON of a message and Reader checks JSON and fills a message, so the two directions
// cannot drift apart, and a new message is one `describe` and one name in kTypeNames.
//
// Always holds: decode(encode(e)) gives e back for every envelope within the limits; the
// reader looks at nothing after its first error.
#include "protocol/codec.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

#include "common/text.hpp"
#include "protocol/frame.hpp"

namespace elastic::protocol {
namespace {

// In the order of Message's alternatives.
constexpr std::array<std::string_view, std::variant_size_v<Message>> kTypeNames = {
    "hello",   "welcome", "offer",   "accept", "decline",  "done",  "accepted", "applied", "ended",
    "request", "queued",  "release", "cancel", "progress", "query", "reply",    "failure"};

constexpr std::array<std::string_view, 2> kKinds = {"shrink", "expand"};
constexpr std::array<std::string_view, 2> kRoles = {"application", "tool"};
constexpr std::array<std::string_view, 4> kOutcomes = {"declined", "expired", "cancelled",
                                                       "denied"};
constexpr std::array<std::string_view, 4> kStages = {"offered", "accepted", "released", "applied"};
constexpr auto& words(ResizeKind) {
    return kKinds;
}
constexpr auto& words(Role) {
    return kRoles;
}
constexpr auto& words(Stage) {
    return kStages;
}
constexpr auto& words(Outcome) {
    return kOutcomes;
}

constexpr std::size_t kMaxSession = 64;
constexpr std::size_t kMaxWord = 32;
constexpr std::size_t kMaxPlace = 64;                          // in a journal
constexpr std::int64_t kMaxInt = (std::int64_t{1} << 53) - 1;  // what any JSON reader keeps

bool is_control(char c) {
    return static_cast<unsigned char>(c) < 0x20 || c == 0x7f;
}

// Cuts at a character's beginning: half a UTF-8 sequence would make the JSON invalid.
std::string one_line(std::string text) {
    if (text.size() > kMaxText) {
        std::size_t end = kMaxText;
        while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) --end;
        text.resize(end);
    }
    std::replace_if(text.begin(), text.end(), is_control, ' ');
    return text;
}

class Writer {
  public:
    explicit Writer(Json& json) : json_(json) {}

    template <class Int>
    void integer(std::string_view key, Int& value, std::int64_t, std::int64_t) {
        json_.set(key, static_cast<std::int64_t>(value));
    }
    void seconds(std::string_view key, double& value) {
        json_.set(key, std::isnan(value) ? 0.0 : std::clamp(value, 0.0, kMaxSeconds));
    }
    void flag(std::string_view key, bool& value) { json_.set(key, value); }
    void exact(std::string_view key, std::string& value, std::size_t) { json_.set(key, value); }
    void added(std::string_view key, std::string& value, std::size_t) {
        if (!value.empty()) json_.set(key, value);
    }
    void prose(std::string_view key, std::string& value) { json_.set(key, one_line(value)); }
    template <class Enum>
    void word(std::string_view key, Enum& value) {
        json_.set(key, to_string(value));
    }
    void any(std::string_view key, Json& value) { json_.set(key, value); }

  private:
    Json& json_;
};

class Reader {
  public:
    explicit Reader(const Json& json) : json_(json) {}

    template <class Int>
    void integer(std::string_view key, Int& value, std::int64_t low, std::int64_t high) {
        if (error_) return;
        take(json_.need_int(key, low, high), value);
    }
    void seconds(std::string_view key, double& value) {
        if (error_) return;
        take(json_.need_number(key, 0, kMaxSeconds), value);
    }
    void flag(std::string_view key, bool& value) {
        if (error_) return;
        value = json_.get_bool(key);
        if (value != json_.get_bool(key, true)) error_ = error("{} must be true or false", key);
    }
    void exact(std::string_view key, std::string& value, std::size_t longest) {
        if (error_) return;
        take(json_.need_string(key, longest), value);
        if (!error_ && std::any_of(value.begin(), value.end(), is_control))
            error_ = error("{} has control characters", key);
    }
    // A field that peers of an earlier release do not know: absent is empty.
    void added(std::string_view key, std::string& value, std::size_t longest) {
        if (!error_ && json_.has(key)) exact(key, value, longest);
    }
    void prose(std::string_view key, std::string& value) { exact(key, value, kMaxText); }
    template <class Enum>
    void word(std::string_view key, Enum& value) {
        std::string text;
        exact(key, text, kMaxWord);
        if (error_) return;
        const auto& known = words(Enum{});
        const auto found = std::find(known.begin(), known.end(), text);
        if (found == known.end()) {
            error_ =
                error("{} is '{}', not one of {}", key, printable(text), fmt::join(known, ", "));
            return;
        }
        value = static_cast<Enum>(found - known.begin());
    }
    void any(std::string_view key, Json& value) {
        if (error_) return;
        if (!json_.has(key)) error_ = error("{} is missing", key);
        value = json_.get(key);
    }

    const std::optional<Error>& failed() const { return error_; }

  private:
    template <class From, class To>
    void take(Result<From> result, To& value) {
        if (result) {
            value = static_cast<To>(std::move(*result));
        } else {
            error_ = result.error();
        }
    }

    const Json& json_;
    std::optional<Error> error_;
};

template <class V, class Int>
void job_id(V& v, Int& job) {
    v.integer("job", job, 0, std::numeric_limits<std::uint32_t>::max());
}
template <class V>
void op_id(V& v, OpId& op, std::int64_t low = 1) {
    v.integer("op", op, low, kMaxInt);
}
template <class V>
void token(V& v, std::int64_t& value) {
    v.integer("token", value, 0, kMaxInt);
}
template <class V>
void count(V& v, std::string_view key, int& value, int low = 0) {
    v.integer(key, value, low, kMaxNodes);
}

template <class V>
void describe(V& v, Hello& m) {
    v.integer("version", m.version, 0, std::numeric_limits<int>::max());
    v.word("role", m.role);
    job_id(v, m.job);
    v.exact("nonce", m.nonce, kMaxSession);
}
template <class V>
void describe(V& v, Welcome& m) {
    v.integer("version", m.version, 0, std::numeric_limits<int>::max());
    v.exact("new_session", m.session, kMaxSession);
    job_id(v, m.job);
    v.flag("malleable", m.malleable);
    v.flag("evolving", m.evolving);
    count(v, "min", m.min);
    count(v, "max", m.max);
    v.exact("node_list", m.node_list, kMaxNodeList);
    count(v, "nodes", m.nodes);
    v.exact("batch_host", m.batch_host, kMaxName);
    v.exact("nonce", m.nonce, kMaxSession);
    v.integer("agreement", m.agreement, 0, kMaxInt);
    v.word("stage", m.stage);
    v.integer("request", m.request, 0, kMaxInt);
}
template <class V>
void describe(V& v, Offer& m) {
    op_id(v, m.op);
    v.word("kind", m.kind);
    count(v, "nodes", m.nodes, 1);
    count(v, "size_after", m.size_after, 1);
    v.exact("node_list", m.node_list, kMaxNodeList);
    v.seconds("deadline", m.deadline);
    v.prose("reason", m.reason);
}
template <class V>
void describe(V& v, Accept& m) {
    op_id(v, m.op);
}
template <class V>
void describe(V& v, Decline& m) {
    op_id(v, m.op);
    v.prose("reason", m.reason);
}
template <class V>
void describe(V& v, Done& m) {
    op_id(v, m.op);
}
template <class V>
void describe(V& v, Accepted& m) {
    op_id(v, m.op);
    v.seconds("deadline", m.deadline);
}
template <class V>
void describe(V& v, Applied& m) {
    op_id(v, m.op, 0);  // 0: nobody agreed to it, a node failed or an administrator acted
    v.word("kind", m.kind);
    v.exact("changed", m.changed, kMaxNodeList);
    v.exact("node_list", m.node_list, kMaxNodeList);
    count(v, "nodes", m.nodes, 1);
}
template <class V>
void describe(V& v, Ended& m) {
    op_id(v, m.op);
    v.word("kind", m.kind);
    v.word("outcome", m.outcome);
    v.prose("reason", m.reason);
}
template <class V>
void describe(V& v, Request& m) {
    token(v, m.token);
    count(v, "nodes", m.nodes, 1);
    count(v, "least", m.least, 1);
    v.seconds("timeout", m.timeout);
}
template <class V>
void describe(V& v, Queued& m) {
    token(v, m.token);
    op_id(v, m.op);
}
template <class V>
void describe(V& v, Release& m) {
    token(v, m.token);
    count(v, "nodes", m.nodes);
    v.exact("node_list", m.node_list, kMaxNodeList);
}
template <class V>
void describe(V& v, Cancel& m) {
    op_id(v, m.op);
}
template <class V>
void describe(V& v, Progress& m) {
    v.seconds("remaining", m.remaining);
}
template <class V>
void describe(V& v, Query& m) {
    token(v, m.token);
    v.exact("what", m.what, kMaxWord);
    job_id(v, m.job);
    count(v, "nodes", m.nodes);
    v.exact("node", m.node, kMaxName);
    v.integer("tail", m.tail, 0, kMaxTail);
    v.added("after", m.after, kMaxPlace);
}
template <class V>
void describe(V& v, Reply& m) {
    token(v, m.token);
    v.any("body", m.body);
}
template <class V>
void describe(V& v, Failure& m) {
    token(v, m.token);
    v.exact("code", m.code, kMaxWord);
    v.prose("message", m.message);
    v.flag("fatal", m.fatal);
}

// What no single field can say.
template <class M>
Result<void> check(const M&) {
    return {};
}
Result<void> check(const Request& m) {
    if (m.least > m.nodes) return error("least={} is more than nodes={}", m.least, m.nodes);
    return {};
}
Result<void> check(const Release& m) {
    if (m.node_list.empty() && m.nodes == 0) return error("nodes=0 without a node_list");
    return {};
}

template <class M>
Result<Message> read(const Json& json) {
    M message;
    Reader reader(json);
    describe(reader, message);
    if (reader.failed()) return *reader.failed();
    if (auto fine = check(message); !fine) return fine.error();
    return Message(std::move(message));
}

// The alternative of Message with the given index.
template <std::size_t... I>
Result<Message> read_type(std::size_t index, const Json& json, std::index_sequence<I...>) {
    using Read = Result<Message> (*)(const Json&);
    static constexpr Read kReaders[] = {&read<std::variant_alternative_t<I, Message>>...};
    return kReaders[index](json);
}

}  // namespace

std::string_view to_string(Role value) {
    return kRoles[static_cast<std::size_t>(value)];
}
std::string_view to_string(Stage value) {
    return kStages[static_cast<std::size_t>(value)];
}
std::string_view to_string(Outcome value) {
    return kOutcomes[static_cast<std::size_t>(value)];
}

std::string_view type_name(const Message& message) {
    return kTypeNames[message.index()];
}

std::string encode(const Envelope& envelope) {
    Json json = Json::object();
    json.set("type", type_name(envelope.message));
    json.set("session", envelope.session);
    json.set("sequence", envelope.sequence);
    // A copy, since one `describe` serves both directions and the reader's needs to write.
    std::visit(
        [&](auto message) {
            Writer writer(json);
            describe(writer, message);
        },
        envelope.message);
    return json.dump();
}

std::string encode_for_client(Envelope envelope) {
    std::string text = encode(envelope);
    const auto* reply = std::get_if<Reply>(&envelope.message);
    if (!reply || text.size() <= kMaxReplyPayload) return text;
    envelope.message = Failure{reply->token, "limit",
                               fmt::format("the answer has {} bytes, and {} is the most: ask for "
                                           "less, or when there are fewer jobs",
                                           text.size(), kMaxReplyPayload),
                               false};
    return encode(envelope);
}

Result<Envelope> decode(std::string_view text) {
    const auto json = Json::parse(text);
    if (!json) return json.error();
    if (!json->is_object()) return error("not a JSON object");

    Envelope envelope;
    std::string type;
    Reader reader(*json);
    reader.exact("type", type, kMaxWord);
    reader.exact("session", envelope.session, kMaxSession);
    reader.integer("sequence", envelope.sequence, 1, std::numeric_limits<std::uint32_t>::max());
    if (reader.failed()) return *reader.failed();

    const auto found = std::find(kTypeNames.begin(), kTypeNames.end(), type);
    if (found == kTypeNames.end()) return error("type '{}' is unknown", printable(type));
    auto message = read_type(static_cast<std::size_t>(found - kTypeNames.begin()), *json,
                             std::make_index_sequence<kTypeNames.size()>());
    if (!message) return error("{}: {}", type, message.error().message);
    envelope.message = std::move(*message);
    return envelope;
}

}  // namespace elastic::protocol
