// SPDX-License-Identifier: MIT
// What an application answers to an offer, and how the agreement goes on: accepted as a whole or in
// part, declined, done, cancelled.
//
// Always holds: an answer that does not fit the agreement's state is refused and changes nothing;
// one that is said again, as by a client that reconnects, is no error.
#include <algorithm>

#include "common/hostlist.hpp"
#include "controller/negotiation/negotiation.hpp"

namespace elastic::controller {

using protocol::FailureCode;

namespace {

// The others of an expansion are promised to nobody any more.
void keep_only(Agreement& expansion, int count) {
    expansion.nodes = count;
    auto chosen = expand_hostlist(expansion.node_list);
    if (!chosen || std::ssize(*chosen) <= count) return;
    chosen->resize(static_cast<std::size_t>(count));
    expansion.node_list = compress_hostlist(std::move(*chosen));
}

}  // namespace

bool Negotiation::on(Job& job, const protocol::Accept& accept, Time now) {
    Agreement* agreement = in_flight(job, accept.op);
    if (!agreement) return false;
    // A client that reconnects may repeat what it said.
    if (agreement->state == AgreementState::accepted) {
        catch_up(job, *agreement, now);
        return false;
    }
    const bool is_open =
        agreement->state == AgreementState::offered || agreement->state == AgreementState::queued;
    if (accept.count > 0 && is_open) {
        if (auto may = may_take(job, *agreement, accept.count); !may)
            return refuse_size(job, accept.op, FailureCode::denied, may.error().message);
        if (agreement->state == AgreementState::queued)
            return lower_request(job, *agreement, accept.count, now);
    }
    const bool is_partly = is_open && accept.count > 0 && accept.count < agreement->nodes;
    if (is_partly) keep_only(*agreement, accept.count);
    if (!advance(job, *agreement, AgreementEvent::accept)) return false;
    agreement->deadline = now + grace_of(config_, job);
    if (agreement->kind == ResizeKind::shrink) agreement->resizing_since = now;
    outbox_.note(now, journal::Accept{job.id, agreement->op, is_partly ? accept.count : 0});
    tell(job, protocol::Accepted{agreement->op, grace_of(config_, job)});
    if (is_partly) back_off(job.id, now);           // the other nodes count as declined
    return is_partly || may_be_traded(*agreement);  // and may be of use elsewhere
}

// The nodes of the shrink were for one job; from now on they may go to another.
bool Negotiation::may_be_traded(const Agreement& shrink) const {
    return shrink.kind == ResizeKind::shrink && shrink.beneficiary && config_.policy.trades();
}

// Whether the job may have `count` of the nodes that an expansion or its request is of.
Result<void> Negotiation::may_take(const Job& job, const Agreement& agreement, int count) const {
    if (count > agreement.nodes)
        return error("operation {} is of {} nodes: {} cannot be taken", agreement.op,
                     agreement.nodes, count);
    if (agreement.kind == ResizeKind::shrink && count < agreement.nodes)
        return error("operation {} is a shrink, which is accepted as a whole or declined",
                     agreement.op);
    if (agreement.for_step && agreement.state == AgreementState::queued)
        return error("operation {} is of a step of the profile, which `step` corrects",
                     agreement.op);
    if (agreement.kind == ResizeKind::expand && !job.annotation.allows(job.nodes + count))
        return error("job {} would have {} nodes ({})", job.id, job.nodes + count,
                     core::size_names(job.annotation));
    return {};
}

// The job is content with `count` nodes.  What was granted is decided anew, since other victims or
// idle nodes may do now; nodes that are left for it meanwhile are everybody's.
bool Negotiation::lower_request(Job& job, Agreement& request, int count, Time now) {
    if (count == request.nodes) return false;  // said again
    if (auto may = may_ask_again(job, now); !may)
        return refuse_size(job, request.op, FailureCode::limit, may.error().message);
    job.participation.rate_limit.take(now);
    request.nodes = count;
    request.least = std::min(request.least, count);
    outbox_.note(now, journal::Accept{job.id, request.op, count});
    drop_claim(job.id, "fewer nodes are wanted", now);
    return true;
}

bool Negotiation::refuse_size(const Job& job, OpId op, FailureCode code, std::string why) {
    tell(job, protocol::Failure{0, code, std::move(why), false, op});
    return false;
}

bool Negotiation::on(Job& job, const protocol::Decline& decline, Time now) {
    Agreement* agreement = in_flight(job, decline.op);
    if (!agreement) return false;
    if (!next_state(agreement->kind, agreement->state, AgreementEvent::decline)) {
        fail(job, 0, FailureCode::state,
             fmt::format("operation {} is {} and can no longer be declined", decline.op,
                         to_string(agreement->state)));
        return false;
    }
    end(*agreement, AgreementEvent::decline,
        decline.reason.empty() ? "declined by the application" : decline.reason, now);
    job.participation.rate_limit.take(now);
    back_off(job.id, now);
    return true;
}

bool Negotiation::on(Job& job, const protocol::Done& done, Time now) {
    Agreement* agreement = in_flight(job, done.op);
    if (!agreement) return false;
    if (agreement->kind == ResizeKind::shrink) {
        if (agreement->state == AgreementState::released) return false;  // said twice
        if (!advance(job, *agreement, AgreementEvent::release)) return false;
        measure(job, *agreement, now);
        agreement->deadline = kNever;  // from now on it waits for other victims
        outbox_.note(now, journal::Release{job.id, agreement->op});
        return may_be_traded(*agreement);
    }
    if (!advance(job, *agreement, AgreementEvent::ready)) return false;
    measure(job, *agreement, now);
    outbox_.note(now, journal::Ready{job.id, agreement->op});
    return true;  // it may be resized again
}

// The application has moved its data. A shrink is not in Slurm's books yet, an expansion is.
void Negotiation::measure(Job& job, const Agreement& agreement, Time now) {
    if (agreement.resizing_since <= 0) return;
    const auto changed = expand_hostlist(agreement.node_list);
    const int from = job.nodes;
    const int to = from - (changed ? static_cast<int>(changed->size()) : agreement.nodes);
    job.rescale.add(now - agreement.resizing_since, job.annotation.cost.seconds(from, to));
}

bool Negotiation::on(Job& job, const protocol::Cancel& cancel, Time now) {
    Agreement* agreement = in_flight(job, cancel.op);
    if (!agreement) return false;
    bool agreed =
        agreement->state == AgreementState::offered || agreement->state == AgreementState::accepted;
    if (!agreed && agreement->state != AgreementState::queued) {
        fail(job, 0, FailureCode::state,
             fmt::format("operation {} is {} and can no longer be cancelled", cancel.op,
                         to_string(agreement->state)));
        return false;
    }
    if (agreement->for_step) job.evolution.settle_for(job.nodes);
    end(*agreement, AgreementEvent::cancel, "cancelled by the application", now);
    job.participation.rate_limit.take(now);
    if (agreed) back_off(job.id, now);
    return true;
}

}  // namespace elastic::controller
