// SPDX-License-Identifier: MIT
// The JSON of each message, written down once (common/record.hpp): a new message is a struct with
// its name and one fields().
//
// Always holds: decode(encode(e)) gives e back for every envelope within the limits.
#include "protocol/codec.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "common/record.hpp"
#include "common/text.hpp"
#include "protocol/frame.hpp"

namespace elastic::protocol {
namespace {

constexpr auto kTypeNames = names_of(std::type_identity<Message>{});

bool is_control(char c) {
    return static_cast<unsigned char>(c) < 0x20 || c == 0x7f;
}

// A string without control characters.
struct Line {
    std::size_t longest;

    Json write(std::string_view value) const { return Json(value); }
    Result<void> read(const Json& json, std::string& value) const {
        Result<void> done = Text{longest}.read(json, value);
        if (done && std::ranges::any_of(value, is_control)) return error(" has control characters");
        return done;
    }
};

// A text for people, made fit when it is written.
struct Reason {
    Json write(std::string_view value) const {
        std::string text = to_utf8(value, kMaxText);
        std::ranges::replace_if(text, is_control, ' ');
        return Json(text);
    }
    Result<void> read(const Json& json, std::string& value) const {
        return Line{kMaxText}.read(json, value);
    }
};

struct Seconds {
    Json write(double value) const {
        return Json(std::isnan(value) ? 0.0 : std::clamp(value, 0.0, kMaxSeconds));
    }
    Result<void> read(const Json& json, double& value) const {
        return Number{0, kMaxSeconds}.read(json, value);
    }
};

// A word of an enumeration, or of a later version of it.
struct WordOrLater {
    template <Named Enum>
    Json write(const OpenWord<Enum>& value) const {
        return Json(value.text());
    }
    template <Named Enum>
    Result<void> read(const Json& json, OpenWord<Enum>& value) const {
        std::string text;
        Result<void> done = Line{32}.read(json, text);
        if (done) value = OpenWord<Enum>(std::move(text));
        return done;
    }
};

struct Anything {
    Json write(const Json& value) const { return value; }
    Result<void> read(const Json& json, Json& value) const {
        value = json;
        return {};
    }
};

constexpr std::int64_t kMaxInt = (std::int64_t{1} << 53) - 1;  // what any JSON reader keeps
constexpr Whole kAny{0};
constexpr Whole kNodes{0, kMaxNodes}, kSomeNodes{1, kMaxNodes};
constexpr Whole kOp{1, kMaxInt}, kOpOrNone{0, kMaxInt};
constexpr Line kSession{64}, kPlace{64}, kName{kMaxName}, kNodeList{kMaxNodeList};
constexpr Reason kReason;
constexpr Seconds kSeconds;
constexpr WordOrLater kWordOrLater;

}  // namespace

template <class F>
void fields(F& f, Hello& m) {
    f.required("version", m.version, kAny);
    f.required("role", m.role);
    f.required("job", m.job, kAny);
    f.required("nonce", m.nonce, kSession);
}
template <class F>
void fields(F& f, Welcome& m) {
    f.required("version", m.version, kAny);
    f.required("new_session", m.session, kSession);
    f.required("job", m.job, kAny);
    f.required("malleable", m.malleable);
    f.required("evolving", m.evolving);
    f.required("min", m.min, kNodes);
    f.required("max", m.max, kNodes);
    f.required("node_list", m.node_list, kNodeList);
    f.required("nodes", m.nodes, kNodes);
    f.required("batch_host", m.batch_host, kName);
    f.required("nonce", m.nonce, kSession);
    f.required("agreement", m.agreement, kOpOrNone);
    f.required("stage", m.stage);
    f.required("request", m.request, kOpOrNone);
    f.optional("sizes", m.sizes, kNodeList, "any");
}
template <class F>
void fields(F& f, Offer& m) {
    f.required("op", m.op, kOp);
    f.required("kind", m.kind);
    f.required("nodes", m.nodes, kSomeNodes);
    f.required("size_after", m.size_after, kSomeNodes);
    f.required("node_list", m.node_list, kNodeList);
    f.required("deadline", m.deadline, kSeconds);
    f.required("reason", m.reason, kReason);
}
template <class F>
void fields(F& f, Accept& m) {
    f.required("op", m.op, kOp);
    f.optional("count", m.count, kNodes);
}
template <class F>
void fields(F& f, Decline& m) {
    f.required("op", m.op, kOp);
    f.required("reason", m.reason, kReason);
}
template <class F>
void fields(F& f, Done& m) {
    f.required("op", m.op, kOp);
}
template <class F>
void fields(F& f, Accepted& m) {
    f.required("op", m.op, kOp);
    f.required("deadline", m.deadline, kSeconds);
}
template <class F>
void fields(F& f, Applied& m) {
    f.required("op", m.op, kOpOrNone);  // none: a node failed, or an administrator acted
    f.required("kind", m.kind);
    f.required("changed", m.changed, kNodeList);
    f.required("node_list", m.node_list, kNodeList);
    f.required("nodes", m.nodes, kSomeNodes);
}
template <class F>
void fields(F& f, Ended& m) {
    f.required("op", m.op, kOp);
    f.required("kind", m.kind);
    f.required("outcome", m.outcome);
    f.required("reason", m.reason, kReason);
}
template <class F>
void fields(F& f, Request& m) {
    f.required("token", m.token, kOpOrNone);
    f.required("nodes", m.nodes, kSomeNodes);
    f.required("least", m.least, kSomeNodes);
    f.required("timeout", m.timeout, kSeconds);
    f.holds(m.least <= m.nodes, "least={} is more than nodes={}", m.least, m.nodes);
}
template <class F>
void fields(F& f, Queued& m) {
    f.required("token", m.token, kOpOrNone);
    f.required("op", m.op, kOp);
}
template <class F>
void fields(F& f, Release& m) {
    f.required("token", m.token, kOpOrNone);
    f.required("nodes", m.nodes, kNodes);
    f.required("node_list", m.node_list, kNodeList);
    f.holds(m.nodes > 0 || !m.node_list.empty(), "nodes=0 without a node_list");
}
template <class F>
void fields(F& f, Cancel& m) {
    f.required("op", m.op, kOp);
}
template <class F>
void fields(F& f, Progress& m) {
    f.required("remaining", m.remaining, kSeconds);
}
template <class F>
void fields(F& f, Step& m) {
    f.required("token", m.token, kOp);
    f.required("nodes", m.nodes, kNodes);
    f.required("in", m.in, kSeconds);
}
template <class F>
void fields(F& f, Planned& m) {
    f.required("token", m.token, kOpOrNone);
    f.required("number", m.number, kNodes);
    f.required("nodes", m.nodes, kNodes);
    f.required("waits", m.waits);
    f.required("next_nodes", m.next_nodes, kNodes);
    f.required("next_in", m.next_in, kSeconds);
}
template <class F>
void fields(F& f, Query& m) {
    f.required("token", m.token, kOpOrNone);
    f.required("what", m.what, kWordOrLater);
    f.required("job", m.job, kAny);
    f.required("nodes", m.nodes, kNodes);
    f.required("node", m.node, kNodeList);
    f.required("tail", m.tail, Whole{0, kMaxTail});
    f.optional("after", m.after, kPlace);  // later than the rest, as is what follows
    f.optional("task", m.task, Whole{0, UINT32_MAX}, kNoTask);
}
template <class F>
void fields(F& f, Reply& m) {
    f.required("token", m.token, kOpOrNone);
    f.required("body", m.body, Anything{});
}
template <class F>
void fields(F& f, Failure& m) {
    f.required("token", m.token, kOpOrNone);
    f.required("code", m.code, kWordOrLater);
    f.required("message", m.message, kReason);
    f.required("fatal", m.fatal);
    f.optional("op", m.op, kOpOrNone);
}

template <class F>
void fields(F& f, Envelope& e) {
    f.required("type", e.message, Which{kTypeNames});
    f.required("session", e.session, kSession);
    f.required("sequence", e.sequence, Whole{1});
    f.alternative(e.message, Which{kTypeNames});
}

std::string encode(const Envelope& envelope) {
    return write_record(envelope).dump();
}

std::string encode_for_client(Envelope envelope) {
    std::string text = encode(envelope);
    const auto* reply = std::get_if<Reply>(&envelope.message);
    if (!reply || text.size() <= kMaxReplyPayload) return text;
    envelope.message = Failure{reply->token, FailureCode::limit,
                               fmt::format("the answer has {} bytes, and {} is the most: ask for "
                                           "less, or when there are fewer jobs",
                                           text.size(), kMaxReplyPayload),
                               false};
    return encode(envelope);
}

Result<Envelope> decode(std::string_view text) {
    const auto json = Json::parse(text);
    if (!json) return json.error();
    Envelope envelope;
    const Result<void> done = read_record(*json, envelope);
    if (!done) return done.error();
    return envelope;
}

}  // namespace elastic::protocol
