// SPDX-License-Identifier: MIT
// The state machine is one table, so that what may happen when can be read in one place and tested
// exhaustively.
#include "controller/agreement.hpp"

#include <algorithm>
#include <array>

namespace elastic::controller {

namespace {

using State = AgreementState;
using Event = AgreementEvent;

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

}  // namespace

bool is_final(State state) {
    return state >= State::done;
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
                     to_string(agreement.kind), to_string(agreement.state), to_string(event));
    agreement.state = *next;
    ++revision_;
    if (is_final(*next)) open_of_job_.erase(agreement.job);
    return {};
}

void AgreementBook::forget_finished() {
    std::erase_if(agreements_, [](const auto& agreement) { return !agreement.second.open(); });
    revision_ += std::erase_if(
        claims_, [this](const auto& claim) { return shrinks_for(claim.first).empty(); });
}

void AgreementBook::decide(Agreement& request, int granted, std::string node_list) {
    request.granted = granted;
    request.node_list = std::move(node_list);
    ++revision_;
}

void AgreementBook::pass_on(Agreement& shrink, JobId beneficiary) {
    ++revision_;
    shrink.beneficiary = beneficiary;
}

void AgreementBook::claim(JobId pending, Claim claim) {
    ++revision_;
    claim.job = pending;
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

Result<void> AgreementBook::resume(const AgreementBook& before) {
    std::map<JobId, OpId> open_of_job;
    OpId last_op = std::max(last_op_, before.last_op_);
    for (const auto& [op, agreement] : before.agreements_) {
        if (!open_of_job.emplace(agreement.job, op).second)
            return error("job {} has the agreements {} and {}", agreement.job,
                         open_of_job[agreement.job], op);
        last_op = std::max(last_op, op);
    }
    *this = before;
    last_op_ = last_op;
    open_of_job_ = std::move(open_of_job);
    return {};
}

}  // namespace elastic::controller
