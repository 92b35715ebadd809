// SPDX-License-Identifier: MIT
// The connections of applications, what is offered to them, and how agreements end.  What they
// answer is in negotiation_answers.cpp, what they want in negotiation_requests.cpp, their evolution
// profiles in negotiation_steps.cpp.
//
// Every message is looked up as "the open agreement of the job that this connection belongs to"; an
// operation id that is not that agreement's is answered with a failure and changes nothing.  So an
// application can only ever act on its own job, and late, doubled or foreign answers are harmless.
//
// What comes to nothing because a user wants it so or asks for too much is limited in number
// (Participation::rate_limit), and with it the lines of journal and log that it costs; what
// succeeds is not.
#include "controller/negotiation/negotiation.hpp"

#include <algorithm>

#include "common/hostlist.hpp"
#include "common/log.hpp"

namespace elastic::controller {

using protocol::FailureCode;

namespace {

protocol::Stage stage_of(AgreementState state) {
    switch (state) {
        case AgreementState::accepted:
        case AgreementState::joined:
            return protocol::Stage::accepted;
        case AgreementState::released:
            return protocol::Stage::released;
        case AgreementState::applied:
            return protocol::Stage::applied;
        default:
            return protocol::Stage::offered;
    }
}

protocol::Outcome outcome_of(AgreementState state) {
    switch (state) {
        case AgreementState::declined:
            return protocol::Outcome::declined;
        case AgreementState::expired:
            return protocol::Outcome::expired;
        case AgreementState::denied:
            return protocol::Outcome::denied;
        default:
            return protocol::Outcome::cancelled;
    }
}

}  // namespace

// ---- coming and going

Job* Negotiation::speaker(ConnectionId connection) {
    auto found = speakers_.find(connection);
    return found == speakers_.end() ? nullptr : state_.jobs.find(found->second);
}

bool Negotiation::runs(JobId id) const {
    const Job* job = state_.jobs.find(id);
    return job && job->running;
}

bool Negotiation::on_message(const Incoming& incoming, Time now) {
    if (const auto* hello = std::get_if<protocol::Hello>(&incoming.message)) {
        on_hello(incoming, *hello, now);
        return false;
    }
    Job* job = speaker(incoming.from);
    if (!job) return false;  // its job has ended meanwhile; the connection is being closed
    job->participation.last_seen = now;
    return std::visit([&](const auto& message) { return on(*job, message, now); },
                      incoming.message);
}

void Negotiation::on_hello(const Incoming& incoming, const protocol::Hello& hello, Time now) {
    auto refuse = [&](FailureCode code, std::string message) {
        outbox_.send(incoming.from, protocol::Failure{0, code, std::move(message), true});
        outbox_.close(incoming.from);
    };
    Job* job = state_.jobs.find(hello.job);
    if (!job || !job->running)
        return refuse(FailureCode::unknown_job, fmt::format("job {} is not running", hello.job));
    if (incoming.uid != job->owner && incoming.uid != 0) {
        quiet_.complain("speak", fmt::format("user {} tried to speak for job {} of user {}",
                                             incoming.uid, job->id, job->owner));
        return refuse(FailureCode::denied, fmt::format("job {} is not yours", hello.job));
    }
    if (!job->elastic)
        return refuse(FailureCode::not_elastic,
                      fmt::format("job {} was not submitted with --elastic", job->id));
    if (job->participation.connection) {
        tell(*job, protocol::Failure{0, FailureCode::replaced,
                                     "another process of this job has "
                                     "connected",
                                     true});
        outbox_.close(job->participation.connection);
        speakers_.erase(job->participation.connection);
    }
    job->participation.connection = incoming.from;
    speakers_[incoming.from] = job->id;
    job->participation.last_seen = now;

    protocol::Welcome welcome;
    welcome.job = job->id;
    welcome.malleable = job->annotation.malleable;
    welcome.evolving = job->annotation.evolving;
    welcome.min = job->annotation.min;
    welcome.max = job->annotation.max;
    welcome.sizes = to_string(job->annotation.sizes);
    welcome.node_list = job->node_list;
    welcome.nodes = job->nodes;
    welcome.batch_host = job->batch_host;
    welcome.nonce = hello.nonce;
    Agreement* agreement = state_.book.of_job(job->id);
    if (agreement && agreement->state == AgreementState::joined) {  // it is told of these later
        welcome.node_list = without_hosts(job->node_list, agreement->node_list);
        if (const auto told = expand_hostlist(welcome.node_list))
            welcome.nodes = static_cast<int>(told->size());
    }
    if (agreement && agreement->state == AgreementState::queued)
        welcome.request = agreement->op;
    else if (agreement) {
        welcome.agreement = agreement->op;
        welcome.stage = stage_of(agreement->state);
    }
    outbox_.send(incoming.from, std::move(welcome));
    if (agreement) catch_up(*job, *agreement, now);
}

// Tells a client that has just connected what is in flight.
void Negotiation::catch_up(const Job& job, const Agreement& agreement, Time now) {
    if (agreement.state == AgreementState::queued)
        return tell(job, protocol::Queued{0, agreement.op});
    send_offer(job, agreement, now);
    if (stage_of(agreement.state) == protocol::Stage::accepted)
        tell(job, protocol::Accepted{agreement.op, std::max(0.0, agreement.deadline - now)});
    if (agreement.state == AgreementState::applied)
        tell(job, protocol::Applied{agreement.op, agreement.kind, agreement.node_list,
                                    job.node_list, job.nodes});
}

void Negotiation::on_closed(ConnectionId connection, Time now) {
    if (Job* job = speaker(connection)) {
        job->participation.connection = 0;
        job->participation.last_seen = now;
        speakers_.erase(connection);
    }
}

void Negotiation::job_ended(Job& job, Time now) {
    if (Agreement* agreement = state_.book.of_job(job.id))
        end(*agreement, AgreementEvent::cancel, "the job has ended", now);
    speakers_.erase(job.participation.connection);
    outbox_.close(std::exchange(job.participation.connection, 0));
    job.participation.last_seen = 0;
}

void Negotiation::job_suspended(Job& job, Time now) {
    Agreement* agreement = state_.book.of_job(job.id);
    if (!agreement) return;
    if (agreement->state == AgreementState::joined) {
        (void)state_.book.advance(*agreement, AgreementEvent::apply);
        applied(*agreement, job, agreement->node_list, now);
    }
    if (agreement->state == AgreementState::applied)  // the nodes are its own, ready or not
        (void)state_.book.advance(*agreement, AgreementEvent::expire);
    else
        end(*agreement, AgreementEvent::cancel, "the job is suspended", now);
}

// ---- offers

Agreement& Negotiation::offer_shrink(Job& job, const std::string& node_list, int nodes,
                                     JobId beneficiary, std::string reason, Time now) {
    Agreement agreement;
    agreement.job = job.id;
    agreement.kind = ResizeKind::shrink;
    agreement.nodes = nodes;
    agreement.node_list = node_list;
    agreement.beneficiary = beneficiary;
    agreement.created = now;
    agreement.deadline = now + grace_of(config_, job);
    agreement.reason = std::move(reason);
    Agreement& opened = state_.book.open(std::move(agreement));
    outbox_.note(now, journal::Offer{job.id, opened.op, ResizeKind::shrink, nodes, node_list,
                                     beneficiary, opened.reason});
    log_info("job {}: offered to give up {} ({} of {} nodes) {}", job.id, node_list, nodes,
             job.nodes, opened.reason);
    send_offer(job, opened, now);
    return opened;
}

Agreement& Negotiation::offer_expand(Job& job, const std::string& node_list, int nodes,
                                     std::string reason, Time now) {
    Agreement agreement;
    agreement.job = job.id;
    agreement.kind = ResizeKind::expand;
    agreement.node_list = node_list;
    agreement.nodes = nodes;
    agreement.created = now;
    agreement.deadline = now + grace_of(config_, job);
    agreement.reason = std::move(reason);
    Agreement& opened = state_.book.open(std::move(agreement));
    outbox_.note(
        now, journal::Offer{job.id, opened.op, ResizeKind::expand, nodes, "", 0, opened.reason});
    log_info("job {}: offered {} more nodes{}{} ({})", job.id, nodes, node_list.empty() ? "" : ", ",
             node_list, opened.reason);
    send_offer(job, opened, now);
    return opened;
}

void Negotiation::send_offer(const Job& job, const Agreement& agreement, Time now) {
    protocol::Offer offer;
    offer.op = agreement.op;
    offer.kind = agreement.kind;
    offer.nodes = agreement.nodes;
    bool shrink = agreement.kind == ResizeKind::shrink;
    const bool has_nodes =
        agreement.state == AgreementState::applied || agreement.state == AgreementState::joined;
    offer.size_after = has_nodes ? job.nodes : job.nodes + (shrink ? -1 : 1) * agreement.nodes;
    if (shrink) offer.node_list = agreement.node_list;
    offer.deadline = std::max(0.0, agreement.deadline - now);
    offer.reason = agreement.reason;
    tell(job, std::move(offer));
}

// ---- what is said

Agreement* Negotiation::in_flight(const Job& job, OpId op) {
    Agreement* agreement = state_.book.of_job(job.id);
    if (agreement && agreement->op == op) return agreement;
    fail(job, 0, FailureCode::state,
         fmt::format("operation {} is not in flight for job {}", op, job.id));
    return nullptr;
}

bool Negotiation::advance(const Job& job, Agreement& agreement, AgreementEvent event) {
    auto advanced = state_.book.advance(agreement, event);
    if (!advanced) fail(job, 0, FailureCode::state, advanced.error().message);
    return static_cast<bool>(advanced);
}

void Negotiation::tell(const Job& job, protocol::Message message) {
    outbox_.send(job.participation.connection, std::move(message));
}

void Negotiation::fail(const Job& job, std::int64_t token, FailureCode code, std::string message) {
    tell(job, protocol::Failure{token, code, std::move(message), false});
}

// What only a controller or a tool says.
template <class Other>
bool Negotiation::on(Job& job, const Other&, Time) {
    fail(job, 0, FailureCode::malformed, "an application does not send such a message");
    return false;
}

// ---- ends

void Negotiation::back_off(JobId id, Time now) {
    if (Job* job = state_.jobs.find(id)) job->participation.not_before = now + config_.back_off;
}

void Negotiation::end(Agreement& agreement, AgreementEvent event, const std::string& reason,
                      Time now) {
    if (auto advanced = state_.book.advance(agreement, event); !advanced) {
        log_error("{}", advanced.error().message);
        return;
    }
    log_info("job {}: {} {} is {}: {}", agreement.job, to_string(agreement.kind), agreement.op,
             to_string(agreement.state), reason);
    switch (agreement.state) {
        case AgreementState::declined:
            outbox_.note(now, journal::Decline{agreement.job, agreement.op, reason});
            break;
        case AgreementState::expired:
            outbox_.note(now, journal::Expire{agreement.job, agreement.op, reason});
            break;
        case AgreementState::denied:
            outbox_.note(now, journal::Deny{agreement.job, agreement.op, agreement.kind,
                                            agreement.nodes, reason});
            break;
        default:
            outbox_.note(now, journal::Cancel{agreement.job, agreement.op, reason});
    }
    if (Job* job = state_.jobs.find(agreement.job)) {
        if (agreement.state == AgreementState::denied) job->participation.rate_limit.take(now);
        job->last_reason = reason;
        tell(*job,
             protocol::Ended{agreement.op, agreement.kind, outcome_of(agreement.state), reason});
    }
    JobId waiting = agreement.kind == ResizeKind::shrink ? agreement.beneficiary : agreement.job;
    if (waiting) drop_claim(waiting, "the nodes are not wanted any more", now);
}

void Negotiation::drop_claim(JobId beneficiary, const std::string& reason, Time now) {
    state_.book.drop_claim(beneficiary);
    for (Agreement* shrink : state_.book.shrinks_for(beneficiary))
        need_no_more(*shrink, reason, now);
    // A request whose victims failed is open again for all it asked for.
    Agreement* request = state_.book.of_job(beneficiary);
    if (request && request->state == AgreementState::queued) {
        request->granted = 0;
        request->node_list.clear();
        outbox_.unsaved = true;
    }
}

void Negotiation::need_no_more(Agreement& shrink, const std::string& reason, Time now) {
    state_.book.pass_on(shrink, 0);
    outbox_.unsaved = true;
    if (shrink.state == AgreementState::offered) end(shrink, AgreementEvent::cancel, reason, now);
}

void Negotiation::applied(Agreement& agreement, const Job& job, const std::string& changed,
                          Time now) {
    if (agreement.state == AgreementState::applied) {
        agreement.node_list = changed;
        agreement.deadline = now + grace_of(config_, job);
        agreement.resizing_since = now;
    }
    tell(job, protocol::Applied{agreement.op, agreement.kind, changed, job.node_list, job.nodes});
}

void Negotiation::after_restart(Time now) {
    for (auto& [op, agreement] : state_.book.all()) {
        agreement.resizing_since = 0;  // it may have been done long since
        const Job* job = state_.jobs.find(agreement.job);
        bool held_up = agreement.open() && agreement.state != AgreementState::queued;
        if (held_up && job && agreement.deadline < kNever)
            agreement.deadline = now + grace_of(config_, *job);
    }
}

// The job has had its time to leave the nodes of an accepted shrink.
void Negotiation::take(Agreement& shrink) {
    log_info("job {}: has not left {} in time; it is taken (ShrinkTimeout=kill)", shrink.job,
             shrink.node_list);
    // The journal has a resize and no release: the job has not released anything.
    (void)state_.book.advance(shrink, AgreementEvent::release);
    shrink.deadline = kNever;
    shrink.reason += ", taken at the deadline";
    outbox_.unsaved = true;
}

// True if it is a request that the next planning pass decides.
bool Negotiation::overdue(Agreement& agreement, Time now) {
    if (agreement.state == AgreementState::queued) {
        if (state_.book.shrinks_for(agreement.job).empty()) return true;
        end(agreement, AgreementEvent::deny, "no nodes within the time the application gave", now);
        return false;
    }
    if (agreement.state == AgreementState::applied) {
        // The nodes are the job's whether it says so or not.
        (void)state_.book.advance(agreement, AgreementEvent::expire);
        outbox_.unsaved = true;
        return false;
    }
    const bool is_accepted = agreement.state == AgreementState::accepted;
    if (is_accepted && agreement.kind == ResizeKind::shrink &&
        config_.shrink_timeout == core::ShrinkTimeout::kill) {
        take(agreement);
        return false;
    }
    back_off(agreement.job, now);
    const bool is_unanswered = agreement.state == AgreementState::offered;
    end(agreement, AgreementEvent::expire, is_unanswered ? "no answer in time" : "not done in time",
        now);
    return false;
}

bool Negotiation::check_deadlines(Time now) {
    bool decide = false;
    for (Agreement* agreement : state_.book.overdue(now))
        if (agreement->open())  // has not ended with an earlier one
            decide |= overdue(*agreement, now);
    return decide;
}

}  // namespace elastic::controller
