// SPDX-License-Identifier: MIT
// Each event's JSON, written down once (common/record.hpp), and its words for people.
//
// The reader trusts nothing: every number has its range and every text its greatest length, and the
// first key that is wrong ends it.
#include "journal/event.hpp"

#include "common/hostlist.hpp"
#include "common/record.hpp"
#include "common/text.hpp"

namespace elastic::journal {
namespace {

constexpr std::size_t kMaxDescription = 4096;
constexpr auto kNames = names_of(std::type_identity<decltype(Event::what)>{});

template <class E>
concept Answer =
    std::is_same_v<E, Accept> || std::is_same_v<E, Decline> || std::is_same_v<E, Expire> ||
    std::is_same_v<E, Cancel> || std::is_same_v<E, Release> || std::is_same_v<E, Ready>;

constexpr Whole kId{1}, kIdOrNone{0}, kCount{0, kMaxHosts};
constexpr Text kNodes{1 << 20};
constexpr Prose kText{1024};
constexpr Number kTime{-kNever, kNever}, kDuration{0, kNever};

template <class F, class E>
void job_and_op(F& f, E& e) {
    f.required("job", e.job, kId);
    f.required("op", e.op, kId);
}

// What an application asks for and how that ends.
template <class F, class E>
void asked(F& f, E& e) {
    job_and_op(f, e);
    f.required("kind", e.kind);
    f.required("want", e.want, kCount);
}

}  // namespace

template <class F>
void fields(F& f, Controller& e) {
    f.required("what", e.what);
    f.required("nodes", e.nodes, kCount);
    f.optional("policy", e.policy, kText);
}

template <class F>
void fields(F& f, Submit& e) {
    f.required("job", e.job, kId);
    f.required("class", e.job_class, kText);
    f.required("min", e.min, kCount);
    f.required("pref", e.pref, kCount);
    f.required("max", e.max, kCount);
    f.optional("limit", e.limit, kDuration);
    f.optional("user", e.user, kText);
    f.optional("name", e.name, kText);
}

template <class F>
void fields(F& f, Start& e) {
    f.required("job", e.job, kId);
    f.required("nodes", e.nodes, kNodes);
    f.required("count", e.count, kCount);
    f.optional("shared", e.shared);
    f.optional("array", e.array, kText);
}

template <class F>
void fields(F& f, Offer& e) {
    job_and_op(f, e);
    f.required("kind", e.kind);
    f.required("count", e.count, kCount);
    f.optional("nodes", e.nodes, kNodes);
    f.optional("beneficiary", e.beneficiary, kIdOrNone);
    f.optional("reason", e.reason, kText);
}

template <class F, Answer E>
void fields(F& f, E& e) {
    job_and_op(f, e);
    if constexpr (requires { e.count; }) f.optional("count", e.count, kCount);
    if constexpr (requires { e.reason; }) f.optional("reason", e.reason, kText);
}

template <class F>
void fields(F& f, Resize& e) {
    f.required("job", e.job, kId);
    f.optional("op", e.op, kIdOrNone);
    f.required("kind", e.kind);
    f.required("from", e.from, kCount);
    f.required("to", e.to, kCount);
    f.required("nodes", e.nodes, kNodes);
    f.optional("reason", e.reason, kText);
}

template <class F>
void fields(F& f, Request& e) {
    asked(f, e);
    f.optional("least", e.least, kCount);
}

template <class F>
void fields(F& f, Grant& e) {
    asked(f, e);
    f.optional("count", e.count, kCount);
}

template <class F>
void fields(F& f, Deny& e) {
    asked(f, e);
    f.optional("reason", e.reason, kText);
}

template <class F>
void fields(F& f, End& e) {
    f.required("job", e.job, kId);
    f.required("state", e.state, kText);
    f.required("count", e.count, kCount);
}

template <class F>
void fields(F& f, Step& e) {
    f.required("job", e.job, kId);
    f.required("number", e.number, Whole{1, kMaxHosts});
    f.required("nodes", e.nodes, kCount);
    f.required("held", e.held, kCount);
}

template <class F>
void fields(F& f, Initialise& e) {
    f.required("job", e.job, kId);
    f.required("type", e.type, kText);
    f.required("nodes", e.nodes, kNodes);
}

template <class F>
void fields(F& f, Supply& e) {
    f.required("name", e.name, kText);
    f.required("nodes", e.nodes, kNodes);
    f.optional("price", e.price, Number{0, kNever});
    f.optional("cap", e.cap, Whole{-1, kMaxHosts}, -1);
}

template <class F>
void fields(F& f, Would& e) {
    f.required("what", e.what);
    f.required("job", e.job, kId);
    f.required("count", e.count, kCount);
    f.optional("beneficiary", e.beneficiary, kIdOrNone);
    f.optional("lasted", e.lasted, Number{-1, kNever}, -1.0);
}

template <class F>
void fields(F& f, Event& e) {
    f.required("time", e.time, kTime);
    f.required("event", e.what, Which{kNames});
    f.alternative(e.what, Which{kNames});
}

namespace {

std::string in_brackets(std::string_view text) {
    return text.empty() ? "" : fmt::format(" ({})", text);
}

std::string nodes_word(int n) {
    return n == 1 ? "1 node" : fmt::format("{} nodes", n);
}

}  // namespace

std::string describe(const Would& e) {
    switch (e.what) {
        case Would::What::start:
            return fmt::format("start on {} that others give up", nodes_word(e.count));
        case Would::What::shrink:
            return fmt::format("give up {}{}", nodes_word(e.count),
                               e.beneficiary ? fmt::format(" for job {}", e.beneficiary) : "");
        case Would::What::expand:
            return fmt::format("grow by {}", nodes_word(e.count));
    }
    return "";
}

namespace {

// What the job of an event does.
struct Describe {
    std::string operator()(const Controller& e) const {
        return fmt::format("controller {}, {}{}", to_string(e.what), nodes_word(e.nodes),
                           e.policy.empty() ? "" : ", policy " + e.policy);
    }
    std::string operator()(const Supply& e) const {
        const std::string cap =
            e.cap < 0 ? "" : fmt::format(", at most {} in use", nodes_word(e.cap));
        return fmt::format("nodes of {}: price {}{}", e.name, e.price, cap);
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
    std::string operator()(const Accept& e) const {
        return e.count ? fmt::format("accepts {} of them", e.count) : "accepts";
    }
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

    std::string operator()(const Step& e) const {
        std::string step = fmt::format("step {} of its profile, {}", e.number, nodes_word(e.nodes));
        if (e.held < e.nodes) return fmt::format("{}: waits for {} more", step, e.nodes - e.held);
        if (e.held > e.nodes) return fmt::format("{}: has {} too many", step, e.held - e.nodes);
        return step;
    }

    std::string operator()(const Initialise& e) const {
        return fmt::format("initialises {} for jobs of type {}", e.nodes, e.type);
    }

    std::string operator()(const Would& e) const {
        if (e.lasted < 0) return "would " + elastic::journal::describe(e);
        return fmt::format("would not {} any more, after {:.0f} s", elastic::journal::describe(e),
                           e.lasted);
    }

    template <class E>
    static std::string over(const E& e, std::string_view what) {
        return fmt::format("{}{}", what, in_brackets(e.reason));
    }
};

}  // namespace

bool is_resume(const Event& event) {
    const auto* controller = std::get_if<Controller>(&event.what);
    return controller && controller->what == Controller::What::resume;
}

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

Json to_json(const Event& event) {
    return write_record(event);
}

Result<Event> event_from_json(const Json& json) {
    Event event;
    const Result<void> done = read_record(json, event);
    if (!done) return done.error();
    return event;
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
