// SPDX-License-Identifier: MIT
// What the application is told: events, made of what the controller says and, after a reconnection,
// of what has changed meanwhile.
//
// The Welcome says what is still in flight; all else is over, and the list of nodes shows with what
// effect.  Always holds: each request and release ends with exactly one RESIZED or ENDED event.
#include <utility>

#include "libelastic/client.hpp"
#include "libelastic/names.hpp"

namespace elastic::libelastic {

using protocol::Outcome;
using protocol::Stage;
using protocol::Welcome;

namespace {

constexpr const char* kForgotten = "the controller does not know of it any more";

int code(ResizeKind kind) {
    return kind == ResizeKind::shrink ? ELASTIC_SHRINK : ELASTIC_EXPAND;
}
int code(Outcome outcome) {
    return ELASTIC_DECLINED + static_cast<int>(outcome);
}

JobView view_of(const Welcome& welcome) {
    return {welcome.nodes, welcome.node_list, welcome.batch_host, welcome.min,
            welcome.max,   welcome.malleable, welcome.evolving,   welcome.sizes};
}

}  // namespace

// ---- what the application is told

void Client::push(Event event) {
    events_.push_back(std::move(event));
}

void Client::ended(OpId op, ResizeKind kind, Outcome outcome, std::string reason) {
    push({.type = ELASTIC_EVENT_ENDED,
          .kind = code(kind),
          .outcome = code(outcome),
          .op = op,
          .reason = std::move(reason)});
}

void Client::end_wish(std::optional<Wish>& wish, Outcome outcome, std::string reason) {
    const ResizeKind kind = &wish == &request_ ? ResizeKind::expand : ResizeKind::shrink;
    const OpId op = wish->op;
    wish.reset();
    ended(op, kind, outcome, std::move(reason));
}

// Tells of the way from the nodes `before` to what is known now: what left, then what came.
void Client::resized(const std::string& before, OpId shrink, OpId expand) {
    const Names old = names_of(before), now = names_of(known_.node_list);
    const Names lost = minus(old, now), gained = minus(now, old);
    JobView view = known_;
    if (!lost.empty()) {
        const Names kept = minus(old, lost);
        view.nodes = static_cast<int>(kept.size());
        view.node_list = list_of(kept);
        push({.type = ELASTIC_EVENT_RESIZED,
              .kind = ELASTIC_SHRINK,
              .nodes = static_cast<int>(lost.size()),
              .size = view.nodes,
              .op = shrink,
              .node_list = list_of(lost),
              .view = gained.empty() ? known_ : view});
    }
    if (!gained.empty())
        push({.type = ELASTIC_EVENT_RESIZED,
              .kind = ELASTIC_EXPAND,
              .nodes = static_cast<int>(gained.size()),
              .size = known_.nodes,
              .op = expand,
              .node_list = list_of(gained),
              .view = known_});
}

// ---- what the controller says

protocol::Hello Client::hello() {
    protocol::Hello hello;
    hello.role = protocol::Role::application;
    hello.job = job_;
    return hello;
}

void Client::refused(const protocol::Failure& failure) {
    detail_ = failure.message;
    // The caller of elastic_open learns it from the result.
    if (!settling_) push({.type = ELASTIC_EVENT_CLOSED, .reason = failure.message});
}

void Client::welcomed(const Welcome& welcome) {
    const JobView before = std::exchange(known_, view_of(welcome));
    // What has no event of its own is shown at once.
    const JobView shown = std::exchange(shown_, known_);
    if (!settling_) {
        shown_.nodes = shown.nodes;
        shown_.node_list = shown.node_list;
    }
    catch_up(welcome, settling_ ? known_ : before);
    resuming_ = agreement_ && agreement_->op == welcome.agreement ? 0 : welcome.agreement;
    resuming_stage_ = welcome.stage;
    repeat_said();
}

void Client::catch_up(const Welcome& welcome, const JobView& before) {
    const Names old = names_of(before.node_list), now = names_of(known_.node_list);
    const bool shrunk = !std::ranges::includes(now, old);
    const bool grown = !std::ranges::includes(old, now);
    std::array<OpId, 2> causes{};  // by ResizeKind
    for (auto* wish : {&request_, &release_}) {
        const bool effect = wish == &request_ ? grown : shrunk;
        const ResizeKind kind = wish == &request_ ? ResizeKind::expand : ResizeKind::shrink;
        if (const auto cause = catch_up_wish(*wish, welcome, effect))
            causes[static_cast<std::size_t>(kind)] = cause;
    }
    if (agreement_) {
        const ResizeKind kind = agreement_->kind;
        if (const auto cause =
                catch_up_agreement(welcome, kind == ResizeKind::shrink ? shrunk : grown))
            causes[static_cast<std::size_t>(kind)] = cause;
    }
    resized(before.node_list, causes[0], causes[1]);
}

// The operation, if the wish came true while we were away.
OpId Client::catch_up_wish(std::optional<Wish>& wish, const Welcome& welcome, bool effect) {
    if (!wish || !wish->sent) return 0;
    const bool is_request = &wish == &request_;
    if (is_request && welcome.request != 0) return 0;  // it waits; its Queued follows
    const bool unheard_of = welcome.agreement != 0 && welcome.stage != Stage::offered &&
                            !(agreement_ && agreement_->op == welcome.agreement);
    if (wish->op == 0 && unheard_of) wish->op = welcome.agreement;  // made of our wish
    if (wish->op != 0 && wish->op == welcome.agreement && welcome.stage != Stage::applied) return 0;

    const OpId op = wish->op;
    if (effect) {
        wish.reset();
        // elastic_done() must find it.
        if (is_request && op != 0)
            agreement_ = Agreement{
                .op = op, .kind = ResizeKind::expand, .stage = Stage::applied, .told = true};
        return op;
    }
    if (op == 0) {
        wish->sent = false;  // it did not arrive: say it again
    } else {
        end_wish(wish, Outcome::cancelled, kForgotten);
    }
    return 0;
}

// The operation, if the agreement was applied while we were away.
OpId Client::catch_up_agreement(const Welcome& welcome, bool effect) {
    auto& mine = *agreement_;
    const OpId op = mine.op;
    if (op == welcome.agreement) {
        const bool applied = welcome.stage == Stage::applied && mine.stage != Stage::applied;
        mine.stage = welcome.stage;
        if (applied && effect) mine.told = true;
        return applied ? op : 0;
    }
    if (mine.stage == Stage::applied) return 0;  // told long ago
    if (effect && mine.kind == ResizeKind::expand) {
        mine.stage = Stage::applied;  // elastic_done() must find it
        return op;
    }
    if (!effect)
        ended(op, mine.kind, mine.declined ? Outcome::declined : Outcome::cancelled, kForgotten);
    agreement_.reset();
    return effect ? op : 0;
}

// After a reconnection: everything that was said and is not known to have arrived.
void Client::repeat_said() {
    for (auto* wish : {&request_, &release_})
        if (*wish && !(*wish)->sent) send_wish(**wish);
    if (correction_) send_correction();
    if (request_ && request_->cancelled && request_->op != 0)
        link_->send(protocol::Cancel{request_->op});
    if (request_ && request_->content_with > 0 && request_->op != 0)
        link_->send(protocol::Accept{request_->op, request_->content_with});
    if (!agreement_) return;
    const auto& mine = *agreement_;
    if (mine.cancelled) link_->send(protocol::Cancel{mine.op});
    if (mine.declined) link_->send(protocol::Decline{mine.op, mine.reason});
    if (mine.accepted && mine.stage == Stage::offered)
        link_->send(protocol::Accept{mine.op, mine.count});
    if (mine.done && mine.stage != Stage::released) link_->send(protocol::Done{mine.op});
}

void Client::received(const protocol::Message& message) {
    std::visit([this](const auto& one) { on(one); }, message);
}

void Client::on(const protocol::Offer& offer) {
    const bool resumed = std::exchange(resuming_, 0) == offer.op;
    if (agreement_ && agreement_->op == offer.op) return;  // we have it already
    if (agreement_ && agreement_->stage != Stage::applied)
        ended(agreement_->op, agreement_->kind, Outcome::cancelled, "another took its place");
    agreement_ = Agreement{.op = offer.op,
                           .kind = offer.kind,
                           .stage = resumed ? resuming_stage_ : Stage::offered,
                           .nodes = offer.nodes,
                           .size_after = offer.size_after,
                           .node_list = offer.node_list};
    agreement_->accepted = agreement_->stage != Stage::offered;
    agreement_->done = agreement_->stage == Stage::released;
    agreement_->answer_by = monotonic_now() + offer.deadline;
    // One that an earlier process accepted is told by the Accepted or Applied that follows.
    if (agreement_->stage == Stage::offered) tell_offer(offer.deadline, offer.reason);
}

void Client::tell_offer(Duration deadline, const std::string& reason) {
    const auto& mine = *agreement_;
    push({.type = mine.kind == ResizeKind::shrink ? ELASTIC_EVENT_OFFER_SHRINK
                                                  : ELASTIC_EVENT_OFFER_EXPAND,
          .kind = code(mine.kind),
          .nodes = mine.nodes,
          .size = mine.size_after,
          .op = mine.op,
          .deadline = deadline,
          .node_list = mine.node_list,
          .reason = reason});
}

void Client::on(const protocol::Accepted& accepted) {
    // A release is accepted as it is made: there is nothing to do for the application.
    if (release_ && release_->op == accepted.op) return;
    if (request_ && request_->op == accepted.op && !(agreement_ && agreement_->op == accepted.op)) {
        const auto* asked = std::get_if<protocol::Request>(&request_->message);
        agreement_ = Agreement{.op = accepted.op,
                               .kind = ResizeKind::expand,
                               .nodes = asked->nodes,
                               .size_after = known_.nodes + asked->nodes};
    }
    if (!agreement_ || agreement_->op != accepted.op || agreement_->told) return;
    auto& mine = *agreement_;
    mine.accepted = mine.told = true;
    if (mine.stage == Stage::offered) mine.stage = Stage::accepted;
    if (const int count = std::exchange(mine.count, 0); count > 0) {
        mine.size_after -= mine.nodes - count;
        mine.nodes = count;
    }
    push({.type = ELASTIC_EVENT_ACCEPTED,
          .kind = code(mine.kind),
          .nodes = mine.nodes,
          .size = mine.size_after,
          .op = mine.op,
          .deadline = accepted.deadline,
          .node_list = mine.node_list});
}

void Client::on(const protocol::Applied& applied) {
    const bool repeated = agreement_ && agreement_->op == applied.op &&
                          agreement_->stage == Stage::applied && agreement_->told;
    known_.nodes = applied.nodes;
    known_.node_list = applied.node_list;
    if (repeated) return;
    for (auto* wish : {&request_, &release_})
        if (*wish && (*wish)->op == applied.op) wish->reset();
    if (applied.op != 0 && applied.kind == ResizeKind::expand) {
        agreement_ = Agreement{
            .op = applied.op, .kind = ResizeKind::expand, .stage = Stage::applied, .told = true};
    } else if (agreement_ && agreement_->op == applied.op) {
        agreement_.reset();
    }
    push({.type = ELASTIC_EVENT_RESIZED,
          .kind = code(applied.kind),
          .nodes = static_cast<int>(names_of(applied.changed).size()),
          .size = applied.nodes,
          .op = applied.op,
          .node_list = applied.changed,
          .view = known_});
}

void Client::on(const protocol::Ended& gone) {
    for (auto* wish : {&request_, &release_})
        if (*wish && (*wish)->op == gone.op) wish->reset();
    if (agreement_ && agreement_->op == gone.op) agreement_.reset();
    ended(gone.op, gone.kind, gone.outcome, gone.reason);
}

void Client::on(const protocol::Queued& queued) {
    auto* wish = release_ && release_->token == queued.token ? &release_ : &request_;
    if (!*wish && queued.token == 0)
        *wish = Wish{.message = protocol::Request{}, .sent = true};  // an earlier process asked
    if (!*wish || (queued.token != 0 && (*wish)->token != queued.token)) return;
    if ((*wish)->op == queued.op) return;
    (*wish)->op = queued.op;
    push({.type = ELASTIC_EVENT_QUEUED,
          .kind = wish == &request_ ? ELASTIC_EXPAND : ELASTIC_SHRINK,
          .op = queued.op});
    if ((*wish)->cancelled) link_->send(protocol::Cancel{queued.op});
}

void Client::on(const protocol::Planned& planned) {
    const bool answers = correction_ && correction_->message.token == planned.token;
    if (!answers && planned.token != 0) return;
    if (answers) correction_.reset();
    push({.type = answers ? ELASTIC_EVENT_PLANNED : ELASTIC_EVENT_STEP,
          .nodes = planned.next_nodes,
          .size = planned.nodes,
          .deadline = planned.next_in});
}

void Client::on(const protocol::Failure& failure) {
    detail_ = failure.message;
    if (failure.op != 0) return size_refused(failure);
    if (failure.token == 0) return;
    if (correction_ && correction_->message.token == failure.token) {
        correction_.reset();
        push({.type = ELASTIC_EVENT_ENDED, .outcome = ELASTIC_DENIED, .reason = failure.message});
    }
    for (auto* wish : {&request_, &release_})
        if (*wish && (*wish)->token == failure.token)
            end_wish(*wish, Outcome::denied, failure.message);
}

// It is as if nothing had been said.
void Client::size_refused(const protocol::Failure& failure) {
    if (request_ && request_->op == failure.op && request_->content_with > 0) {
        request_->content_with = 0;
        push({.type = ELASTIC_EVENT_QUEUED,
              .kind = ELASTIC_EXPAND,
              .op = failure.op,
              .reason = failure.message});
    } else if (agreement_ && agreement_->op == failure.op && agreement_->accepted &&
               agreement_->stage == Stage::offered) {
        agreement_->accepted = false;
        agreement_->count = 0;
        tell_offer(std::max(0.0, agreement_->answer_by - monotonic_now()), failure.message);
    }
}

}  // namespace elastic::libelastic
