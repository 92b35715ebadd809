// SPDX-License-Identifier: MIT
// The application's side of split-phase resizing (doc/protocol.md, "Agreements").
//
// What the application says is written into the agreement or wish first and sent second.  So it
// makes no difference whether the controller is there: after a reconnection its Welcome says
// what it still has and how far that is, and what it has not heard is said again.  What it has
// no more is over; whether with effect shows in the list of nodes.
//
// Messages are read only when no event is left to give out, and the job's size changes for the
// application as it takes the event about it, so that what it sees is never ahead of what it
// was told.
//
// Always holds: an answer goes out only for the agreement in flight, once; each request and
// release ends with exactly one RESIZED or ENDED event.
#include "libelastic/client.hpp"

#include <poll.h>
#include <sys/epoll.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <cmath>
#include <cstdlib>
#include <random>
#include <set>
#include <system_error>
#include <utility>

#include "common/hostlist.hpp"
#include "common/text.hpp"
#include "protocol/codec.hpp"

namespace elastic::libelastic {

using protocol::Outcome;
using protocol::Stage;
using protocol::Welcome;

namespace {

constexpr Duration kProgressEvery = 5;
constexpr std::size_t kMaxReleaseList = 32 * 1024;  // fits a frame towards the controller
constexpr Duration kFarewell = 1;
constexpr const char* kForgotten = "the controller does not know of it any more";

using Names = std::set<std::string>;

int code(ResizeKind kind) {
    return kind == ResizeKind::shrink ? ELASTIC_SHRINK : ELASTIC_EXPAND;
}
int code(Outcome outcome) {
    return ELASTIC_DECLINED + static_cast<int>(outcome);
}

// A list that cannot be read counts as empty: lists come from the controller or Slurm, and
// what they are compared for is only whether something has changed.
Names names_of(const std::string& list) {
    const auto names = expand_hostlist(list);
    return names ? Names(names->begin(), names->end()) : Names();
}

std::string list_of(const Names& names) {
    return compress_hostlist({names.begin(), names.end()});
}

Names minus(const Names& from, const Names& what) {
    Names rest;
    std::ranges::set_difference(from, what, std::inserter(rest, rest.end()));
    return rest;
}

// By which the controller knows what is said again, also if it has heard of several processes.
std::int64_t random_token() {
    std::random_device random;
    constexpr std::uint64_t kMask = (1ULL << 52) - 1;
    return static_cast<std::int64_t>(((std::uint64_t{random()} << 32 | random()) & kMask) | 1);
}

std::string variable(const char* name) {
    const char* value = std::getenv(name);
    return value ? value : "";
}

JobView view_of(const Welcome& welcome) {
    return {welcome.nodes, welcome.node_list, welcome.batch_host, welcome.min,
            welcome.max,   welcome.malleable, welcome.evolving};
}

}  // namespace

Surroundings read_surroundings() {
    Surroundings around;
    const auto job = parse_integer(variable("SLURM_JOB_ID"));
    if (!job || *job < 1 || *job > UINT32_MAX) return around;
    around.job = static_cast<JobId>(*job);
    around.view.node_list = variable("SLURM_JOB_NODELIST");
    const auto listed = names_of(around.view.node_list).size();
    const auto counted = parse_integer(variable("SLURM_JOB_NUM_NODES")).value_or(1);
    around.view.nodes = listed > 0
                            ? static_cast<int>(listed)
                            : static_cast<int>(std::clamp<std::int64_t>(counted, 1, kMaxNodes));
    return around;
}

Client::Client(JobView view, std::string why)
    : known_(std::move(view)),
      shown_(known_),
      detail_(std::move(why)),
      idle_(epoll_create1(EPOLL_CLOEXEC)) {
    if (!idle_) throw std::system_error(errno, std::generic_category(), "epoll_create1");
}

Client::Client(Surroundings surroundings, protocol::Endpoint endpoint,
               std::unique_ptr<protocol::Seal> seal, LinkTimes times, Locate locate)
    : job_(surroundings.job),
      known_(std::move(surroundings.view)),
      shown_(known_),
      link_(std::make_unique<Link>(std::move(endpoint), std::move(seal),
                                   static_cast<LinkUser&>(*this), times, std::move(locate))) {}

Client::~Client() {
    try {
        if (connected()) link_->finish(kFarewell);
    } catch (...) {
        // Out of memory while saying goodbye: the controller sees a closed connection.
    }
}

void Client::settle(Duration most) {
    if (!link_) return;
    settling_ = true;
    const Time end = monotonic_now() + most;
    while (elastic() && !connected()) {
        const Duration left = end - monotonic_now();
        if (left <= 0) break;
        link_->wait(static_cast<int>(std::ceil(left * 1000)));
    }
    settling_ = false;
    keep_house();
}

int Client::poll(int timeout_ms, Event& event) {
    event = {};
    if (!elastic() && events_.empty()) {
        if (timeout_ms < 0) return ELASTIC_ENOTELASTIC;
        if (timeout_ms > 0) ::poll(nullptr, 0, timeout_ms);
        return 0;
    }
    const Time end = timeout_ms < 0 ? kNever : monotonic_now() + timeout_ms / 1000.0;
    keep_house();
    bool more = events_.empty();
    while (more) {
        const Duration left = std::max(0.0, end - monotonic_now());
        const double left_ms = std::min(std::ceil(left * 1000), static_cast<double>(INT_MAX));
        const bool quiet = link_->wait(end == kNever ? -1 : static_cast<int>(left_ms));
        keep_house();
        more = quiet && left > 0 && events_.empty() && elastic();
    }
    if (events_.empty()) return 0;
    event = std::move(events_.front());
    events_.pop_front();
    if (event.view) shown_ = *event.view;
    keep_house();
    return 1;
}

// What is due without a message, and when fd() has to become readable next.
void Client::keep_house() {
    const Time now = monotonic_now();
    Time next = kNever;
    for (auto* wish : {&request_, &release_}) {
        if (!*wish || (*wish)->sent) continue;
        if ((*wish)->expires <= now) {
            end_wish(*wish, Outcome::expired, "the controller was out of reach");
        } else {
            next = std::min(next, (*wish)->expires);
        }
    }
    if (remaining_ && connected()) {
        if (now >= next_progress_) {
            link_->send(protocol::Progress{*std::exchange(remaining_, std::nullopt)});
            next_progress_ = now + kProgressEvery;
        } else {
            next = std::min(next, next_progress_);
        }
    }
    if (!link_) return;
    link_->flush();
    link_->wake_at(events_.empty() ? next : 0);
}

// ---- what the application says

int Client::fail(int code, std::string detail) {
    detail_ = std::move(detail);
    return code;
}

int Client::answerable(OpId op) {
    if (!elastic()) return ELASTIC_ENOTELASTIC;
    if (op <= 0) return fail(ELASTIC_EINVAL, fmt::format("{} is no operation", op));
    if (!agreement_ || agreement_->op != op)
        return fail(ELASTIC_ESTATE, fmt::format("operation {} is not in flight", op));
    return ELASTIC_OK;
}

int Client::accept(OpId op) {
    if (const int code = answerable(op); code != ELASTIC_OK) return code;
    return say_accept(0);
}

int Client::accept_size(OpId op, int count) {
    const bool is_request = op > 0 && request_ && request_->op == op;
    if (is_request && elastic() && !(agreement_ && agreement_->op == op))
        return lower_request(count);
    if (const int code = answerable(op); code != ELASTIC_OK) return code;
    const auto& mine = *agreement_;
    if (count < 1 || count > mine.nodes)
        return fail(ELASTIC_EINVAL, fmt::format("operation {} is of {} nodes: {} cannot be taken",
                                                op, mine.nodes, count));
    if (mine.kind == ResizeKind::shrink && count < mine.nodes)
        return fail(ELASTIC_EINVAL, "a shrink is accepted as a whole or declined");
    return say_accept(count);
}

// Of the agreement in flight; `count` 0: all its nodes.
int Client::say_accept(int count) {
    auto& mine = *agreement_;
    if (mine.stage != Stage::offered || mine.accepted || mine.declined)
        return fail(ELASTIC_ESTATE, fmt::format("operation {} is already answered", mine.op));
    mine.accepted = true;
    mine.count = count == mine.nodes ? 0 : count;
    link_->send(protocol::Accept{mine.op, mine.count});
    link_->flush();
    return ELASTIC_OK;
}

int Client::lower_request(int count) {
    const auto* asked = std::get_if<protocol::Request>(&request_->message);
    const int most = asked && asked->nodes > 0 ? asked->nodes : kMaxNodes;
    if (count < 1 || count > most)
        return fail(ELASTIC_EINVAL, fmt::format("operation {} is of {} nodes: {} cannot be taken",
                                                request_->op, most, count));
    request_->content_with = count;
    link_->send(protocol::Accept{request_->op, count});
    link_->flush();
    return ELASTIC_OK;
}

int Client::decline(OpId op, std::string_view reason) {
    if (const int code = answerable(op); code != ELASTIC_OK) return code;
    auto& mine = *agreement_;
    if (mine.stage != Stage::offered || mine.accepted || mine.declined)
        return fail(ELASTIC_ESTATE, fmt::format("operation {} is already answered", op));
    mine.declined = true;
    mine.reason = reason;
    link_->send(protocol::Decline{op, mine.reason});
    link_->flush();
    return ELASTIC_OK;
}

int Client::done(OpId op) {
    if (const int code = answerable(op); code != ELASTIC_OK) return code;
    auto& mine = *agreement_;
    const bool ready =
        mine.kind == ResizeKind::shrink ? mine.accepted : mine.stage == Stage::applied;
    if (!ready) return fail(ELASTIC_ESTATE, fmt::format("operation {} is not so far", op));
    if (mine.done) return fail(ELASTIC_ESTATE, fmt::format("operation {} is done already", op));
    mine.done = true;
    link_->send(protocol::Done{op});
    link_->flush();
    return ELASTIC_OK;
}

void Client::send_wish(Wish& wish) {
    if (!connected()) return;
    if (auto* request = std::get_if<protocol::Request>(&wish.message))
        request->timeout = std::max(0.0, wish.expires - monotonic_now());
    link_->send(wish.message);
    wish.sent = true;
}

int Client::request(int nodes, int least, Duration timeout) {
    if (!elastic()) return ELASTIC_ENOTELASTIC;
    if (nodes < 1 || nodes > kMaxNodes || least < 1 || least > nodes)
        return fail(ELASTIC_EINVAL, fmt::format("{} nodes, at least {}", nodes, least));
    if (!(timeout >= 0))
        return fail(ELASTIC_EINVAL, fmt::format("a timeout of {} seconds", timeout));
    if (request_) return fail(ELASTIC_ESTATE, "a request is waiting already");
    timeout = std::min(timeout, protocol::kMaxSeconds);
    request_ = Wish{.message = protocol::Request{++last_token_, nodes, least, timeout},
                    .token = last_token_,
                    .expires = monotonic_now() + timeout};
    send_wish(*request_);
    keep_house();
    return ELASTIC_OK;
}

// "" if there are not so many.
std::string Client::last_nodes(int count) const {
    const auto listed = expand_hostlist(shown_.node_list);
    if (!listed || count < 1) return {};
    const bool known = std::ranges::find(*listed, shown_.batch_host) != listed->end();
    // Slurm starts a batch script on the first.
    const auto names =
        last_hosts(*listed, known || listed->empty() ? shown_.batch_host : listed->front(), count);
    return std::ssize(names) < count ? "" : compress_hostlist(names);
}

// The application has emptied nodes that it was shown, whatever has come or gone since.
int Client::release(int nodes, const char* node_list) {
    if (!elastic()) return ELASTIC_ENOTELASTIC;
    if (release_) return fail(ELASTIC_ESTATE, "a release is under way already");
    const auto names = names_of(node_list ? node_list : last_nodes(nodes));
    const auto mine = names_of(shown_.node_list);
    if (names.empty() || names.size() >= mine.size() || !std::ranges::includes(mine, names))
        return fail(ELASTIC_EINVAL, "not some, but not all, of the job's nodes");
    if (names.contains(shown_.batch_host))
        return fail(ELASTIC_EINVAL, fmt::format("{} has the batch script", shown_.batch_host));
    const auto list = list_of(names);
    if (list.size() > kMaxReleaseList) return fail(ELASTIC_EINVAL, "the list is too long");
    release_ =
        Wish{.message = protocol::Release{++last_token_, static_cast<int>(names.size()), list},
             .token = last_token_};
    send_wish(*release_);
    link_->flush();
    return ELASTIC_OK;
}

int Client::cancel(OpId op) {
    if (!elastic()) return ELASTIC_ENOTELASTIC;
    if (op < 0) return fail(ELASTIC_EINVAL, fmt::format("{} is no operation", op));
    if (request_ && (op == 0 || op == request_->op)) {
        const bool again = std::exchange(request_->cancelled, true);
        if (!request_->sent) {
            end_wish(request_, Outcome::cancelled, "withdrawn before it was sent");
        } else if (request_->op != 0 && !again) {
            link_->send(protocol::Cancel{request_->op});
        }
    } else if (op == 0) {
        return fail(ELASTIC_ESTATE, "no request is waiting");
    } else {
        if (const int code = answerable(op); code != ELASTIC_OK) return code;
        if (agreement_->stage > Stage::accepted || agreement_->cancelled)
            return fail(ELASTIC_ESTATE, fmt::format("operation {} is too far", op));
        agreement_->cancelled = true;
        link_->send(protocol::Cancel{op});
    }
    keep_house();
    return ELASTIC_OK;
}

// In seconds from when it is sent.
void Client::send_correction() {
    if (!connected()) return;
    correction_->message.in = std::max(0.0, correction_->begins - monotonic_now());
    link_->send(correction_->message);
    correction_->sent = true;
}

int Client::step(int nodes, Duration in) {
    if (!elastic()) return ELASTIC_ENOTELASTIC;
    if (nodes < 0 || nodes > kMaxNodes)
        return fail(ELASTIC_EINVAL, fmt::format("a step of {} nodes", nodes));
    if (!(in >= 0)) return fail(ELASTIC_EINVAL, fmt::format("a step in {} seconds", in));
    if (correction_) return fail(ELASTIC_ESTATE, "another step is on its way already");
    correction_ = Correction{.message = {random_token(), nodes, 0},
                             .begins = monotonic_now() + std::min(in, protocol::kMaxSeconds)};
    send_correction();
    keep_house();
    return ELASTIC_OK;
}

int Client::progress(Duration remaining) {
    if (!elastic()) return ELASTIC_ENOTELASTIC;
    if (!(remaining >= 0)) return fail(ELASTIC_EINVAL, fmt::format("{} seconds left", remaining));
    remaining_ = std::min(remaining, protocol::kMaxSeconds);
    keep_house();
    return ELASTIC_OK;
}

std::unique_ptr<Client> open_client(bool wait) {
    auto around = read_surroundings();
    if (around.job == 0) return std::make_unique<Client>(around.view, "not inside a Slurm job");
    auto endpoint = protocol::find_endpoint();
    if (!endpoint) return std::make_unique<Client>(around.view, endpoint.error().message);
    auto seal = protocol::munge_seal(endpoint->munge_socket);
    if (!seal) return std::make_unique<Client>(around.view, seal.error().message);
    const LinkTimes times;
    auto client = std::make_unique<Client>(around, std::move(*endpoint), std::move(*seal), times,
                                           protocol::find_endpoint);
    if (wait) client->settle(times.patience);
    return client;
}

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
