// SPDX-License-Identifier: MIT
// Every message is looked up as "the open agreement of the job that this
// connection belongs to"; an operation id that is not that agreement's is
// answered with a failure and changes nothing.  So an application can only ever
// act on its own job, and late, doubled or foreign answers are harmless.
//
// What comes to nothing because a user wants it so or asks for too much is limited in number
// (Job::vain), and with it the lines of journal and log that it costs; what succeeds is not.
#include "controller/negotiation.hpp"

#include <algorithm>
#include <cmath>
#include <unordered_set>

#include "common/hostlist.hpp"
#include "common/log.hpp"

namespace elastic::controller {

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

// The others of an expansion are promised to nobody any more.
void keep_only(Agreement& expansion, int count) {
    expansion.nodes = count;
    auto chosen = expand_hostlist(expansion.node_list);
    if (!chosen || std::ssize(*chosen) <= count) return;
    chosen->resize(static_cast<std::size_t>(count));
    expansion.node_list = compress_hostlist(std::move(*chosen));
}

}  // namespace

// ---- coming and going

Job* Negotiation::speaker(ConnectionId connection) {
    auto found = speakers_.find(connection);
    return found == speakers_.end() ? nullptr : state_.jobs.find(found->second);
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
    auto refuse = [&](const char* code, std::string message) {
        outbox_.send(incoming.from, protocol::Failure{0, code, std::move(message), true});
        outbox_.close(incoming.from);
    };
    Job* job = state_.jobs.find(hello.job);
    if (!job || !job->running)
        return refuse("unknown_job", fmt::format("job {} is not running", hello.job));
    if (incoming.uid != job->owner && incoming.uid != 0) {
        quiet_.complain("speak", fmt::format("user {} tried to speak for job {} of user {}",
                                             incoming.uid, job->id, job->owner));
        return refuse("denied", fmt::format("job {} is not yours", hello.job));
    }
    if (!job->elastic)
        return refuse("not_elastic",
                      fmt::format("job {} was not submitted with --elastic", job->id));
    if (job->participation.connection) {
        tell(*job, protocol::Failure{0, "replaced",
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

// ---- answers

Agreement* Negotiation::in_flight(const Job& job, OpId op) {
    Agreement* agreement = state_.book.of_job(job.id);
    if (agreement && agreement->op == op) return agreement;
    fail(job, 0, "state", fmt::format("operation {} is not in flight for job {}", op, job.id));
    return nullptr;
}

bool Negotiation::advance(const Job& job, Agreement& agreement, AgreementEvent event) {
    auto advanced = state_.book.advance(agreement, event);
    if (!advanced) fail(job, 0, "state", advanced.error().message);
    return static_cast<bool>(advanced);
}

void Negotiation::tell(const Job& job, protocol::Message message) {
    outbox_.send(job.participation.connection, std::move(message));
}

void Negotiation::fail(const Job& job, std::int64_t token, std::string code, std::string message) {
    tell(job, protocol::Failure{token, std::move(code), std::move(message), false});
}

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
            return refuse_size(job, accept.op, "denied", may.error().message);
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
    if (is_partly) back_off(job.id, now);  // it has declined the others
    return is_partly;                      // which may be of use elsewhere
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
        return refuse_size(job, request.op, "limit", may.error().message);
    job.participation.vain.take(now);
    request.nodes = count;
    request.least = std::min(request.least, count);
    outbox_.note(now, journal::Accept{job.id, request.op, count});
    drop_claim(job.id, "fewer nodes are wanted", now);
    return true;
}

bool Negotiation::refuse_size(const Job& job, OpId op, std::string code, std::string why) {
    tell(job, protocol::Failure{0, std::move(code), std::move(why), false, op});
    return false;
}

bool Negotiation::on(Job& job, const protocol::Decline& decline, Time now) {
    Agreement* agreement = in_flight(job, decline.op);
    if (!agreement) return false;
    if (!next_state(agreement->kind, agreement->state, AgreementEvent::decline)) {
        fail(job, 0, "state",
             fmt::format("operation {} is {} and can no longer be declined", decline.op,
                         to_string(agreement->state)));
        return false;
    }
    end(*agreement, AgreementEvent::decline,
        decline.reason.empty() ? "declined by the application" : decline.reason, now);
    job.participation.vain.take(now);
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
        agreement->deadline = kNever;  // it is others whom it waits for now
        outbox_.note(now, journal::Release{job.id, agreement->op});
        return false;
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
        fail(job, 0, "state",
             fmt::format("operation {} is {} and can no longer be cancelled", cancel.op,
                         to_string(agreement->state)));
        return false;
    }
    if (agreement->for_step) job.evolution.settle_for(job.nodes);
    end(*agreement, AgreementEvent::cancel, "cancelled by the application", now);
    job.participation.vain.take(now);
    if (agreed) back_off(job.id, now);
    return true;
}

// A job asks for one thing at a time, and only while it holds nodes.
bool Negotiation::may_ask(const Job& job, std::int64_t token) {
    if (!job.running) {
        fail(job, token, "state", fmt::format("job {} is suspended", job.id));
        return false;
    }
    const Agreement* open = state_.book.of_job(job.id);
    if (!open) return true;
    fail(job, token, "state",
         fmt::format("operation {} of job {} is in flight ({}, {})", open->op, job.id,
                     to_string(open->kind), to_string(open->state)));
    return false;
}

Result<void> Negotiation::may_ask_again(Job& job, Time now) const {
    const Duration wait = job.participation.vain.wait(now);
    if (wait <= 0) return {};
    return error(
        "too much was asked for job {} and denied, declined or cancelled; ask again in {:.0f} s",
        job.id, std::ceil(wait));
}

bool Negotiation::on(Job& job, const protocol::Request& request, Time now) {
    if (!job.annotation.evolving) {
        fail(job, request.token, "denied",
             fmt::format(
                 "job {} is not evolving: submit it with --elastic=evolving to ask for nodes",
                 job.id));
        return false;
    }
    if (!may_ask(job, request.token)) return false;
    if (auto may = may_ask_again(job, now); !may) {
        fail(job, request.token, "limit", may.error().message);
        return false;
    }
    job.participation.grow_after = 0;  // what refused it more nodes may be over
    Agreement agreement;
    agreement.job = job.id;
    agreement.kind = ResizeKind::expand;
    agreement.state = AgreementState::queued;
    agreement.requested = true;
    agreement.nodes = request.nodes;
    agreement.least = std::clamp(request.least, 1, request.nodes);
    agreement.created = now;
    agreement.deadline = now + request.timeout;
    agreement.reason = "asked for by the application";
    Agreement& opened = state_.book.open(std::move(agreement));
    outbox_.note(
        now, journal::Request{job.id, opened.op, ResizeKind::expand, opened.nodes, opened.least});
    tell(job, protocol::Queued{request.token, opened.op});
    return true;
}

Result<std::string> Negotiation::nodes_to_release(const Job& job,
                                                  const protocol::Release& release) const {
    auto held = expand_hostlist(job.node_list);
    if (!held) return held.error();
    std::vector<std::string> leaving;
    if (!release.node_list.empty()) {
        auto named = expand_hostlist(release.node_list, held->size());
        if (!named) return named.error();
        leaving = *named;
        const std::unordered_set<std::string_view> known(held->begin(), held->end());
        for (const std::string& node : leaving)
            if (!known.contains(node)) return error("job {} does not hold {}", job.id, node);
    } else {
        leaving = last_hosts(*held, job.batch_host, release.nodes);
        if (static_cast<int>(leaving.size()) < release.nodes)
            return error("job {} has {} nodes and cannot give up {}", job.id, job.nodes,
                         release.nodes);
    }
    if (std::find(leaving.begin(), leaving.end(), job.batch_host) != leaving.end())
        return error("job {} cannot give up {}: its batch script runs there", job.id,
                     job.batch_host);
    std::string list = compress_hostlist(leaving);
    int left = job.nodes - static_cast<int>(expand_hostlist(list)->size());
    if (!job.annotation.allows(left))
        return error("job {} would have {} nodes left ({})", job.id, left,
                     core::size_names(job.annotation));
    return list;
}

bool Negotiation::on(Job& job, const protocol::Release& release, Time now) {
    if (!may_ask(job, release.token)) return false;
    auto list = nodes_to_release(job, release);
    if (!list) {
        fail(job, release.token, "denied", list.error().message);
        return false;
    }
    Agreement agreement;
    agreement.job = job.id;
    agreement.kind = ResizeKind::shrink;
    agreement.state = AgreementState::released;
    agreement.requested = true;
    agreement.node_list = *list;
    agreement.nodes = static_cast<int>(expand_hostlist(*list)->size());
    agreement.created = now;
    agreement.reason = "given back by the application";
    Agreement& opened = state_.book.open(std::move(agreement));
    outbox_.note(now, journal::Release{job.id, opened.op});
    tell(job, protocol::Queued{release.token, opened.op});
    return true;
}

bool Negotiation::on(Job& job, const protocol::Progress& progress, Time now) {
    job.time.say_progress(now, progress.remaining);
    // Nodes that have come are of no use before it says that it uses them.
    const Agreement* open = state_.book.of_job(job.id);
    const bool is_spreading =
        open && (open->state == AgreementState::joined || open->state == AgreementState::applied);
    if (!is_spreading) job.scaling.say_progress(now, job.nodes, progress.remaining);
    return false;
}

// What only a controller or a tool says.
template <class Other>
bool Negotiation::on(Job& job, const Other&, Time) {
    fail(job, 0, "malformed", "an application does not send such a message");
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
        if (agreement.state == AgreementState::denied) job->participation.vain.take(now);
        job->last_reason = reason;
        tell(*job,
             protocol::Ended{agreement.op, agreement.kind, outcome_of(agreement.state), reason});
    }
    JobId waiting = agreement.kind == ResizeKind::shrink ? agreement.beneficiary : agreement.job;
    if (waiting) drop_claim(waiting, "the nodes are not wanted any more", now);
}

void Negotiation::drop_claim(JobId beneficiary, const std::string& reason, Time now) {
    state_.book.drop_claim(beneficiary);
    for (Agreement* shrink : state_.book.shrinks_for(beneficiary)) {
        shrink->beneficiary = 0;
        outbox_.unsaved = true;
        if (shrink->state == AgreementState::offered)
            end(*shrink, AgreementEvent::cancel, reason, now);
    }
    // A request whose victims failed is open again for all it asked for.
    Agreement* request = state_.book.of_job(beneficiary);
    if (request && request->state == AgreementState::queued) {
        request->granted = 0;
        request->node_list.clear();
        outbox_.unsaved = true;
    }
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

bool Negotiation::check_deadlines(Time now) {
    bool decide = false;
    for (Agreement* agreement : state_.book.overdue(now)) {
        if (!agreement->open()) continue;  // ended with an earlier one
        if (agreement->state == AgreementState::queued) {
            if (state_.book.shrinks_for(agreement->job).empty()) {
                decide = true;
                continue;
            }
            end(*agreement, AgreementEvent::deny, "no nodes within the time the application gave",
                now);
        } else if (agreement->state == AgreementState::applied) {
            // The nodes are the job's whether it says so or not.
            (void)state_.book.advance(*agreement, AgreementEvent::expire);
            outbox_.unsaved = true;
        } else if (agreement->kind == ResizeKind::shrink &&
                   agreement->state == AgreementState::accepted &&
                   config_.shrink_timeout == core::ShrinkTimeout::kill) {
            log_info("job {}: has not left {} in time; it is taken (ShrinkTimeout=kill)",
                     agreement->job, agreement->node_list);
            // The journal has a resize and no release: the job has not released anything.
            (void)state_.book.advance(*agreement, AgreementEvent::release);
            agreement->deadline = kNever;
            agreement->reason += ", taken at the deadline";
            outbox_.unsaved = true;
        } else {
            back_off(agreement->job, now);
            end(*agreement, AgreementEvent::expire,
                agreement->state == AgreementState::offered ? "no answer in time"
                                                            : "not done in time",
                now);
        }
    }
    return decide;
}

}  // namespace elastic::controller
