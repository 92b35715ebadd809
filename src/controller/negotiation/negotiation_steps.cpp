// SPDX-License-Identifier: MIT
// Steps of evolution profiles ([evolving]) as agreements: what a step lacks is asked for as if the
// application had asked, what it has too much is taken back as in any other shrink.
//
// Always holds: a step that waits keeps what it has, and at most one agreement of its job is open.
#include <algorithm>

#include "controller/negotiation/negotiation.hpp"

namespace elastic::controller {

using protocol::FailureCode;

void Negotiation::say_planned(const Job& job, std::int64_t token, Time now) {
    const core::Evolution& evolution = job.evolution;
    const Time next = evolution.next_at();
    tell(job,
         protocol::Planned{token, evolution.number(), evolution.wanted(), evolution.waits(),
                           evolution.next_nodes(), next < kNever ? std::max(0.0, next - now) : 0});
}

bool Negotiation::on(Job& job, const protocol::Step& step, Time now) {
    const auto refuse = [&](FailureCode code, std::string why) {
        fail(job, step.token, code, std::move(why));
        return false;
    };
    if (!job.annotation.evolving || job.annotation.malleable)
        return refuse(FailureCode::denied,
                      fmt::format("job {} is not of the class evolving alone, so it has "
                                  "no steps",
                                  job.id));
    if (!job.running) return refuse(FailureCode::state, fmt::format("job {} is suspended", job.id));
    if (auto may = may_ask_again(job, now); !may)
        return refuse(FailureCode::limit, may.error().message);
    auto corrected =
        job.evolution.correct(now, step.in, step.nodes, job.nodes, step.token, job.annotation);
    job.participation.rate_limit.take(now);
    if (!corrected) return refuse(FailureCode::denied, corrected.error().message);
    outbox_.unsaved = true;
    const bool decide = follow_step(job, step.token, now);
    next_step_ = std::min(next_step_, job.evolution.next_at());
    return decide;
}

bool Negotiation::follow_steps(Time now) {
    bool decide = false;
    next_step_ = kNever;
    for (auto& [id, job] : state_.jobs.all()) {
        if (!job.running || !job.evolution.exists()) continue;
        decide |= follow_step(job, 0, now);
        next_step_ = std::min(next_step_, job.evolution.next_at());
    }
    return decide;
}

// `token`: of the message that is to be answered, 0 if none is.  True if the job lacks nodes for
// which it has just been asked.
bool Negotiation::follow_step(Job& job, std::int64_t token, Time now) {
    const core::Evolution& evolution = job.evolution;
    const int before = evolution.number();
    outbox_.unsaved |= job.evolution.follow(now, job.nodes);
    if (evolution.number() != before)
        outbox_.note(now, journal::Step{job.id, evolution.number(), evolution.wanted(), job.nodes});
    if (evolution.number() != before || token != 0) say_planned(job, token, now);
    if (job.evolution.waits()) return ask_for_step(job, now);
    // What was asked for it is not wanted any more.
    Agreement* open = state_.book.of_job(job.id);
    if (open && open->for_step && open->state == AgreementState::queued)
        end(*open, AgreementEvent::cancel, "the step needs them no more", now);
    if (job.evolution.has_excess(job.nodes)) ask_back(job, now);
    return false;
}

bool Negotiation::ask_for_step(Job& job, Time now) {
    const int lack = job.evolution.wanted() - job.nodes;
    if (Agreement* open = state_.book.of_job(job.id)) {
        const bool is_decided = open->granted > 0 || open->state != AgreementState::queued;
        if (!open->for_step || is_decided || open->nodes == lack) return false;
        open->nodes = open->least = lack;  // the application has thought better of it
        outbox_.unsaved = true;
        return true;
    }
    Agreement agreement;
    agreement.job = job.id;
    agreement.kind = ResizeKind::expand;
    agreement.state = AgreementState::queued;
    agreement.requested = agreement.for_step = true;
    agreement.nodes = agreement.least = lack;
    agreement.created = now;
    agreement.reason = fmt::format("step {} of its profile", job.evolution.number());
    Agreement& opened = state_.book.open(std::move(agreement));
    outbox_.note(now, journal::Request{job.id, opened.op, ResizeKind::expand, lack, lack});
    tell(job, protocol::Queued{0, opened.op});
    return true;
}

// As any other shrink: who is there, has not declined just now and has nothing else in flight.
void Negotiation::ask_back(Job& job, Time now) {
    const bool may_answer =
        job.takes_part(now, grace_of(config_, job)) && job.participation.not_before <= now;
    if (!may_answer || state_.book.of_job(job.id)) return;
    const int excess = job.nodes - job.evolution.wanted();
    const auto list = nodes_to_release(job, {0, excess, ""});
    if (!list) return;
    offer_shrink(job, *list, excess, 0,
                 fmt::format("step {} of its profile", job.evolution.number()), now);
}

}  // namespace elastic::controller
