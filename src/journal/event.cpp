// SPDX-License-Identifier: MIT
// Events to and from JSON.
//
// Each event lists its keys once, in fields(); a visitor that writes and one
// that reads go over the same list, so the two cannot come to differ.  The
// reader trusts nothing: every number has its range and every text its greatest
// length, and the first key that is wrong ends it.
#include "journal/event.hpp"

#include <array>
#include <limits>
#include <optional>
#include <span>
#include <type_traits>

#include "common/hostlist.hpp"
#include "common/text.hpp"

namespace elastic::journal {
namespace {

constexpr std::size_t kMaxText = 1024;
constexpr std::size_t kMaxDescription = 4096;
constexpr std::size_t kMaxNodeList = 1 << 20;
constexpr std::array<std::string_view, 2> kKinds{"shrink", "expand"};
constexpr std::array<std::string_view, 4> kControllerWhats{"start", "stop", "reconfigure",
                                                           "resume"};
// In the order of Event::what.
constexpr std::array<std::string_view, 15> kNames{
    "controller", "submit", "start", "offer",   "accept", "decline", "expire", "cancel",
    "release",    "resize", "ready", "request", "grant",  "deny",    "end"};
static_assert(kNames.size() == std::variant_size_v<decltype(Event::what)>);

template <class V, class E>
using Of = std::conditional_t<V::kReads, E&, const E&>;

enum class Need { required, optional };
constexpr Need kRequired = Need::required, kOptional = Need::optional;

template <class V>
void fields(V& v, Of<V, Controller> e) {
    v.choice("what", e.what, kControllerWhats);
    v.count("nodes", e.nodes, kRequired);
    v.text("policy", e.policy, kOptional);
}

template <class V>
void fields(V& v, Of<V, Submit> e) {
    v.job("job", e.job, kRequired);
    v.text("class", e.job_class, kRequired);
    v.count("min", e.min, kRequired);
    v.count("pref", e.pref, kRequired);
    v.count("max", e.max, kRequired);
    v.duration("limit", e.limit);
    v.text("user", e.user, kOptional);
    v.text("name", e.name, kOptional);
}

template <class V>
void fields(V& v, Of<V, Start> e) {
    v.job("job", e.job, kRequired);
    v.nodes("nodes", e.nodes, kRequired);
    v.count("count", e.count, kRequired);
    v.flag("shared", e.shared);
    v.text("array", e.array, kOptional);
}

template <class V>
void fields(V& v, Of<V, Offer> e) {
    v.job("job", e.job, kRequired);
    v.op("op", e.op, kRequired);
    v.choice("kind", e.kind, kKinds);
    v.count("count", e.count, kRequired);
    v.nodes("nodes", e.nodes, kOptional);
    v.job("beneficiary", e.beneficiary, kOptional);
    v.text("reason", e.reason, kOptional);
}

template <class V, class E>
void answer_fields(V& v, E& e) {
    v.job("job", e.job, kRequired);
    v.op("op", e.op, kRequired);
    if constexpr (requires { e.reason; }) v.text("reason", e.reason, kOptional);
}

template <class V>
void fields(V& v, Of<V, Accept> e) {
    answer_fields(v, e);
}
template <class V>
void fields(V& v, Of<V, Decline> e) {
    answer_fields(v, e);
}
template <class V>
void fields(V& v, Of<V, Expire> e) {
    answer_fields(v, e);
}
template <class V>
void fields(V& v, Of<V, Cancel> e) {
    answer_fields(v, e);
}
template <class V>
void fields(V& v, Of<V, Release> e) {
    answer_fields(v, e);
}
template <class V>
void fields(V& v, Of<V, Ready> e) {
    answer_fields(v, e);
}

template <class V>
void fields(V& v, Of<V, Resize> e) {
    v.job("job", e.job, kRequired);
    v.op("op", e.op, kOptional);
    v.choice("kind", e.kind, kKinds);
    v.count("from", e.from, kRequired);
    v.count("to", e.to, kRequired);
    v.nodes("nodes", e.nodes, kRequired);
    v.text("reason", e.reason, kOptional);
}

template <class V>
void fields(V& v, Of<V, Request> e) {
    v.job("job", e.job, kRequired);
    v.op("op", e.op, kRequired);
    v.choice("kind", e.kind, kKinds);
    v.count("want", e.want, kRequired);
    v.count("least", e.least, kOptional);
}

template <class V>
void fields(V& v, Of<V, Grant> e) {
    v.job("job", e.job, kRequired);
    v.op("op", e.op, kRequired);
    v.choice("kind", e.kind, kKinds);
    v.count("want", e.want, kRequired);
    v.count("count", e.count, kOptional);
}

template <class V>
void fields(V& v, Of<V, Deny> e) {
    v.job("job", e.job, kRequired);
    v.op("op", e.op, kRequired);
    v.choice("kind", e.kind, kKinds);
    v.count("want", e.want, kRequired);
    v.text("reason", e.reason, kOptional);
}

template <class V>
void fields(V& v, Of<V, End> e) {
    v.job("job", e.job, kRequired);
    v.text("state", e.state, kRequired);
    v.count("count", e.count, kRequired);
}

class Writing {
  public:
    static constexpr bool kReads = false;
    explicit Writing(Json& out) : out_(out) {}

    void job(std::string_view key, JobId v, Need need) { put(key, v, need, v == 0); }
    void op(std::string_view key, OpId v, Need need) { put(key, v, need, v == 0); }
    void count(std::string_view key, int v, Need need) { put(key, v, need, v == 0); }
    void duration(std::string_view key, Duration v) { put(key, v, kOptional, v == 0); }
    void flag(std::string_view key, bool v) { put(key, v, kOptional, !v); }
    void nodes(std::string_view key, const std::string& v, Need need) {
        put(key, v, need, v.empty());
    }
    // Cut rather than written as what no reader takes.
    void text(std::string_view key, const std::string& v, Need need) {
        put(key, std::string_view(v).substr(0, kMaxText), need, v.empty());
    }
    template <class Enum>
    void choice(std::string_view key, Enum v, std::span<const std::string_view> names) {
        out_.set(key, names[static_cast<std::size_t>(v)]);
    }

  private:
    template <class T>
    void put(std::string_view key, const T& v, Need need, bool is_default) {
        if (need == kRequired || !is_default) out_.set(key, Json(v));
    }

    Json& out_;
};

class Reading {
  public:
    static constexpr bool kReads = true;
    explicit Reading(const Json& in) : in_(in) {}

    const std::optional<Error>& error() const { return error_; }

    void job(std::string_view key, JobId& v, Need need) {
        integer(key, v, need, need == kRequired ? 1 : 0, std::numeric_limits<JobId>::max());
    }
    void op(std::string_view key, OpId& v, Need need) {
        integer(key, v, need, need == kRequired ? 1 : 0, std::numeric_limits<OpId>::max());
    }
    void count(std::string_view key, int& v, Need need) { integer(key, v, need, 0, kMaxHosts); }
    void duration(std::string_view key, Duration& v) {
        if (skips(key, kOptional)) return;
        take(in_.need_number(key, 0, kNever), v);
    }
    void flag(std::string_view key, bool& v) { v = in_.get_bool(key, false); }
    void nodes(std::string_view key, std::string& v, Need need) {
        string(key, v, need, kMaxNodeList);
    }
    void text(std::string_view key, std::string& v, Need need) { string(key, v, need, kMaxText); }

    template <class Enum>
    void choice(std::string_view key, Enum& v, std::span<const std::string_view> names) {
        std::string text;
        string(key, text, kRequired, kMaxText);
        if (error_) return;
        for (std::size_t i = 0; i < names.size(); ++i)
            if (names[i] == text) {
                v = static_cast<Enum>(i);
                return;
            }
        error_ = elastic::error("{}: \"{}\" is not one of {}", key, printable(text),
                                fmt::join(names, ", "));
    }

  private:
    bool skips(std::string_view key, Need need) {
        return error_ || (need == kOptional && !in_.has(key));
    }
    template <class T>
    void integer(std::string_view key, T& v, Need need, std::int64_t low, std::int64_t high) {
        if (!skips(key, need)) take(in_.need_int(key, low, high), v);
    }
    void string(std::string_view key, std::string& v, Need need, std::size_t max_length) {
        if (!skips(key, need)) take(in_.need_string(key, max_length), v);
    }
    template <class R, class T>
    void take(Result<R> from, T& to) {
        if (from)
            to = static_cast<T>(std::move(*from));
        else
            error_ = from.error();
    }

    const Json& in_;
    std::optional<Error> error_;
};

// The event of alternative `index`, read from `json`.
template <std::size_t I = 0>
Result<Event> read_alternative(std::size_t index, Time time, const Json& json) {
    using What = decltype(Event::what);
    if constexpr (I < std::variant_size_v<What>) {
        if (index != I) return read_alternative<I + 1>(index, time, json);
        std::variant_alternative_t<I, What> e;
        Reading reading(json);
        fields(reading, e);
        if (reading.error()) return *reading.error();
        return Event{time, std::move(e)};
    } else {
        return error("no such event");
    }
}

std::string in_brackets(std::string_view text) {
    return text.empty() ? "" : fmt::format(" ({})", text);
}

std::string nodes_word(int n) {
    return n == 1 ? "1 node" : fmt::format("{} nodes", n);
}

// What the job of an event does.
struct Describe {
    std::string operator()(const Controller& e) const {
        return fmt::format("controller {}, {}{}",
                           kControllerWhats[static_cast<std::size_t>(e.what)], nodes_word(e.nodes),
                           e.policy.empty() ? "" : ", policy " + e.policy);
    }
    std::string operator()(const Submit& e) const {
        const std::string most = e.max ? fmt::format(", max {}", e.max) : "";
        return fmt::format("submitted{}, {}, {} nodes (min {}{})",
                           e.user.empty() ? "" : " by " + e.user, e.job_class, e.pref, e.min, most);
    }
    std::string operator()(const Start& e) const {
        return fmt::format("starts on {}{}", nodes_word(e.count), in_brackets(e.nodes));
    }
    std::string operator()(const Offer& e) const {
        const std::string which = e.nodes.empty() ? nodes_word(e.count) : e.nodes;
        return fmt::format("asked to {} {}{}", e.kind == ResizeKind::shrink ? "give up" : "take",
                           which, in_brackets(e.reason));
    }
    std::string operator()(const Accept&) const { return "accepts"; }
    std::string operator()(const Decline& e) const { return over(e, "declines"); }
    std::string operator()(const Expire& e) const { return over(e, "let its deadline pass"); }
    std::string operator()(const Cancel& e) const { return over(e, "resize cancelled"); }
    std::string operator()(const Release&) const { return "has emptied the nodes to give up"; }
    std::string operator()(const Resize& e) const {
        return fmt::format("{} -> {} nodes, {} {}{}", e.from, e.to,
                           e.kind == ResizeKind::shrink ? "gave up" : "got", e.nodes,
                           in_brackets(e.reason));
    }
    std::string operator()(const Ready&) const { return "uses its new nodes"; }
    std::string operator()(const Request& e) const {
        const std::string least = e.least ? fmt::format(", at least {}", e.least) : "";
        return fmt::format("asks for {} more{}", nodes_word(e.want), least);
    }
    std::string operator()(const Grant& e) const {
        return fmt::format("granted {} more", nodes_word(e.count ? e.count : e.want));
    }
    std::string operator()(const Deny& e) const {
        return fmt::format("denied {} more{}", nodes_word(e.want), in_brackets(e.reason));
    }
    std::string operator()(const End& e) const {
        return fmt::format("{}, had {}", e.state, nodes_word(e.count));
    }

    template <class E>
    static std::string over(const E& e, std::string_view what) {
        return fmt::format("{}{}", what, in_brackets(e.reason));
    }
};

}  // namespace

std::string_view name_of(const Event& event) {
    return kNames[event.what.index()];
}

JobId job_of(const Event& event) {
    return std::visit(
        [](const auto& e) -> JobId {
            if constexpr (requires { e.job; })
                return e.job;
            else
                return 0;
        },
        event.what);
}

OpId op_of(const Event& event) {
    return std::visit(
        [](const auto& e) -> OpId {
            if constexpr (requires { e.op; })
                return e.op;
            else
                return 0;
        },
        event.what);
}

Json to_json(const Event& event) {
    Json out = Json::object();
    out.set("time", event.time).set("event", name_of(event));
    Writing writing(out);
    std::visit([&](const auto& e) { fields(writing, e); }, event.what);
    return out;
}

Result<Event> event_from_json(const Json& json) {
    if (!json.is_object()) return error("not a JSON object");
    const Result<double> time = json.need_number("time", -kNever, kNever);
    if (!time) return time.error();
    const Result<std::string> name = json.need_string("event", kMaxText);
    if (!name) return name.error();
    for (std::size_t i = 0; i < kNames.size(); ++i)
        if (kNames[i] == *name) return read_alternative(i, *time, json);
    return error("event: \"{}\" is unknown", printable(*name));
}

std::string describe(const Event& event, const JobNames& names) {
    const JobId job = job_of(event);
    const std::string subject = job ? fmt::format("job {}: ", names.of(job)) : "";
    // Users' texts reach administrators' terminals.
    return printable(subject + std::visit(Describe{}, event.what), kMaxDescription);
}

void JobNames::learn(const Event& event) {
    const auto* start = std::get_if<Start>(&event.what);
    if (start && !start->array.empty()) names_[start->job] = start->array;
}

std::string JobNames::of(JobId job) const {
    const auto found = names_.find(job);
    return found == names_.end() ? std::to_string(job) : found->second;
}

}  // namespace elastic::journal
