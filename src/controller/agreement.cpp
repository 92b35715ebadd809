// SPDX-License-Identifier: MIT
// The state machine is one table, so that what may happen when can be read in
// one place and tested exhaustively.
#include "controller/agreement.hpp"

#include <algorithm>
#include <array>

namespace elastic::controller {

namespace {

using State = AgreementState;
using Event = AgreementEvent;

constexpr std::array kStateNames = {"queued",   "offered",   "accepted", "joined",
                                    "released", "applied",   "done",     "declined",
                                    "expired",  "cancelled", "denied"};
constexpr std::array kEventNames = {"grant", "accept", "decline", "join",   "release",
                                    "apply", "ready",  "expire",  "cancel", "deny"};

struct Transition {
    std::optional<ResizeKind> kind;  // nothing: both
    State from;
    Event event;
    State to;
};

constexpr auto kShrink = ResizeKind::shrink;
constexpr auto kExpand = ResizeKind::expand;

constexpr std::array kTransitions = {
    Transition{kExpand, State::queued, Event::grant, State::accepted},
    Transition{kExpand, State::queued, Event::deny, State::denied},
    Transition{kExpand, State::queued, Event::cancel, State::cancelled},
    Transition{std::nullopt, State::offered, Event::accept, State::accepted},
    Transition{std::nullopt, State::offered, Event::decline, State::declined},
    Transition{std::nullopt, State::offered, Event::expire, State::expired},
    Transition{std::nullopt, State::offered, Event::cancel, State::cancelled},
    Transition{std::nullopt, State::accepted, Event::decline, State::declined},
    Transition{std::nullopt, State::accepted, Event::expire, State::expired},
    Transition{std::nullopt, State::accepted, Event::cancel, State::cancelled},
    Transition{kShrink, State::accepted, Event::release, State::released},
    Transition{kShrink, State::released, Event::apply, State::done},
    Transition{kShrink, State::released, Event::cancel, State::cancelled},
    Transition{kExpand, State::accepted, Event::join, State::joined},
    Transition{kExpand, State::joined, Event::apply, State::applied},
    Transition{kExpand, State::joined, Event::cancel, State::cancelled},  // the job has ended
    Transition{kExpand, State::accepted, Event::apply, State::applied},
    Transition{kExpand, State::applied, Event::ready, State::done},
    Transition{kExpand, State::applied, Event::expire, State::done},       // the nodes are its own
    Transition{kExpand, State::applied, Event::cancel, State::cancelled},  // the job has ended
};

template <class Enum, class Names>
std::optional<Enum> from_name(const Names& names, std::string_view name) {
    auto found = std::find(names.begin(), names.end(), name);
    if (found == names.end()) return std::nullopt;
    return static_cast<Enum>(found - names.begin());
}

}  // namespace

bool is_final(State state) {
    return state >= State::done;
}

std::string_view to_string(State state) {
    return kStateNames[static_cast<std::size_t>(state)];
}

std::optional<State> next_state(ResizeKind kind, State from, Event event) {
    for (const Transition& transition : kTransitions)
        if (transition.from == from && transition.event == event &&
            transition.kind.value_or(kind) == kind)
            return transition.to;
    return std::nullopt;
}

Agreement& AgreementBook::open(Agreement agreement) {
    agreement.op = ++last_op_;
    ++revision_;
    open_of_job_[agreement.job] = agreement.op;
    return agreements_[agreement.op] = std::move(agreement);
}

Agreement* AgreementBook::find(OpId op) {
    auto found = agreements_.find(op);
    return found == agreements_.end() ? nullptr : &found->second;
}

Agreement* AgreementBook::of_job(JobId job) {
    auto found = open_of_job_.find(job);
    return found == open_of_job_.end() ? nullptr : find(found->second);
}

const Agreement* AgreementBook::of_job(JobId job) const {
    return const_cast<AgreementBook*>(this)->of_job(job);
}

std::vector<Agreement*> AgreementBook::shrinks_for(JobId beneficiary) {
    std::vector<Agreement*> result;
    for (auto& [op, agreement] : agreements_)
        if (agreement.open() && agreement.kind == kShrink && agreement.beneficiary == beneficiary)
            result.push_back(&agreement);
    return result;
}

std::vector<Agreement*> AgreementBook::overdue(Time now) {
    std::vector<Agreement*> result;
    for (auto& [op, agreement] : agreements_)
        if (agreement.open() && agreement.deadline <= now) result.push_back(&agreement);
    return result;
}

Time AgreementBook::next_deadline() const {
    Time next = kNever;
    for (const auto& [op, agreement] : agreements_)
        if (agreement.open()) next = std::min(next, agreement.deadline);
    return next;
}

Result<void> AgreementBook::advance(Agreement& agreement, Event event) {
    auto next = next_state(agreement.kind, agreement.state, event);
    if (!next)
        return error("operation {} of job {} ({}) is {}: it cannot {}", agreement.op, agreement.job,
                     to_string(agreement.kind), to_string(agreement.state),
                     kEventNames[static_cast<std::size_t>(event)]);
    agreement.state = *next;
    ++revision_;
    if (is_final(*next)) open_of_job_.erase(agreement.job);
    return {};
}

void AgreementBook::forget_finished() {
    std::erase_if(agreements_, [](const auto& entry) { return !entry.second.open(); });
    revision_ += std::erase_if(
        claims_, [this](const auto& entry) { return shrinks_for(entry.first).empty(); });
}

void AgreementBook::claim(JobId pending, Claim claim) {
    ++revision_;
    claims_[pending] = std::move(claim);
}

const Claim* AgreementBook::claim_of(JobId pending) const {
    auto found = claims_.find(pending);
    return found == claims_.end() ? nullptr : &found->second;
}

void AgreementBook::drop_claim(JobId pending) {
    ++revision_;
    claims_.erase(pending);
}

Json to_json(const Agreement& agreement) {
    return Json::object()
        .set("op", agreement.op)
        .set("job", agreement.job)
        .set("kind", to_string(agreement.kind))
        .set("state", to_string(agreement.state))
        .set("requested", agreement.requested)
        .set("nodes", agreement.nodes)
        .set("least", agreement.least)
        .set("granted", agreement.granted)
        .set("node_list", agreement.node_list)
        .set("beneficiary", agreement.beneficiary)
        .set("created", agreement.created)
        .set("deadline", agreement.deadline)
        .set("reason", agreement.reason);
}

Result<Agreement> agreement_from_json(const Json& json) {
    Agreement agreement;
    auto op = json.need_int("op", 1, 1LL << 52);
    auto job = json.need_int("job", 1, UINT32_MAX);
    auto nodes = json.need_int("nodes", 0, 1 << 30);
    auto kind = json.get_string("kind");
    auto state = from_name<State>(kStateNames, json.get_string("state"));
    if (!op) return op.error();
    if (!job) return job.error();
    if (!nodes) return nodes.error();
    if (kind != "shrink" && kind != "expand") return error("kind: \"{}\" is unknown", kind);
    if (!state) return error("state: \"{}\" is unknown", json.get_string("state"));
    agreement.op = *op;
    agreement.job = static_cast<JobId>(*job);
    agreement.kind = kind == "shrink" ? kShrink : kExpand;
    agreement.state = *state;
    agreement.nodes = static_cast<int>(*nodes);
    agreement.least = static_cast<int>(json.get_int("least"));
    agreement.granted = static_cast<int>(json.get_int("granted"));
    agreement.requested = json.get_bool("requested");
    agreement.node_list = json.get_string("node_list");
    agreement.beneficiary = static_cast<JobId>(json.get_int("beneficiary"));
    agreement.created = json.get_number("created");
    agreement.deadline = json.get_number("deadline", kNever);
    agreement.reason = json.get_string("reason");
    return agreement;
}

Json AgreementBook::save() const {
    Json list = Json::array();
    for (const auto& [op, agreement] : agreements_)
        if (agreement.open()) list.push(to_json(agreement));
    Json claims = Json::array();
    for (const auto& [job, claim] : claims_)
        claims.push(Json::object()
                        .set("job", job)
                        .set("size", claim.size)
                        .set("node_list", claim.node_list));
    return Json::object().set("last_op", last_op_).set("agreements", list).set("claims", claims);
}

Result<void> AgreementBook::load(const Json& json) {
    auto last = json.need_int("last_op", 0, 1LL << 52);
    if (!last) return last.error();
    Json list = json.get("agreements");
    for (std::size_t i = 0; i < list.size(); ++i) {
        auto agreement = agreement_from_json(list.at(i));
        if (!agreement) return error("agreement {}: {}", i, agreement.error().message);
        if (!agreement->open()) continue;
        last_op_ = std::max(last_op_, agreement->op);
        open_of_job_[agreement->job] = agreement->op;
        agreements_[agreement->op] = std::move(*agreement);
    }
    last_op_ = std::max<OpId>(last_op_, *last);
    Json claims = json.get("claims");
    for (std::size_t i = 0; i < claims.size(); ++i) {
        const Json one = claims.at(i);
        auto job = one.need_int("job", 1, UINT32_MAX);
        if (!job) return error("claim {}: {}", i, job.error().message);
        claim(static_cast<JobId>(*job),
              {static_cast<int>(one.get_int("size")), one.get_string("node_list")});
    }
    return {};
}

}  // namespace elastic::controller
